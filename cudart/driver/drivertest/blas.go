package drivertest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// Encode writes v to the element at b. v must be exact in the type: nothing is rounded.
func Encode(t driver.DataType, v float64, b []byte) {
	p := unsafe.Pointer(&b[0])
	switch bits := math.Float32bits(float32(v)); t {
	case driver.Float64:
		*(*float64)(p) = v
	case driver.Float32:
		*(*float32)(p) = float32(v)
	case driver.BFloat16:
		*(*uint16)(p) = uint16(bits >> 16)
	case driver.Float16:
		if v == 0 {
			*(*uint16)(p) = 0
			return
		}
		*(*uint16)(p) = uint16(bits>>16&0x8000) | uint16((int(bits>>23&0xff)-112)<<10) | uint16(bits>>13&0x3ff)
	}
}

// Decode returns the element at b.
func Decode(t driver.DataType, b []byte) float64 {
	p := unsafe.Pointer(&b[0])
	switch t {
	case driver.Float64:
		return *(*float64)(p)
	case driver.Float32:
		return float64(*(*float32)(p))
	case driver.BFloat16:
		return float64(math.Float32frombits(uint32(*(*uint16)(p)) << 16))
	}
	u := *(*uint16)(p)
	m, e := float64(u&0x3ff), int(u>>10&31)
	v := math.Ldexp(1024+m, e-25)
	switch {
	case e == 0:
		v = math.Ldexp(m, -24)
	case e == 31 && m == 0:
		v = math.Inf(1)
	case e == 31:
		v = math.NaN()
	}
	if u&0x8000 != 0 {
		v = -v
	}
	return v
}

// A matrix is values on the host and on the device.
type matrix struct {
	t      driver.DataType
	values []float64
	ptr    driver.DevicePtr
}

// matrix allocates n values that all types hold: quarters between -2 and 2.
func (s *suite) matrix(t *testing.T, dt driver.DataType, n int, seed uint64) matrix {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	m := matrix{dt, make([]float64, n), s.alloc(t, n*dt.Size())}
	b := make([]byte, n*dt.Size())
	for i := range m.values {
		m.values[i] = float64(r.IntN(17)-8) / 4
		Encode(dt, m.values[i], b[i*dt.Size():])
	}
	check(t, s.d.CopyHtoD(m.ptr, b))
	return m
}

func (s *suite) read(t *testing.T, m matrix) []float64 {
	t.Helper()
	b := make([]byte, len(m.values)*m.t.Size())
	check(t, s.d.CopyDtoH(b, m.ptr))
	v := make([]float64, len(m.values))
	for i := range v {
		v[i] = Decode(m.t, b[i*m.t.Size():])
	}
	return v
}

// unit is the type's rounding.
func unit(t driver.DataType) float64 {
	return map[driver.DataType]float64{driver.Float16: 1.0 / 2048, driver.BFloat16: 1.0 / 256, driver.Float32: 1e-6, driver.Float64: 1e-15}[t]
}

// A product is a Gemm and its operands.
type product struct {
	driver.Gemm
	a, b, c matrix
}

// product makes one with rows that are padded by an element or, for 16-bit types, eight.
func (s *suite) product(t *testing.T, m, n, k, batch int, ab, c driver.DataType, ta, tb bool, beta float64) product {
	pad := 8 / ab.Size() * 2
	dims := func(trans bool, rows, cols int) (int, int) {
		if trans {
			return cols, rows
		}
		return rows, cols
	}
	ar, ac := dims(ta, m, k)
	br, bc := dims(tb, k, n)
	p := product{Gemm: driver.Gemm{Op: "matmul", M: m, N: n, K: k, TransA: ta, TransB: tb, TypeAB: ab, TypeC: c, LDA: ac + pad, LDB: bc + pad, LDC: n + pad,
		Alpha: 0.5, Beta: beta, Batch: batch}}
	p.StrideA, p.StrideB, p.StrideC = int64(ar*p.LDA), int64(br*p.LDB), int64(m*p.LDC)
	batch = max(batch, 1)
	p.a, p.b, p.c = s.matrix(t, ab, batch*ar*p.LDA, 1), s.matrix(t, ab, batch*br*p.LDB, 2), s.matrix(t, c, batch*m*p.LDC, 3)
	if batch > 2 { // one matrix for all
		p.StrideB = 0
	}
	p.A, p.B, p.C = p.a.ptr, p.b.ptr, p.c.ptr
	return p
}

