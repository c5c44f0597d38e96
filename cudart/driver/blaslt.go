//go:build linux && (amd64 || arm64)

package driver

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
)

type ltAPI struct {
	create        symbol `c:"cublasLtCreate"`
	destroy       symbol `c:"cublasLtDestroy"`
	version       symbol `c:"cublasLtGetVersion"`
	descCreate    symbol `c:"cublasLtMatmulDescCreate"`
	descDestroy   symbol `c:"cublasLtMatmulDescDestroy"`
	descSet       symbol `c:"cublasLtMatmulDescSetAttribute"`
	layoutCreate  symbol `c:"cublasLtMatrixLayoutCreate"`
	layoutDestroy symbol `c:"cublasLtMatrixLayoutDestroy"`
	layoutSet     symbol `c:"cublasLtMatrixLayoutSetAttribute"`
	prefCreate    symbol `c:"cublasLtMatmulPreferenceCreate"`
	prefDestroy   symbol `c:"cublasLtMatmulPreferenceDestroy"`
	prefSet       symbol `c:"cublasLtMatmulPreferenceSetAttribute"`
	heuristic     symbol `c:"cublasLtMatmulAlgoGetHeuristic"`
	matmul        symbol `c:"cublasLtMatmul"`
}

// A BLASLt multiplies matrices with an epilogue. Its methods need the context bound that it was made in, and are safe for
// concurrent use.
type BLASLt struct {
	path   string
	f      ltAPI
	handle uintptr
	d      *cuda

	mu        sync.Mutex
	workspace DevicePtr
	bytes     uint64
	plans     map[ltKey]*ltPlan
}

// NewBLASLt loads cuBLASLt, the file path or the first that Discover finds for this driver, and makes a handle. Products may use n
// bytes at workspace, a multiple of 256; on one stream at a time then.
func NewBLASLt(d Driver, path string, workspace DevicePtr, n uint64) (*BLASLt, error) {
	c, err := own(d)
	if err != nil {
		return nil, err
	}
	defer c.uncaptured()()
	b := &BLASLt{d: c, workspace: workspace, bytes: n, plans: map[ltKey]*ltPlan{}}
	h, err := c.companion("libcublasLt", path, &b.path)
	if err != nil {
		return nil, err
	}
	if missing := resolve(h, &b.f); missing != nil {
		return nil, lacks(b.path, missing)
	}
	o := newFrame()
	defer o.put()
	if err := b.call(&b.f.create, "", o.o(0)); err != nil {
		return nil, err
	}
	b.handle = uintptr(o.out[0])
	return b, nil
}

// Path returns the library's file.
func (b *BLASLt) Path() string { return b.path }

// Version returns 10000·major + 100·minor + patch.
func (b *BLASLt) Version() int {
	return int(uint32(b.f.version.invoke()))
}

// ltKey is what a plan depends on: everything but addresses, numbers and the op.
type ltKey struct {
	m, n, k, lda, ldb, ldc, ldaux, batch int
	strideA, strideB, strideC            int64
	ta, tb, tf32, inPlace                bool
	ab, c                                DataType
	epilogue                             Epilogue
	align                                uint8 // log2 of what all addresses are multiples of, up to 8
}

// An ltPlan holds a product's descriptors and the algorithm that the library's heuristics chose.
type ltPlan struct {
	desc, a, b, c uintptr
	algo          []byte // a cublasLtMatmulHeuristicResult_t, the algorithm first
}

// Attributes of cublasLtMatmulDesc, cublasLtMatrixLayout and cublasLtMatmulPreference.
const (
	ltTransA, ltTransB, ltEpilogue, ltBias, ltAux, ltAuxLD = 3, 4, 7, 8, 11, 12
	ltBatch, ltStride                                      = 5, 6
	ltMaxWorkspace, ltReductions                           = 1, 3
	ltAlignA                                               = 5 // B, C and D follow
)

