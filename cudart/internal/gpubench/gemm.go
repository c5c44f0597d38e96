package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/driver/drivertest"
)

func sprint(v any) string { return fmt.Sprint(v) }

// A matrix is n×n values in (-1, 1), multiples of 1/64 that repeat every block elements, and its copy on the device.
type matrix struct {
	values []float64
	ptr    driver.DevicePtr
}

const block = 1 << 20

func (b *bench) matrix(t driver.DataType, n int, seed uint64) matrix {
	r := rand.New(rand.NewPCG(seed, 2))
	m := matrix{values: make([]float64, block)}
	raw := make([]byte, block*t.Size())
	for i := range m.values {
		m.values[i] = float64(r.IntN(127)-63) / 64
		drivertest.Encode(t, m.values[i], raw[i*t.Size():])
	}
	m.ptr = get(b.d.Alloc(uint64(n * n * t.Size())))
	for at := 0; at < n*n; at += block {
		must(b.d.CopyHtoD(m.ptr+driver.DevicePtr(at*t.Size()), raw[:min(block, n*n-at)*t.Size()]))
	}
	return m
}

// products measures cuBLAS at two sizes and checks some of each result in float64.
func products(b *bench) {
	began := time.Now()
	blas, err := driver.NewBLAS(b.d, b.library())
	must(err)
	b.report("load cuBLAS", ms(began), "ms", fmt.Sprintf("version %d, %s", blas.Version(), blas.Path()))
	const workspace = 32 << 20
	ws := get(b.d.Alloc(workspace))
	must(blas.SetStream(b.st, ws, workspace))
	var wrong []error
	for _, n := range []int{4096, 8192} {
		for _, k := range kinds {
			wrong = append(wrong, attempt(func() { b.product(blas, n, k) })) // the others are still of use
		}
	}
	small := b.matrix(driver.Float16, 1024, 1)
	g := driver.Gemm{Op: "matmul", M: 64, N: 64, K: 64, A: small.ptr, B: small.ptr, C: small.ptr + 1<<20, TypeAB: driver.Float16, TypeC: driver.Float16, LDA: 64, LDB: 64, LDC: 64, Alpha: 1}
	b.report("queue a product", b.host(300, func() { must(blas.Gemm(&g)) }), "ns", "64×64×64, on the host")
	must(b.d.Free(small.ptr))
	must(blas.Close())
	must(b.d.Free(ws))
	must(errors.Join(wrong...))
}

// A kind is what a product multiplies.
type kind struct {
	name string
	t    driver.DataType
	tf32 bool
}

var kinds = []kind{{"fp16", driver.Float16, false}, {"bf16", driver.BFloat16, false}, {"fp32", driver.Float32, false}, {"tf32", driver.Float32, true}}

// product measures one, named by the size that it has on a GPU, as PyTorch's is. One that is wrong has no figure.
func (b *bench) product(blas *driver.BLAS, named int, k kind) {
	n, what := size(named, 64), fmt.Sprintf("%s gemm %d", k.name, named)
	if b.turns.Behind(what) {
		return
	}
	x, y, z := b.matrix(k.t, n, 1), b.matrix(k.t, n, 2), b.matrix(k.t, n, 3)
	defer func() {
		for _, m := range []matrix{x, y, z} {
			_ = b.d.Free(m.ptr)
		}
	}()
	g := driver.Gemm{Op: "matmul", M: n, N: n, K: n, A: x.ptr, B: y.ptr, C: z.ptr, TypeAB: k.t, TypeC: k.t, LDA: n, LDB: n, LDC: n, Alpha: 1, TF32: k.tf32}
	s := b.device(what, func() { must(blas.Gemm(&g)) })
	worst := b.compare(k.t, n, x, y, z.ptr)
	b.report(what, 2*math.Pow(float64(n), 3)/s/1e12, "TFLOP/s", fmt.Sprintf("largest error in 64 elements %.2g", worst))
}

// compare returns the largest error of 64 elements, relative to the sum of the products' magnitudes. More than the type's rounding is a failure.
func (b *bench) compare(t driver.DataType, n int, x, y matrix, z driver.DevicePtr) float64 {
	r := rand.New(rand.NewPCG(9, 9))
	raw := make([]byte, t.Size())
	worst := 0.0
	for range 64 {
		i, j := r.IntN(n), r.IntN(n)
		want, magnitude := 0.0, 0.0
		for k := range n {
			p := x.values[(i*n+k)%block] * y.values[(k*n+j)%block]
			want += p
			magnitude += math.Abs(p)
		}
		must(b.d.CopyDtoH(raw, z+driver.DevicePtr((i*n+j)*t.Size())))
		got := drivertest.Decode(t, raw)
		rounding := map[driver.DataType]float64{driver.Float16: 1.0 / 2048, driver.BFloat16: 1.0 / 256}[t] * math.Abs(want)
		e := math.Max(0, math.Abs(got-want)-rounding) / magnitude
		if worst = math.Max(worst, e); math.IsNaN(got) || e > 1e-4 {
			panic(fmt.Sprintf("element %d,%d of %d×%d is %g, want %g", i, j, n, n, got, want))
		}
	}
	return worst
}

// fused measures the epilogue of bias and GELU against the bare product.
func fused(b *bench) {
	const workspace = 32 << 20
	ws := get(b.d.Alloc(workspace))
	lt, err := driver.NewBLASLt(b.d, b.library(), ws, workspace)
	must(err)
	n := size(4096, 64)
	x, y, z, bias := b.matrix(driver.Float16, n, 1), b.matrix(driver.Float16, n, 2), b.matrix(driver.Float16, n, 3), b.matrix(driver.Float16, 1024, 4)
	for _, c := range []struct {
		name string
		e    driver.Epilogue
	}{{"none", driver.NoEpilogue}, {"bias", driver.Bias}, {"bias and gelu", driver.GELUBias}} {
		f := driver.Fused{Gemm: driver.Gemm{Op: "linear", M: n, N: n, K: n, A: x.ptr, B: y.ptr, C: z.ptr, TypeAB: driver.Float16, TypeC: driver.Float16, LDA: n, LDB: n, LDC: n, Alpha: 1},
			Epilogue: c.e, Bias: bias.ptr}
		what := "fp16 cublasLt 4096, epilogue " + c.name
		if b.turns.Behind(what) {
			continue
		}
		s := b.device(what, func() { must(lt.Matmul(&f, b.st)) })
		b.report(what, 2*math.Pow(float64(n), 3)/s/1e12, "TFLOP/s", "")
		if c.e == driver.NoEpilogue {
			b.compare(driver.Float16, n, x, y, z.ptr)
			b.report("queue a product through cublasLt", b.host(100, func() { must(lt.Matmul(&f, b.st)) }), "ns", "")
		}
	}
	must(lt.Close())
}
