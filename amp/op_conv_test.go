package amp

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// convCheck is a convolution with random sizes; numbers are small integers, so that every sum is exact in every dtype.
type convCheck struct {
	rank, n, groups, in, out int // channels per group
	size, kernel             []int
	stride, pad, dilation    []int
	outPad                   []int
}

func randomConv(r *rand.Rand, rank int) convCheck {
	c := convCheck{rank: rank, n: 1 + r.IntN(3), groups: 1 + r.IntN(3), in: 1 + r.IntN(3), out: 1 + r.IntN(3)}
	for range rank {
		k, d, s, p := 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(3), r.IntN(3)
		c.kernel, c.dilation, c.stride, c.pad = append(c.kernel, k), append(c.dilation, d), append(c.stride, s), append(c.pad, p)
		c.size = append(c.size, max(1, d*(k-1)+1-2*p)+r.IntN(5))
		c.outPad = append(c.outPad, r.IntN(max(s, d)))
	}
	return c
}

func (c convCheck) opts() []WindowOption {
	return options(Stride(c.stride...), Padding(c.pad...), Dilation(c.dilation...), Groups(c.groups))
}

// integers returns a tensor of whole numbers from -3 to 3.
func integers(r *rand.Rand, dt DType, shape ...int) *Tensor {
	v := make([]float64, length(shape))
	for i := range v {
		v[i] = float64(r.IntN(7) - 3)
	}
	return fromFloat64s(dt, v, shape)
}

// each calls f with every index of a shape.
func eachIndexOf(shape []int, f func(at []int)) {
	at := make([]int, len(shape))
	for i := range length(shape) {
		for d := len(shape) - 1; d >= 0; d-- {
			at[d] = i % shape[d]
			i /= shape[d]
		}
		f(at)
	}
}

func flatIndex(shape, at []int) int {
	i := 0
	for d, n := range shape {
		i = i*n + at[d]
	}
	return i
}

// meetings calls f with the flat indices of x, weight and y of every product of a convolution, by the definition.
func (c convCheck) meetings(xs, ws, ys []int, f func(x, w, y int)) {
	eachIndexOf(ys, func(y []int) {
		group := y[1] / c.out
		eachIndexOf(ws[1:], func(w []int) {
			x := []int{y[0], group*c.in + w[0]}
			for d := range c.rank {
				p := y[2+d]*c.stride[d] + w[1+d]*c.dilation[d] - c.pad[d]
				if p < 0 || p >= xs[2+d] {
					return
				}
				x = append(x, p)
			}
			f(flatIndex(xs, x), flatIndex(ws, append([]int{y[1]}, w...)), flatIndex(ys, y))
		})
	})
}

var (
	convs          = []convFunc{Conv1d, Conv2d, Conv3d}
	convTransposes = []convFunc{ConvTranspose1d, ConvTranspose2d, ConvTranspose3d}
)

// TestConvDefinition compares results and gradients of random convolutions with the definition, in every dtype.
func TestConvDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 150 {
		c := randomConv(r, 1+i%3)
		dt := []DType{Float32, Float64, Float16, BFloat16}[i%4]
		s := NewScope()
		x := integers(r, dt, append([]int{c.n, c.groups * c.in}, c.size...)...).RequireGrad()
		w := integers(r, dt, append([]int{c.groups * c.out, c.in}, c.kernel...)...).RequireGrad()
		b := integers(r, dt, c.groups*c.out).RequireGrad()
		y := convs[c.rank-1](s, x, w, b, c.opts()...)
		for d := range c.rank {
			if want := (c.size[d]+2*c.pad[d]-c.dilation[d]*(c.kernel[d]-1)-1)/c.stride[d] + 1; y.shape[2+d] != want {
				t.Fatalf("%+v: size %v, want %d in dimension %d", c, y.shape, want, d)
			}
		}
		dy := integers(r, dt, y.shape...)
		y.Backward(GradOutputs(dy))
		wantY, wantX, wantW, wantB := make([]float64, y.Len()), make([]float64, x.Len()), make([]float64, w.Len()), make([]float64, b.Len())
		xv, wv, bv, dv := x.Float64s(), w.Float64s(), b.Float64s(), dy.Float64s()
		plane := y.Len() / (c.n * c.groups * c.out)
		for k := range wantY {
			wantY[k] = bv[k/plane%len(bv)]
			wantB[k/plane%len(bv)] += dv[k]
		}
		c.meetings(x.shape, w.shape, y.shape, func(x, w, y int) {
			wantY[y] += wv[w] * xv[x]
			wantX[x] += wv[w] * dv[y]
			wantW[w] += dv[y] * xv[x]
		})
		name := fmt.Sprintf("%v %+v", dt, c)
		sameRounded(t, name+" y", y, wantY)
		sameRounded(t, name+" dx", x.Grad(), wantX)
		sameRounded(t, name+" dweight", w.Grad(), wantW)
		sameRounded(t, name+" dbias", b.Grad(), wantB)
		s.Close()
	}
}

