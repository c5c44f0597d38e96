package cudart

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/internal/turns"
)

// TestKernelSpeed measures kernels on a real device, where HALFTONE_SPEED names a file for the figures, - the standard output: one JSON
// object per line, as internal/kernelpeer.py writes them for PyTorch.
func TestKernelSpeed(t *testing.T) {
	path := os.Getenv("HALFTONE_SPEED")
	if path == "" {
		t.Skip("HALFTONE_SPEED names no file")
	}
	file := os.Stdout
	if path != "-" {
		var err error
		if file, err = os.Create(path); err != nil {
			t.Fatal(err)
		}
		defer file.Close()
	}
	taker := turns.Begin()
	dev, _, err := amp.OpenDevice("cuda:0")
	if err != nil {
		t.Fatal(err)
	}
	b := speed{t: t, d: dev.(*device), out: json.NewEncoder(file), turns: taker}
	if b.d.Emulated() {
		b.small = 64
	}
	for _, part := range []struct {
		name string
		run  func()
	}{{"elementwise", b.elementwise}, {"rows", b.rows}, {"products", b.products}, {"layers", b.layers}} {
		t.Run(part.name, func(t *testing.T) {
			b.t = t
			b.attempt("a part", part.run)
		})
	}
}

type speed struct {
	t     *testing.T
	d     *device
	out   *json.Encoder
	turns *turns.Taker
	small int // on the emulator, which shows that it runs, sizes are at most that
}

// size is n, or less in a rehearsal.
func (b *speed) size(n int) int {
	if b.small > 0 {
		return min(n, b.small)
	}
	return n
}

// attempt has what f panics with, such as a lack of memory, fail the test and not end it.
func (b *speed) attempt(name string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			if b.turns != nil && strings.Contains(fmt.Sprint(r), driver.ErrLost.Error()) {
				fmt.Fprintf(os.Stderr, "%s: %v\n", name, r)
				os.Exit(turns.Lost)
			}
			b.t.Errorf("%s: %v", name, r)
		}
	}()
	f()
}

// measure reports the median over rounds of the time of n calls in a row, divided by n; amount is what one call moves or computes. Rounds
// are taken in turn with PyTorch's where a run has both.
func (b *speed) measure(name, unit string, amount float64, f func(s *amp.Scope)) {
	if b.turns.Behind(name) {
		return
	}
	b.attempt(name, func() { b.timed(name, unit, amount, f) })
}

func (b *speed) timed(name, unit string, amount float64, f func(s *amp.Scope)) {
	rounds, n := turns.Usual, 10
	if b.small > 0 {
		rounds, n = 1, 1
	}
	once := func() float64 {
		s := amp.NewScope(amp.On("cuda:0")).NoGrad()
		defer s.Close()
		f(s) // not counted: the device is busy with it while the host queues the others, so that none waits for the host
		clock := b.d.Start()
		defer clock.Drop()
		for range n {
			f(s)
		}
		clock.Stop()
		if err := b.d.Sync(); err != nil {
			panic(err)
		}
		took := clock.Duration().Seconds()
		if took <= 0 && b.small == 0 {
			panic("the device's clock has told nothing")
		}
		return took / float64(n)
	}
	if b.small == 0 { // these are not counted
		once()
		once()
	}
	times := b.turns.Rounds(name, rounds, once)
	slices.Sort(times)
	took := times[len(times)/2]
	v := amount / took
	if unit == "us" {
		v = took * 1e6
	}
	fmt.Printf("%-36s %10.4g %s\n", name, v, unit)
	if err := b.out.Encode(map[string]any{"name": name, "value": v, "unit": unit}); err != nil {
		b.t.Fatal(err)
	}
}

// run calls a row on tensors that exist: no memory is asked for between the launches.
func (b *speed) run(name string, a amp.Attrs, out *amp.Tensor, in ...*amp.Tensor) {
	op, ok := amp.LookupOp(name)
	if !ok {
		panic("no op " + name)
	}
	before := Fallbacks()[name]
	if err := b.d.Run(&amp.Call{Op: op, Attrs: a, In: in, Out: out}); err != nil {
		panic(err)
	}
	if Fallbacks()[name] != before {
		panic(name + " ran on the host")
	}
}

func full(s *amp.Scope, dt amp.DType, v float64, shape ...int) *amp.Tensor {
	return amp.Full(s, dt, v, shape...)
}