// want returns what C's values become, after the epilogue of a value in column j.
func (p *product) want(epilogue func(v float64, j int) float64) []float64 {
	out := append([]float64(nil), p.c.values...)
	at := func(m matrix, trans bool, ld int, stride int64, l, i, j int) float64 {
		if trans {
			i, j = j, i
		}
		return m.values[int(stride)*l+i*ld+j]
	}
	for l := range max(p.Batch, 1) {
		for i := range p.M {
			for j := range p.N {
				sum := 0.0
				for k := range p.K {
					sum += at(p.a, p.TransA, p.LDA, p.StrideA, l, i, k) * at(p.b, p.TransB, p.LDB, p.StrideB, l, k, j)
				}
				o := int(p.StrideC)*l + i*p.LDC + j
				out[o] = epilogue(p.Alpha*sum+p.Beta*out[o], j)
			}
		}
	}
	return out
}

func same(t *testing.T, what string, dt driver.DataType, got, want []float64, slack float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(got[i] - want[i]); !(d <= slack+unit(dt)*math.Abs(want[i])) {
			t.Errorf("%s: element %d is %g, want %g", what, i, got[i], want[i])
			return
		}
	}
}

func largest(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = math.Max(m, math.Abs(x))
	}
	return m
}

func bare(v float64, _ int) float64 { return v }

// RunBLAS checks matrix products against sums in float64. What is in padding must stay as it was.
func RunBLAS(t *testing.T, d driver.Driver, path string) {
	s, st := begin(t, d)
	b, err := driver.NewBLAS(d, path)
	check(t, err)
	const workspace = 4 << 20
	check(t, b.SetStream(st, s.alloc(t, workspace), workspace), b.SetReducedReduction(false))
	t.Logf("%s, version %d", b.Path(), b.Version())
	types := []struct{ ab, c driver.DataType }{{driver.Float32, driver.Float32}, {driver.Float64, driver.Float64}, {driver.Float16, driver.Float16},
		{driver.BFloat16, driver.BFloat16}, {driver.Float16, driver.Float32}, {driver.BFloat16, driver.Float32}}
	for _, ty := range types {
		for trans := range 4 {
			for _, batch := range []int{0, 2, 3} {
				for _, dims := range [][3]int{{1, 1, 1}, {5, 3, 7}, {32, 40, 24}, {1, 65, 130}} {
					p := s.product(t, dims[0], dims[1], dims[2], batch, ty.ab, ty.c, trans&1 != 0, trans&2 != 0, float64(batch)/4)
					what := fmt.Sprintf("types %v, dimensions %v, transposed %02b, batch %d", ty, dims, trans, batch)
					if err := b.Gemm(&p.Gemm); err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					check(t, s.d.SyncStream(st))
					same(t, what, ty.c, s.read(t, p.c), p.want(bare), 1e-5)
				}
			}
		}
	}
	var e *driver.Error
	p := s.product(t, 4, 4, 4, 0, driver.Float32, driver.Float32, false, false, 0)
	p.LDC = 1
	if err := b.Gemm(&p.Gemm); !errors.As(err, &e) || e.Op != "matmul" || e.Name != "CUBLAS_STATUS_INVALID_VALUE" {
		t.Errorf("rows that overlap: %v", err)
	}
	p.M = 0
	if err := b.Gemm(&p.Gemm); err == nil {
		t.Error("a product without rows was computed")
	}
	// A product can be captured, since it has its workspace.
	p = s.product(t, 64, 64, 64, 0, driver.Float16, driver.Float16, false, false, 0)
	if err := d.BeginCapture(st); err == nil {
		check(t, b.Gemm(&p.Gemm))
		g, err := d.EndCapture(st)
		check(t, err)
		x, err := d.Instantiate(g)
		check(t, err, d.LaunchGraph(x, st), d.SyncStream(st), d.DestroyGraphExec(x), d.DestroyGraph(g))
		same(t, "captured", driver.Float16, s.read(t, p.c), p.want(bare), 1e-5)
	} else if !errors.Is(err, driver.ErrUnsupported) {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() { err = b.Gemm(&p.Gemm) }); n >= 0.5 || err != nil {
		t.Errorf("a product takes %g allocations, %v", n, err)
	}
	check(t, d.SyncStream(st), b.Close())
}

// begin prepares a test that is not part of Run.
func begin(t *testing.T, d driver.Driver) (*suite, driver.Stream) {
	t.Helper()
	s := &suite{d: d}
	var err error
	s.dev, err = d.Device(0)
	check(t, err)
	s.ctx, err = d.RetainContext(s.dev)
	check(t, err)
	s.bind(t)
	return s, s.stream(t)
}