// TestConvTransposeDefinition does the same for transposed convolutions: the roles of x and y are exchanged.
func TestConvTransposeDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 150 {
		c := randomConv(r, 1+i%3)
		dt := []DType{Float32, Float64, Float16, BFloat16}[i%4]
		for d := range c.rank { // sizes for which something is left
			c.size[d] = max(c.size[d], 2*c.pad[d]+1)
		}
		s := NewScope()
		x := integers(r, dt, append([]int{c.n, c.groups * c.out}, c.size...)...).RequireGrad()
		w := integers(r, dt, append([]int{c.groups * c.out, c.in}, c.kernel...)...).RequireGrad()
		b := integers(r, dt, c.groups*c.in).RequireGrad()
		y := convTransposes[c.rank-1](s, x, w, b, append(c.opts(), OutputPadding(c.outPad...))...)
		for d := range c.rank {
			if want := (c.size[d]-1)*c.stride[d] - 2*c.pad[d] + c.dilation[d]*(c.kernel[d]-1) + c.outPad[d] + 1; y.shape[2+d] != want {
				t.Fatalf("%+v: size %v, want %d in dimension %d", c, y.shape, want, d)
			}
		}
		dy := integers(r, dt, y.shape...)
		y.Backward(GradOutputs(dy))
		wantY, wantX, wantW := make([]float64, y.Len()), make([]float64, x.Len()), make([]float64, w.Len())
		xv, wv, bv, dv := x.Float64s(), w.Float64s(), b.Float64s(), dy.Float64s()
		plane := y.Len() / (c.n * c.groups * c.in)
		for k := range wantY {
			wantY[k] = bv[k/plane%len(bv)]
		}
		c.meetings(y.shape, w.shape, x.shape, func(y, w, x int) {
			wantY[y] += wv[w] * xv[x]
			wantX[x] += wv[w] * dv[y]
			wantW[w] += dv[y] * xv[x]
		})
		name := fmt.Sprintf("%v %+v", dt, c)
		sameRounded(t, name+" y", y, wantY)
		sameRounded(t, name+" dx", x.Grad(), wantX)
		sameRounded(t, name+" dweight", w.Grad(), wantW)
		s.Close()
	}
}

// sameRounded compares with exact values, rounded once to the tensor's dtype.
func sameRounded(t *testing.T, what string, got *Tensor, want []float64) {
	t.Helper()
	rounded := fromFloat64s(got.dt, want, got.shape).Float64s()
	for i, g := range got.Float64s() {
		if g != rounded[i] {
			t.Fatalf("%s: element %d is %v, want %v", what, i, g, rounded[i])
		}
	}
}

// TestConvBlocks uses sizes that are cut into several boxes, in each dimension that a cut may go through.
func TestConvBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []convCheck{
		{rank: 1, n: 2, groups: 1, in: 2, out: 3, size: []int{5000}, kernel: []int{3}, stride: []int{1}, pad: []int{1}, dilation: []int{1}},
		{rank: 2, n: 2, groups: 2, in: 1, out: 2, size: []int{70, 67}, kernel: []int{3, 3}, stride: []int{1, 1}, pad: []int{1, 1}, dilation: []int{1, 1}},
		{rank: 2, n: 40, groups: 1, in: 2, out: 2, size: []int{9, 9}, kernel: []int{3, 3}, stride: []int{2, 2}, pad: []int{1, 1}, dilation: []int{1, 1}},
		{rank: 3, n: 1, groups: 1, in: 1, out: 2, size: []int{5, 30, 31}, kernel: []int{2, 3, 1}, stride: []int{1, 1, 1}, pad: []int{1, 0, 0}, dilation: []int{2, 1, 1}},
		{rank: 2, n: 3, groups: 1, in: 3, out: 2, size: []int{50, 50}, kernel: []int{1, 1}, stride: []int{1, 1}, pad: []int{0, 0}, dilation: []int{1, 1}},
	} {
		for _, dt := range []DType{Float32, Float16} {
			s := NewScope()
			x := integers(r, dt, append([]int{c.n, c.groups * c.in}, c.size...)...).RequireGrad()
			w := integers(r, dt, append([]int{c.groups * c.out, c.in}, c.kernel...)...).RequireGrad()
			y := convs[c.rank-1](s, x, w, nil, c.opts()...)
			dy := integers(r, dt, y.shape...)
			y.Backward(GradOutputs(dy))
			wantY, wantX, wantW := make([]float64, y.Len()), make([]float64, x.Len()), make([]float64, w.Len())
			xv, wv, dv := x.Float64s(), w.Float64s(), dy.Float64s()
			c.meetings(x.shape, w.shape, y.shape, func(x, w, y int) {
				wantY[y] += wv[w] * xv[x]
				wantX[x] += wv[w] * dv[y]
				wantW[w] += dv[y] * xv[x]
			})
			name := fmt.Sprintf("%v %+v", dt, c)
			sameRounded(t, name+" y", y, wantY)
			sameRounded(t, name+" dx", x.Grad(), wantX)
			sameRounded(t, name+" dweight", w.Grad(), wantW)
			s.Close()
		}
	}
}