func (b *speed) elementwise() {
	n := b.size(100_000_000)
	s := amp.NewScope(amp.On("cuda:0"))
	defer s.Close()
	f32, f16 := make([]*amp.Tensor, 4), make([]*amp.Tensor, 3)
	for i := range f32 {
		f32[i] = full(s, amp.Float32, 0.25+float64(i)/8, n)
	}
	for i := range f16 {
		f16[i] = full(s, amp.Float16, 0.25+float64(i)/8, n)
	}
	gb := func(bytes int) float64 { return float64(bytes) * float64(n) / 1e9 }
	copied := f32[3].Layout().Buffer
	b.measure("copy on the device, 400 MB", "GB/s", gb(8), func(*amp.Scope) {
		if err := b.d.Copy(copied, 0, f32[0].Layout().Buffer, 0, 4*n); err != nil {
			panic(err)
		}
	})
	two := func(name, op string, bytes int, out, x, y *amp.Tensor) {
		b.measure(name, "GB/s", gb(bytes), func(*amp.Scope) { b.run(op, amp.Attrs{Scalar: 1.5}, out, x, y) })
	}
	one := func(name, op string, bytes int, out, x *amp.Tensor) {
		b.measure(name, "GB/s", gb(bytes), func(*amp.Scope) { b.run(op, amp.Attrs{Scalar: 1.5, DType: out.DType()}, out, x) })
	}
	two("add fp32", "add", 12, f32[3], f32[0], f32[1])
	two("mul fp16", "mul", 6, f16[2], f16[0], f16[1])
	one("relu fp16", "relu", 4, f16[2], f16[0])
	one("gelu fp16", "gelu", 4, f16[2], f16[0])
	one("gelu_tanh fp16", "gelu_tanh", 4, f16[2], f16[0])
	one("exp fp32", "exp", 8, f32[3], f32[0])
	one("tanh fp32", "tanh", 8, f32[3], f32[0])
	one("cast fp32 to fp16", "cast", 6, f16[2], f32[0])
	one("cast fp16 to fp32", "cast", 6, f32[3], f16[0])
	scalar := full(s, amp.Float32, 0)
	b.measure("sum fp32", "GB/s", gb(4), func(*amp.Scope) { b.run("sum", amp.Attrs{Dims: []int{0}}, scalar, f32[0]) })
	draw := func(name string, kind amp.NumberKind) {
		b.measure(name, "GB/s", gb(4), func(*amp.Scope) {
			if err := b.d.Draw(copied, 0, amp.Float32, n, amp.Numbers{What: name, Kind: kind, B: 1}); err != nil {
				panic(err)
			}
		})
	}
	draw("randn fp32", amp.NormalNumbers)
	draw("rand fp32", amp.UniformNumbers)
	found, first, inv := full(s, amp.Float32, 0), full(s, amp.Int64, 0, 64), full(s, amp.Float32, 0.999)
	b.measure("unscale and check fp32", "GB/s", gb(8), func(*amp.Scope) {
		b.run("unscale_", amp.Attrs{}, f32[3], f32[3], found, first, inv)
	})
	u := amp.Update{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: 3}
	b.measure("adam fp32", "GB/s", gb(28), func(*amp.Scope) {
		b.run("adam_", amp.Attrs{Update: &u}, f32[0], f32[0], f32[1], f32[2], f32[3], nil, nil, nil)
	})
	u.Momentum = 0.9
	b.measure("sgd with momentum fp32", "GB/s", gb(20), func(*amp.Scope) {
		b.run("sgd_", amp.Attrs{Update: &u}, f32[0], f32[0], f32[1], f32[2], nil, nil, nil)
	})
}