// RunBLASLt checks matrix products with their epilogues.
func RunBLASLt(t *testing.T, d driver.Driver, path string) {
	s, st := begin(t, d)
	const workspace = 4 << 20
	b, err := driver.NewBLASLt(d, path, s.alloc(t, workspace), workspace)
	check(t, err)
	t.Logf("%s, version %d", b.Path(), b.Version())
	gelu := func(v float64) float64 { return 0.5 * v * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v))) }
	relu := func(v float64) float64 { return math.Max(v, 0) }
	for _, dt := range []driver.DataType{driver.Float16, driver.BFloat16, driver.Float32} {
		const m, n, k = 24, 32, 40
		bias, aux := s.matrix(t, dt, n, 5), s.matrix(t, dt, m*n, 6)
		for _, c := range []struct {
			e driver.Epilogue
			f func(v float64, j int) float64
		}{
			{driver.NoEpilogue, bare},
			{driver.Bias, func(v float64, j int) float64 { return v + bias.values[j] }},
			{driver.ReLU, func(v float64, _ int) float64 { return relu(v) }},
			{driver.ReLUBias, func(v float64, j int) float64 { return relu(v + bias.values[j]) }},
			{driver.GELU, func(v float64, _ int) float64 { return gelu(v) }},
			{driver.GELUBias, func(v float64, j int) float64 { return gelu(v + bias.values[j]) }},
			{driver.GELUAuxBias, func(v float64, j int) float64 { return gelu(v + bias.values[j]) }},
		} {
			for trans := range 4 {
				p := s.product(t, m, n, k, 0, dt, dt, trans&1 != 0, trans&2 != 0, float64(trans%2))
				what := fmt.Sprintf("type %d, epilogue %d, transposed %02b", dt, c.e, trans)
				f := driver.Fused{Gemm: p.Gemm, Epilogue: c.e, Bias: bias.ptr, Aux: aux.ptr, LDAux: n}
				err := b.Matmul(&f, st)
				if errors.Is(err, driver.ErrUnsupported) && dt == driver.Float32 && c.e > driver.ReLUBias {
					t.Logf("%s: %v", what, err)
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", what, err)
					continue
				}
				check(t, d.SyncStream(st))
				// The library's tanh is an approximation, and what is added to C may have been rounded before.
				slack := 2e-3 + p.Beta*unit(dt)*largest(p.want(bare))
				same(t, what, dt, s.read(t, p.c), p.want(c.f), slack)
				if c.e == driver.GELUAuxBias {
					before := p.want(func(v float64, j int) float64 { return v + bias.values[j] })
					got := s.read(t, aux)
					for i := range got {
						if w := before[i/n*p.LDC+i%n]; math.Abs(got[i]-w) > unit(dt)*math.Abs(w)+1e-3 {
							t.Errorf("%s: aux element %d is %g, want %g", what, i, got[i], w)
							break
						}
					}
				}
			}
		}
	}
	f := driver.Fused{Gemm: driver.Gemm{Op: "linear", M: 8, N: 8, K: 8}, Epilogue: driver.Bias}
	if err := b.Matmul(&f, st); err == nil {
		t.Error("an epilogue without its bias")
	}
	check(t, b.Close())
}

// RunNVRTC compiles a kernel, loads and launches it.
func RunNVRTC(t *testing.T, d driver.Driver, path string) {
	s, st := begin(t, d)
	n, err := driver.OpenNVRTC(path)
	check(t, err)
	props, err := d.Properties(s.dev)
	check(t, err)
	t.Logf("%s, version %s, for %v", n.Path(), n.Version(), n.Archs())
	c := &driver.Cache{Dir: t.TempDir()}
	src := driver.Source{Name: "cell.cu", Arch: props.Capability(), Options: []string{"-DFACTOR=3"}, Headers: map[string]string{"scale.h": "typedef unsigned u32;\n"},
		Text: "#include \"scale.h\"\nextern \"C\" __global__ void scale(u32* p, u32 n) {\n  u32 i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) p[i] *= FACTOR;\n}\n"}
	for round := range 2 {
		code, err := n.Compile(src, c)
		check(t, err)
		if code.Cached != (round == 1) || code.CacheError != nil {
			t.Errorf("round %d: cached %v, %v", round, code.Cached, code.CacheError)
		}
		m, _, err := d.LoadModule(code.Image, driver.JIT{})
		check(t, err)
		f, err := d.Function(m, "scale")
		check(t, err)
		p := s.alloc(t, 4*100)
		a := driver.GetArgs("scale").Ptr(p).Int32(99)
		check(t, d.Memset32(p, 7, 100, st), d.Launch(f, [3]uint32{4, 1, 1}, [3]uint32{32, 1, 1}, 0, st, a), d.SyncStream(st))
		a.Put()
		if first, last := s.word(t, p), s.word(t, p+4*99); first != 21 || last != 7 {
			t.Errorf("round %d: %d and %d", round, first, last)
		}
		check(t, d.UnloadModule(m))
	}
	src.Text += "int oops\n"
	var ce *driver.CompileError
	if _, err := n.Compile(src, c); !errors.As(err, &ce) || len(ce.Diagnostics) == 0 || ce.Diagnostics[0].File != "cell.cu" || ce.Diagnostics[0].Line < 6 {
		t.Errorf("a faulty source: %v", err)
	}
}