// TestConvSparse: strides, dilations and paddings far beyond the input need no memory of their size.
func TestConvSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const far = 1 << 20
	for i, c := range []convCheck{
		{rank: 2, n: 2, groups: 2, in: 1, out: 2, size: []int{3, 2}, kernel: []int{2, 3}, stride: []int{far, far}, pad: []int{far, far}, dilation: []int{1, 1}},
		{rank: 2, n: 1, groups: 1, in: 2, out: 1, size: []int{1, 1}, kernel: []int{3, 3}, stride: []int{1, 1}, pad: []int{far, far}, dilation: []int{far, far}},
		{rank: 1, n: 1, groups: 1, in: 2, out: 1, size: []int{4}, kernel: []int{2}, stride: []int{3 * far}, pad: []int{3 * far}, dilation: []int{3*far + 1}},
	} {
		s := NewScope()
		x := integers(r, Float32, append([]int{c.n, c.groups * c.in}, c.size...)...).RequireGrad()
		w := integers(r, Float32, append([]int{c.groups * c.out, c.in}, c.kernel...)...).RequireGrad()
		y := convs[c.rank-1](s, x, w, nil, c.opts()...)
		dy := integers(r, Float32, y.shape...)
		y.Backward(GradOutputs(dy))
		wantY, wantX, wantW := make([]float64, y.Len()), make([]float64, x.Len()), make([]float64, w.Len())
		xv, wv, dv := x.Float64s(), w.Float64s(), dy.Float64s()
		c.meetings(x.shape, w.shape, y.shape, func(x, w, y int) {
			wantY[y] += wv[w] * xv[x]
			wantX[x] += wv[w] * dv[y]
			wantW[w] += dv[y] * xv[x]
		})
		sameRounded(t, fmt.Sprint(i, " y"), y, wantY)
		sameRounded(t, fmt.Sprint(i, " dx"), x.Grad(), wantX)
		sameRounded(t, fmt.Sprint(i, " dweight"), w.Grad(), wantW)
		s.Close()
	}
}

// TestConvSame: same padding keeps the size, and puts the odd element at the end.
func TestConvSame(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, 2, 3, 4}, 1, 1, 4)
	for _, c := range []struct {
		w    []float32
		opts []WindowOption
		want []float64
	}{
		{[]float32{1, 10}, options(SamePadding()), []float64{21, 32, 43, 4}},
		{[]float32{1, 10, 100}, options(SamePadding()), []float64{210, 321, 432, 43}},
		{[]float32{1, 10}, options(SamePadding(), Dilation(3)), []float64{30, 41, 2, 3}},
		{[]float32{1, 10}, options(Padding(3), ValidPadding()), []float64{21, 32, 43}},
	} {
		got := Conv1d(s, x, From(c.w, 1, 1, len(c.w)), nil, c.opts...).Float64s()
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.w, got, c.want)
		}
	}
}

// TestConvRoundsOnce: a half result is the float32 sum, bias included, rounded once.
func TestConvRoundsOnce(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := FromFloat64s(Float16, []float64{1, 0x1p-11}, 1, 2, 1)
	w := FromFloat64s(Float16, []float64{1, 1}, 1, 2, 1)
	b := FromFloat64s(Float16, []float64{0x1p-12}, 1)
	// 1 + 2⁻¹¹ alone is a tie that would go to 1; with the bias it is above the tie.
	if y := Conv1d(s, x, w, b).Item(); y != 1+0x1p-10 {
		t.Errorf("%v", y)
	}
	// 2000 products of 1: a half accumulator would stop at 2048, one rounding gives the exact number.
	ones := Full(s, Float16, 1, 1, 4100, 1)
	if y := Conv1d(s, ones, Full(s, Float16, 1, 1, 4100, 1), nil).Item(); y != 4100 {
		t.Errorf("%v", y)
	}
}