// Matmul queues a product with an epilogue on s.
func (b *BLASLt) Matmul(g *Fused, s Stream) error {
	if err := g.check(); err != nil {
		return err
	}
	if g.Epilogue == 0 {
		g.Epilogue = NoEpilogue
	}
	if g.Epilogue&Bias != 0 && g.Bias == 0 || g.Epilogue&128 != 0 && (g.Aux == 0 || g.LDAux%8 != 0 || g.LDAux < g.N) {
		return fmt.Errorf("driver: %s: the epilogue needs a bias, or an Aux whose rows are a multiple of 8 elements apart (%d)", g.Op, g.LDAux)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.plan(g)
	if err != nil {
		return err
	}
	o := newFrame()
	defer o.put()
	o.out[0], o.out[1], o.out[2], o.out[3] = g.scale(g.Alpha), g.scale(g.Beta), uint64(g.Bias), uint64(g.Aux)
	if g.Epilogue&Bias != 0 {
		if err := b.call(&b.f.descSet, g.Op, p.desc, ltBias, o.o(2), 8); err != nil {
			return err
		}
	}
	if g.Epilogue&128 != 0 {
		if err := b.call(&b.f.descSet, g.Op, p.desc, ltAux, o.o(3), 8); err != nil {
			return err
		}
	}
	b.d.launches.Add(g.Op, 0)
	// Column-major: B is the left operand, as in BLAS.Gemm.
	err = b.call(&b.f.matmul, g.Op, b.handle, p.desc, o.o(0), uintptr(g.B), p.a, uintptr(g.A), p.b, o.o(1), uintptr(g.C), p.c, uintptr(g.C), p.c,
		address(p.algo), uintptr(b.workspace), uintptr(b.bytes), uintptr(s))
	runtime.KeepAlive(p)
	return err
}

// plan returns the descriptors of a product, from the last time there was one of its shape.
func (b *BLASLt) plan(g *Fused) (*ltPlan, error) {
	k := ltKey{g.M, g.N, g.K, g.LDA, g.LDB, g.LDC, g.LDAux, g.Batch, g.StrideA, g.StrideB, g.StrideC, g.TransA, g.TransB, g.TF32, g.Beta != 0,
		g.TypeAB, g.TypeC, g.Epilogue, alignment(g.A | g.B | g.C | g.Bias | g.Aux)}
	if p := b.plans[k]; p != nil {
		return p, nil
	}
	p := &ltPlan{}
	err := b.describe(p, g)
	if err == nil {
		err = b.choose(p, k.align, g.Op)
	}
	if err != nil {
		b.drop(p)
		return nil, err
	}
	b.plans[k] = p
	return p, nil
}

func alignment(p DevicePtr) uint8 {
	n := uint8(0)
	for n < 8 && p&1 == 0 {
		p >>= 1
		n++
	}
	return n
}

func (b *BLASLt) describe(p *ltPlan, g *Fused) error {
	o := newFrame()
	defer o.put()
	scaleType := Float32
	if g.TypeAB == Float64 {
		scaleType = Float64
	}
	if err := b.call(&b.f.descCreate, g.Op, o.o(0), g.compute(), uintptr(scaleType)); err != nil {
		return err
	}
	p.desc = uintptr(o.out[0])
	set := func(attribute uintptr, v, bytes int) error {
		o.out[1] = uint64(v)
		return b.call(&b.f.descSet, g.Op, p.desc, attribute, o.o(1), uintptr(bytes))
	}
	if err := set(ltTransA, flag(g.TransB), 4); err != nil {
		return err
	}
	if err := set(ltTransB, flag(g.TransA), 4); err != nil {
		return err
	}
	if err := set(ltEpilogue, int(g.Epilogue), 4); err != nil {
		return err
	}
	if g.Epilogue&128 != 0 {
		if err := set(ltAuxLD, g.LDAux, 8); err != nil {
			return err
		}
	}
	swap := func(trans bool, rows, cols int) (int, int) {
		if trans {
			return cols, rows
		}
		return rows, cols
	}
	rows, cols := swap(g.TransB, g.N, g.K)
	if err := b.layout(&p.a, g, g.TypeAB, rows, cols, g.LDB, g.StrideB); err != nil {
		return err
	}
	rows, cols = swap(g.TransA, g.K, g.M)
	if err := b.layout(&p.b, g, g.TypeAB, rows, cols, g.LDA, g.StrideA); err != nil {
		return err
	}
	return b.layout(&p.c, g, g.TypeC, g.N, g.M, g.LDC, g.StrideC)
}

func (b *BLASLt) layout(l *uintptr, g *Fused, t DataType, rows, cols, ld int, stride int64) error {
	o := newFrame()
	defer o.put()
	if err := b.call(&b.f.layoutCreate, g.Op, o.o(0), uintptr(t), uintptr(rows), uintptr(cols), uintptr(ld)); err != nil {
		return err
	}
	*l = uintptr(o.out[0])
	if g.Batch <= 1 {
		return nil
	}
	o.out[1], o.out[2] = uint64(g.Batch), uint64(stride)
	if err := b.call(&b.f.layoutSet, g.Op, *l, ltBatch, o.o(1), 4); err != nil {
		return err
	}
	return b.call(&b.f.layoutSet, g.Op, *l, ltStride, o.o(2), 8)
}

// choose asks the library's heuristics for the best algorithm within the workspace.
func (b *BLASLt) choose(p *ltPlan, align uint8, op string) error {
	o := newFrame()
	defer o.put()
	if err := b.call(&b.f.prefCreate, op, o.o(0)); err != nil {
		return err
	}
	pref := uintptr(o.out[0])
	defer func() { b.f.prefDestroy.invoke(pref) }()
	o.out[1] = b.bytes
	if err := b.call(&b.f.prefSet, op, pref, ltMaxWorkspace, o.o(1), 8); err != nil {
		return err
	}
	// Where K is split, sums are added in float32: the other schemes would round each to the result's type.
	const reduceInComputeType = 2
	o.out[4] = reduceInComputeType
	if err := b.call(&b.f.prefSet, op, pref, ltReductions, o.o(4), 4); err != nil {
		return err
	}
	o.out[2] = 1 << align
	for i := range uintptr(4) {
		if err := b.call(&b.f.prefSet, op, pref, ltAlignA+i, o.o(2), 4); err != nil {
			return err
		}
	}
	const resultBytes, stateAt = 96, 72
	p.algo = make([]byte, resultBytes)
	if err := b.call(&b.f.heuristic, op, b.handle, p.desc, p.a, p.b, p.c, p.c, pref, 1, address(p.algo), o.o(3)); err != nil {
		return err
	}
	if state := int32(binary.NativeEndian.Uint32(p.algo[stateAt:])); o.out[3] == 0 || state != 0 {
		return &Error{Code: 15, Name: "CUBLAS_STATUS_NOT_SUPPORTED", Call: b.f.heuristic.name, Op: op, Kind: ErrUnsupported,
			Text: "cuBLASLt has no algorithm for this product and epilogue; multiply without the epilogue, or align rows to 16 bytes"}
	}
	return nil
}

func (b *BLASLt) drop(p *ltPlan) {
	for _, l := range []uintptr{p.a, p.b, p.c} {
		if l != 0 {
			b.f.layoutDestroy.invoke(l)
		}
	}
	if p.desc != 0 {
		b.f.descDestroy.invoke(p.desc)
	}
}

// Close destroys the handle and its plans.
func (b *BLASLt) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k, p := range b.plans {
		b.drop(p)
		delete(b.plans, k)
	}
	return b.call(&b.f.destroy, "", b.handle)
}

func (b *BLASLt) call(s *symbol, op string, args ...uintptr) error {
	if r := s.invoke(args...); r != 0 {
		return blasError(b.d, s.name, r, op)
	}
	return nil
}
