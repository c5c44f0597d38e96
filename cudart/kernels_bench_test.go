package cudart

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
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
			b.t.Errorf("%s: %v", name, r)
		}
	}()
	f()
}

// measure reports the median over rounds of the time of n calls in a row, divided by n; amount is what one call moves or computes. Rounds
// are taken in turn with PyTorch's where a run has both.
func (b *speed) measure(name, unit string, amount float64, f func(s *amp.Scope)) {
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
		f(s)
		if err := b.d.Sync(); err != nil {
			panic(err)
		}
		clock := b.d.Start() // the device's, as the peer's: what the host needs to begin and to wait is not the kernel's
		defer clock.Drop()
		for range n {
			f(s)
		}
		clock.Stop()
		if err := b.d.Sync(); err != nil {
			panic(err)
		}
		return clock.Duration().Seconds() / float64(n)
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
	b.measure("copy on the device", "GB/s", gb(8), func(*amp.Scope) {
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
	y, y32, dx := full(s, amp.Float16, 0, n, m), full(s, amp.Float32, 0, n, m), full(s, amp.Float16, 0, n*m+2*m)
	w, bias := full(s, amp.Float16, 1, m), full(s, amp.Float16, 0, m)
	last := amp.Attrs{Dims: []int{1}, Scalar: 1e-5}
	b.measure("softmax fp16 8192×4096", "us", 0, func(*amp.Scope) { b.run("softmax", last, y, x) })
	b.measure("softmax fp16 to fp32", "us", 0, func(*amp.Scope) { b.run("softmax", last, y32, x) })
	b.measure("log_softmax fp16 to fp32", "us", 0, func(*amp.Scope) { b.run("log_softmax", last, y32, x) })
	b.measure("layer_norm fp16 8192×4096", "us", 0, func(*amp.Scope) { b.run("layer_norm", last, y, x, w, bias) })
	b.measure("layer_norm backward fp16", "us", 0, func(*amp.Scope) { b.run("layer_norm_backward", last, dx, y, x, w) })
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
	s := amp.NewScope(amp.On("cuda:0"))
	defer s.Close()
	noBLAS.Store(true)
	defer noBLAS.Store(false)
	for _, n := range []int{4096, 8192} {
		for _, dt := range []amp.DType{amp.Float16, amp.BFloat16, amp.Float32} {
			if dt == amp.Float32 && n > 4096 {
				continue
			}
			name := fmt.Sprintf("own gemm %v %d", dt, n)
			large, n := n == 8192, b.size(n)
			x := amp.To(s, amp.Rand(s, amp.Float32, -1, 1, n, b.size(1024)), dt)
			a := amp.Contiguous(s, amp.Cat(s, 1, slices.Repeat([]*amp.Tensor{x}, n/b.size(1024))...))
			y := full(s, dt, 0, n, n)
			b.same(s, dt, a, a)
			b.same(s, dt, a, amp.Transpose(s, a, 0, 1))
			b.same(s, dt, amp.Transpose(s, a, 0, 1), a)
			b.same(s, dt, amp.Transpose(s, a, 0, 1), amp.Transpose(s, a, 0, 1))
			if dt != amp.Float32 {
				noBLAS.Store(false)
				b.measure("cuBLAS"+strings.TrimPrefix(name, "own"), "TFLOP/s", 2*float64(n)*float64(n)*float64(n)/1e12, func(*amp.Scope) { b.run("mm", amp.Attrs{}, y, a, a) })
				noBLAS.Store(true)
			}
			b.measure(name, "TFLOP/s", 2*float64(n)*float64(n)*float64(n)/1e12, func(*amp.Scope) { b.run("mm", amp.Attrs{}, y, a, a) })
			if dt != amp.Float32 && b.d.props.Capability() == 90 {
				noWarpgroups.Store(true)
				b.measure(name+" by warps", "TFLOP/s", 2*float64(n)*float64(n)*float64(n)/1e12, func(*amp.Scope) { b.run("mm", amp.Attrs{}, y, a, a) })
				noWarpgroups.Store(false)
			}
			if !large {
				turned := amp.Transpose(s, a, 0, 1)
				b.measure(name+" a·bᵀ", "TFLOP/s", 2*float64(n)*float64(n)*float64(n)/1e12, func(*amp.Scope) { b.run("mm", amp.Attrs{}, y, a, turned) })
				b.measure(name+" aᵀ·b", "TFLOP/s", 2*float64(n)*float64(n)*float64(n)/1e12, func(*amp.Scope) { b.run("mm", amp.Attrs{}, y, turned, a) })
			}
		}
	}
}

// same compares our product with cuBLAS's.
func (b *speed) same(s *amp.Scope, dt amp.DType, x, y *amp.Tensor) {
	n := x.Dim(0)
	own, theirs := full(s, dt, 0, n, n), full(s, dt, 1, n, n)
	b.run("mm", amp.Attrs{}, own, x, y)
	noBLAS.Store(false)
	b.run("mm", amp.Attrs{}, theirs, x, y)
	noBLAS.Store(true)
	far := amp.Amax(s, amp.Abs(s, amp.Sub(s, amp.To(s, own, amp.Float32), amp.To(s, theirs, amp.Float32)))).Item()
	most := amp.Amax(s, amp.Abs(s, amp.To(s, theirs, amp.Float32))).Item()
	if limit := map[amp.DType]float64{amp.Float16: 0x1p-10, amp.BFloat16: 0x1p-7, amp.Float32: 0x1p-16}[dt]; !(far <= limit*most) {
		b.t.Errorf("%v %d: products differ by %g, and are up to %g", dt, n, far, most)
	}
	own.Free()
	theirs.Free()
}

func (b *speed) layers() {
	s := amp.NewScope(amp.On("cuda:0"))
	defer s.Close()
	noBLAS.Store(true)
	defer noBLAS.Store(false)
	batch, channels, edge := 128, 64, 32
	if b.small > 0 {
		batch, channels, edge = 1, 8, 8
	}
	x := amp.To(s, amp.Rand(s, amp.Float32, -1, 1, batch, channels, edge, edge), amp.Float16)
	w := amp.To(s, amp.Rand(s, amp.Float32, -1, 1, channels, channels, 3, 3), amp.Float16)
	win := &amp.Window{Kernel: []int{3, 3}, Stride: []int{1, 1}, Padding: []int{1, 1}, Dilation: []int{1, 1}, OutputPadding: []int{0, 0}, Groups: 1}
	y := full(s, amp.Float16, 0, batch, channels, edge, edge)
	flops := 2 * 128.0 * 64 * 64 * 9 * 32 * 32 / 1e12
	dw := full(s, amp.Float16, 0, channels, channels, 3, 3)
	defer noDNN.Store(false)
	for _, who := range []string{"cuDNN ", ""} { // "" is Halftone's kernels
		noDNN.Store(who == "")
		b.measure(who+"conv2d 64→64 3×3, 128×32×32 fp16", "TFLOP/s", flops, func(*amp.Scope) { b.run("conv2d", amp.Attrs{Window: win}, y, x, w, nil) })
		b.measure(who+"its gradient of x", "TFLOP/s", flops, func(*amp.Scope) {
			b.run("conv_transpose2d", amp.Attrs{Window: win, Shape: []int{batch, channels, edge, edge}}, x, y, w, nil)
		})
		b.measure(who+"its gradient of weight", "TFLOP/s", flops, func(*amp.Scope) { b.run("conv_weight_grad", amp.Attrs{Window: win, Shape: dw.Shape()}, dw, x, y) })
	}
	stats := full(s, amp.Float32, 0, 2, channels)
	b.measure("batch_norm statistics", "us", 0, func(*amp.Scope) { b.run("batch_norm_stats", amp.Attrs{}, stats, x) })
	gamma := full(s, amp.Float32, 1, channels)
	b.measure("batch_norm", "us", 0, func(*amp.Scope) { b.run("batch_norm", amp.Attrs{Scalar: 1e-5}, y, x, gamma, gamma, stats) })
	heads, long := b.size(8*12), b.size(1024)
	q := amp.To(s, amp.Rand(s, amp.Float32, -1, 1, heads/12, 12, long, 64), amp.Float16)
	o := full(s, amp.Float16, 0, heads/12, 12, long, 64)
	at := amp.Attrs{Attention: &amp.Attention{Causal: true, Scale: 0.125}}
	b.measure("attention 8×12×1024×64 causal fp16", "us", 0, func(*amp.Scope) { b.run("scaled_dot_product_attention", at, o, q, q, q, nil) })
	all := full(s, amp.Float16, 0, 3*q.Len())
	b.measure("attention backward", "us", 0, func(*amp.Scope) { b.run("attention_backward", at, all, o, q, q, q, nil) })
}