func TestConvRefusals(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, w := Full(s, Float32, 1, 1, 4, 5, 5), Full(s, Float32, 1, 2, 4, 3, 3)
	for _, c := range []struct {
		name string
		kind error
		call func()
	}{
		{"channels", ErrShape, func() { Conv2d(s, x, Full(s, Float32, 1, 2, 3, 3, 3), nil) }},
		{"groups", ErrShape, func() { Conv2d(s, x, w, nil, Groups(2)) }},
		{"rank of x", ErrShape, func() { Conv2d(s, Full(s, Float32, 1, 5, 5), w, nil) }},
		{"rank of weight", ErrShape, func() { Conv2d(s, x, Full(s, Float32, 1, 2, 4, 3), nil) }},
		{"bias", ErrShape, func() { Conv2d(s, x, w, Full(s, Float32, 0, 3)) }},
		{"window", ErrShape, func() { Conv2d(s, x, w, nil, Dilation(3)) }},
		{"dtypes", ErrDType, func() { Conv2d(s, To(s, x, Float16), w, nil) }},
		{"integers", ErrDType, func() { Conv2d(s, To(s, x, Int64), To(s, w, Int64), nil) }},
		{"stride", ErrArgument, func() { Conv2d(s, x, w, nil, Stride(0)) }},
		{"padding", ErrArgument, func() { Conv2d(s, x, w, nil, Padding(-1)) }},
		{"numbers", ErrArgument, func() { Conv2d(s, x, w, nil, Padding(1, 1, 1)) }},
		{"no groups", ErrArgument, func() { Conv2d(s, x, w, nil, Groups(0)) }},
		{"same with stride", ErrArgument, func() { Conv2d(s, x, w, nil, SamePadding(), Stride(2)) }},
		{"option of pools", ErrArgument, func() { Conv2d(s, x, w, nil, CeilMode()) }},
		{"huge", ErrShape, func() { Conv2d(s, x, w, nil, Padding(1<<29)) }},
		{"transposed channels", ErrShape, func() { ConvTranspose2d(s, x, w, nil) }},
		{"output padding", ErrArgument, func() { ConvTranspose2d(s, x, Full(s, Float32, 1, 4, 1, 3, 3), nil, OutputPadding(1)) }},
		{"nothing left", ErrShape, func() { ConvTranspose2d(s, x, Full(s, Float32, 1, 4, 1, 3, 3), nil, Padding(4)) }},
	} {
		if err := Maybe(c.call); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestConvOfNothing: an empty batch has an empty result, and a gradient of zeros for the weight.
func TestConvOfNothing(t *testing.T) {
	s := NewScope()
	defer s.Close()
	w := Full(s, Float32, 1, 2, 3, 3, 3).RequireGrad()
	y := Conv2d(s, Full(s, Float32, 1, 0, 3, 8, 8), w, nil, Padding(1))
	if !slices.Equal(y.shape, []int{0, 2, 8, 8}) {
		t.Error(y.shape)
	}
	Sum(s, y).Backward()
	for _, v := range w.Grad().Float64s() {
		if v != 0 {
			t.Fatal(v)
		}
	}
}

// TestConvSpreadsInfinity: an infinity reaches the windows that hold it and no other, and 0·∞ is NaN.
func TestConvSpreadsInfinity(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Full(s, Float32, 1, 1, 1, 1, 20)
	values := Values[float32](x)
	values[3] = float32(math.Inf(1))
	SetValues(x, values)
	y := Conv2d(s, x, From([]float32{1, 0}, 1, 1, 1, 2), nil).Float64s()
	for i, v := range y {
		switch {
		case i == 2 && v == v, i == 3 && !math.IsInf(v, 1), i != 2 && i != 3 && v != 1:
			t.Errorf("element %d is %v", i, v)
		}
	}
}

func BenchmarkConv2d(b *testing.B) {
	for _, dt := range []DType{Float32, Float16} {
		b.Run(dt.String(), func(b *testing.B) {
			root := NewScope()
			defer root.Close()
			x := Randn(root, dt, 0, 1, 8, 64, 32, 32).RequireGrad()
			w := Randn(root, dt, 0, 1, 64, 64, 3, 3).RequireGrad()
			dy := Randn(root, dt, 0, 1, 8, 64, 32, 32)
			for b.Loop() {
				s := root.Child()
				Conv2d(s, x, w, nil, Padding(1)).Backward(GradOutputs(dy))
				s.Close()
			}
			b.ReportMetric(3*2*8*64*64*9*1024*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