func (b *speed) rows() {
	n, m := b.size(8192), b.size(4096)
	s := amp.NewScope(amp.On("cuda:0"))
	defer s.Close()
	x := amp.To(s, amp.Randn(s, amp.Float32, 0, 1, n, m), amp.Float16)
	dy := amp.To(s, amp.Randn(s, amp.Float32, 0, 1, n, m), amp.Float16)
	y, y32, dx := full(s, amp.Float16, 0, n, m), full(s, amp.Float32, 0, n, m), full(s, amp.Float16, 0, n*m+2*m)
	w, bias := full(s, amp.Float16, 1, m), full(s, amp.Float16, 0, m)
	last := amp.Attrs{Dims: []int{1}, Scalar: 1e-5}
	b.measure("softmax fp16 8192×4096", "us", 0, func(*amp.Scope) { b.run("softmax", last, y, x) })
	b.measure("softmax fp16 to fp32", "us", 0, func(*amp.Scope) { b.run("softmax", last, y32, x) })
	b.measure("log_softmax fp16 to fp32", "us", 0, func(*amp.Scope) { b.run("log_softmax", last, y32, x) })
	b.measure("layer_norm fp16 8192×4096", "us", 0, func(*amp.Scope) { b.run("layer_norm", last, y, x, w, bias) })
	b.measure("layer_norm backward fp16", "us", 0, func(*amp.Scope) { b.run("layer_norm_backward", last, dx, dy, x, w) })
	target := make([]int64, n)
	for i := range target {
		target[i] = int64(i * 31 % m)
	}
	before := amp.SetDefaultDevice("cuda:0")
	t := amp.From(target)
	amp.SetDefaultDevice(before)
	defer t.Free()
	b.measure("cross_entropy fp16 8192×4096", "us", 0, func(c *amp.Scope) { amp.CrossEntropy(c.Autocast(amp.Float16), x, t) })
	mean := full(s, amp.Float16, 0, m)
	b.measure("sum of columns fp16", "us", 0, func(*amp.Scope) { b.run("sum", amp.Attrs{Dims: []int{0}}, mean, x) })
}

func (b *speed) products() {
	defer noBLAS.Store(false)
	_, _, absent := BLAS("cuda:0")
	library := slices.Contains(by("cuBLAS", absent), "cuBLAS")
	for _, n := range []int{4096, 8192} {
		for _, dt := range []amp.DType{amp.Float16, amp.BFloat16, amp.Float32} {
			if dt == amp.Float32 && n > 4096 {
				continue
			}
			name := fmt.Sprintf("gemm %v %d", dt, n)
			b.attempt(name, func() { b.product(name, dt, n, library && dt != amp.Float32) })
		}
	}
}

// product measures products of n×n by our kernels, and by cuBLAS where that is there.
func (b *speed) product(name string, dt amp.DType, n int, library bool) {
	noBLAS.Store(true) // whatever the one before was ended in
	s := amp.NewScope(amp.On("cuda:0"))
	defer s.Close()
	large, n := n == 8192, b.size(n)
	x := amp.To(s, amp.Rand(s, amp.Float32, -1, 1, n, b.size(1024)), dt)
	a := amp.Contiguous(s, amp.Cat(s, 1, slices.Repeat([]*amp.Tensor{x}, n/b.size(1024))...))
	turned, y := amp.Transpose(s, a, 0, 1), full(s, dt, 0, n, n)
	for _, in := range [][2]*amp.Tensor{{a, a}, {a, turned}, {turned, a}, {turned, turned}} {
		b.same(s, dt, in[0], in[1])
	}
	flops := 2 * float64(n) * float64(n) * float64(n) / 1e12
	measure := func(name string, x, z *amp.Tensor) {
		b.measure(name, "TFLOP/s", flops, func(*amp.Scope) { b.run("mm", amp.Attrs{}, y, x, z) })
	}
	if library {
		noBLAS.Store(false)
		measure("cuBLAS "+name, a, a)
		noBLAS.Store(true)
	}
	measure("own "+name, a, a)
	if dt != amp.Float32 && b.d.props.Capability() == 90 {
		noWarpgroups.Store(true)
		measure("own "+name+" by warps", a, a)
		noWarpgroups.Store(false)
	}
	if !large {
		measure("own "+name+" a·bᵀ", a, turned)
		measure("own "+name+" aᵀ·b", turned, a)
	}
}

// same compares our product with cuBLAS's. One that is wrong has no figure.
func (b *speed) same(s *amp.Scope, dt amp.DType, x, y *amp.Tensor) {
	n := x.Dim(0)
	own, theirs := full(s, dt, 0, n, n), full(s, dt, 1, n, n)
	defer own.Free()
	defer theirs.Free()
	b.run("mm", amp.Attrs{}, own, x, y)
	noBLAS.Store(false)
	b.run("mm", amp.Attrs{}, theirs, x, y)
	noBLAS.Store(true)
	far := amp.Amax(s, amp.Abs(s, amp.Sub(s, amp.To(s, own, amp.Float32), amp.To(s, theirs, amp.Float32)))).Item()
	most := amp.Amax(s, amp.Abs(s, amp.To(s, theirs, amp.Float32))).Item()
	if limit := map[amp.DType]float64{amp.Float16: 0x1p-10, amp.BFloat16: 0x1p-7, amp.Float32: 0x1p-16}[dt]; !(far <= limit*most) {
		panic(fmt.Sprintf("products of %d×%d differ by %g, and are up to %g", n, n, far, most))
	}
}

