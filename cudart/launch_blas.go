package cudart

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Matrix products through cuBLAS, where it is: loaded at the first product that is large enough to pay for it, with float32
// accumulation and a workspace of its own. What it does not take (layouts with gaps in both directions, integers, a matrix to add)
// stays with Halftone's kernels, and so does everything where there is no cuBLAS.

// blasFrom is the number of multiplications from which a product goes to cuBLAS: below, the launch is what takes the time, and a
// notebook that has no larger ones does without the hundreds of milliseconds of loading it.
const blasFrom = 1 << 21

// blasWorkspace is what NVIDIA recommends for Hopper; earlier devices need less.
const blasWorkspace = 32 << 20

var allowTF32, noBLAS atomic.Bool

// AllowTF32 lets float32 matrix products and cuDNN's convolutions round their inputs to TF32, 10 bits of fraction, on tensor cores; it is
// off, as for products in PyTorch (torch.backends.cuda.matmul.allow_tf32; its cudnn.allow_tf32 is on). It returns what was set before.
func AllowTF32(on bool) (before bool) { return allowTF32.Swap(on) }

// UseBLAS(false) computes all products with Halftone's own kernels; it returns what was set before.
func UseBLAS(on bool) (before bool) { return !noBLAS.Swap(!on) }

// products are a device's handles.
type products struct {
	once sync.Once
	blas blas
	lt   epilogues
	work *block
	err  error // why there is no cuBLAS
}

// blas is cuBLAS, epilogues cublasLt.
type (
	blas interface {
		Gemm(g *driver.Gemm) error
		Path() string
		Version() int
	}
	epilogues interface {
		Matmul(g *driver.Fused, s driver.Stream) error
	}
)

// BLAS returns the cuBLAS that a device's large products go through: its file and version, such as 130200 for 13.2, or why there is none.
func BLAS(name string) (path string, version int, err error) {
	dev, _, err := amp.OpenDevice(name)
	if err != nil {
		return "", 0, err
	}
	d, ok := dev.(*device)
	if !ok {
		return "", 0, ErrNoCUDA
	}
	p := &d.products
	if err := d.do(func() error { p.once.Do(func() { p.load(d) }); return p.err }); err != nil {
		return "", 0, err
	}
	return p.blas.Path(), p.blas.Version(), nil
}

var blasTypes = map[amp.DType]driver.DataType{amp.Float16: driver.Float16, amp.BFloat16: driver.BFloat16, amp.Float32: driver.Float32, amp.Float64: driver.Float64}

// library queues the product that lay has written with cuBLAS; false if it can't.
func (l *launcher) library(dt amp.DType, batches int) bool {
	g := &l.gemmArgs
	kind, ok := blasTypes[dt]
	if !ok || noBLAS.Load() || int64(g.m)*int64(g.n)*int64(g.k)*int64(batches) < blasFrom {
		return false
	}
	c := driver.Gemm{Op: l.c.Op.Name, M: int(g.m), N: int(g.n), K: int(g.k), A: driver.DevicePtr(g.a), B: driver.DevicePtr(g.b), C: driver.DevicePtr(g.out),
		TypeAB: kind, TypeC: kind, LDC: int(g.n), Alpha: g.alpha, TF32: allowTF32.Load(), Batch: batches, StrideC: int64(g.m) * int64(g.n)}
	var oa, ob, sa, sb bool
	c.TransA, c.LDA, oa = stored(g.ra, g.ca, g.m, g.k)
	c.TransB, c.LDB, ob = stored(g.rb, g.cb, g.k, g.n)
	c.StrideA, sa = apart(g.ba[:g.nb], g.bshape[:g.nb])
	c.StrideB, sb = apart(g.bb[:g.nb], g.bshape[:g.nb])
	bias := g.x != 0 && g.rx == 0 && g.cx == 1 && g.beta == 1 && batches == 1
	if !oa || !ob || !sa || !sb || g.x != 0 && !bias {
		return false
	}
	p := &l.d.products
	p.once.Do(func() { p.load(l.d) })
	if p.err != nil || bias && p.lt == nil {
		return false
	}
	var err error
	if bias {
		err = p.lt.Matmul(&driver.Fused{Gemm: c, Epilogue: driver.Bias, Bias: driver.DevicePtr(g.x)}, l.d.stream)
	} else {
		err = p.blas.Gemm(&c)
	}
	if errors.Is(err, driver.ErrUnsupported) { // it has no algorithm for these rows or addresses, and ours takes any
		return false
	}
	l.d.count.launches.Add(1)
	l.err = err
	return true
}

// stored says how a matrix of these distances lies in memory: by rows, or, transposed, by columns; false if by neither.
func stored(row, column int64, rows, columns int32) (trans bool, ld int, ok bool) {
	switch {
	case (column == 1 || columns == 1) && (row >= int64(columns) || rows == 1):
		return false, int(max(row, int64(columns))), true
	case (row == 1 || rows == 1) && (column >= int64(rows) || columns == 1):
		return true, int(max(column, int64(rows))), true
	}
	return false, 0, false
}

// apart returns the one distance between the matrices of a batch; false if there are several.
func apart(strides []int64, shape []int32) (stride int64, ok bool) {
	n := int64(1)
	for d := len(shape) - 1; d >= 0; d-- {
		if shape[d] == 1 {
			continue
		}
		if n == 1 {
			stride = strides[d]
		} else if strides[d] != n*stride {
			return 0, false
		}
		n *= int64(shape[d])
	}
	return stride, true
}