// by says who computes rows that a library has as well: that library, if it is there, and "", Halftone's kernels. Without it these would be
// held against themselves.
func by(library string, absent error) []string {
	if absent != nil {
		fmt.Printf("no rows of %s: %v\n", library, absent)
		return []string{""}
	}
	return []string{library, ""}
}

func TestBy(t *testing.T) {
	if got := by("a", nil); !slices.Equal(got, []string{"a", ""}) {
		t.Errorf("%q", got)
	}
	if got := by("a", ErrNoCUDA); !slices.Equal(got, []string{""}) {
		t.Errorf("%q of what is not there", got)
	}
}

func (b *speed) layers() {
	s := amp.NewScope(amp.On("cuda:0"))
	defer s.Close()
	noBLAS.Store(true)
	defer noBLAS.Store(false)
	b.convolutions(s)
	b.attention(s)
}

// uniform are halves in (-1, 1), as the peer's: what power products take depends on their bits.
func uniform(s *amp.Scope, shape ...int) *amp.Tensor {
	return amp.To(s, amp.Rand(s, amp.Float32, -1, 1, shape...), amp.Float16)
}

func (b *speed) convolutions(s *amp.Scope) {
	batch, channels, edge := 128, 64, 32
	if b.small > 0 {
		batch, channels, edge = 1, 8, 8
	}
	x, dy, w := uniform(s, batch, channels, edge, edge), uniform(s, batch, channels, edge, edge), uniform(s, channels, channels, 3, 3)
	win := &amp.Window{Kernel: []int{3, 3}, Stride: []int{1, 1}, Padding: []int{1, 1}, Dilation: []int{1, 1}, OutputPadding: []int{0, 0}, Groups: 1}
	y, dx := full(s, amp.Float16, 0, x.Shape()...), full(s, amp.Float16, 0, x.Shape()...)
	flops := 2 * 128.0 * 64 * 64 * 9 * 32 * 32 / 1e12
	dw := full(s, amp.Float16, 0, w.Shape()...)
	defer noDNN.Store(false)
	_, _, absent := CuDNN("cuda:0")
	for _, who := range by("cuDNN ", absent) {
		noDNN.Store(who == "")
		b.measure(who+"conv2d 64→64 3×3, 128×32×32 fp16", "TFLOP/s", flops, func(*amp.Scope) { b.run("conv2d", amp.Attrs{Window: win}, y, x, w, nil) })
		b.measure(who+"its gradient of x", "TFLOP/s", flops, func(*amp.Scope) {
			b.run("conv_transpose2d", amp.Attrs{Window: win, Shape: x.Shape()}, dx, dy, w, nil)
		})
		b.measure(who+"its gradient of weight", "TFLOP/s", flops, func(*amp.Scope) { b.run("conv_weight_grad", amp.Attrs{Window: win, Shape: w.Shape()}, dw, x, dy) })
	}
	stats := full(s, amp.Float32, 0, 2, channels)
	b.measure("batch_norm statistics", "us", 0, func(*amp.Scope) { b.run("batch_norm_stats", amp.Attrs{}, stats, x) })
	gamma := full(s, amp.Float32, 1, channels)
	b.measure("batch_norm", "us", 0, func(*amp.Scope) { b.run("batch_norm", amp.Attrs{Scalar: 1e-5}, y, x, gamma, gamma, stats) })
}

func (b *speed) attention(s *amp.Scope) {
	heads, long := b.size(8*12), b.size(1024)
	of := func() *amp.Tensor { return uniform(s, heads/12, 12, long, 64) }
	q, k, v, dy := of(), of(), of(), of()
	o, all := full(s, amp.Float16, 0, q.Shape()...), full(s, amp.Float16, 0, 3*q.Len())
	at := amp.Attrs{Attention: &amp.Attention{Causal: true, Scale: 0.125}}
	b.measure("attention 8×12×1024×64 causal fp16", "us", 0, func(*amp.Scope) { b.run("scaled_dot_product_attention", at, o, q, k, v, nil) })
	b.measure("attention backward", "us", 0, func(*amp.Scope) { b.run("attention_backward", at, all, dy, q, k, v, nil) })
}
