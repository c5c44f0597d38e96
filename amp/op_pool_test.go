package amp

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var nan, inf = math.NaN(), math.Inf(1)

// TestMaxPoolNaN: NaN wins, wherever it stands, and of several equal elements the first is the one that gets the gradient.
func TestMaxPoolNaN(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		x := FromFloat64s(dt, []float64{1, nan, 3, 4, 2, 2, nan, nan, -inf, -inf}, 1, 10).RequireGrad()
		y := MaxPool1d(s, x, 2)
		got := y.Float64s()
		if !math.IsNaN(got[0]) || got[1] != 4 || got[2] != 2 || !math.IsNaN(got[3]) || !math.IsInf(got[4], -1) {
			t.Errorf("%v: %v", dt, got)
		}
		y.Backward(GradOutputs(FromFloat64s(dt, []float64{1, 2, 3, 4, 5}, 1, 5)))
		if g, want := x.Grad().Float64s(), []float64{0, 1, 0, 2, 3, 0, 0, 4, 5, 0}; !slices.Equal(g, want) {
			t.Errorf("%v: gradient %v, want %v", dt, g, want)
		}
	}
}

// TestMaxPoolIndices: places count within the plane of x, and padding is never a maximum.
func TestMaxPoolIndices(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{-1, -2, -3, -4, -5, -6, -7, -8, -9}, 1, 1, 3, 3)
	y, index := MaxPool2dIndices(s, x, 2, Padding(1))
	if got := y.Float64s(); !slices.Equal(got, []float64{-1, -2, -4, -5}) {
		t.Errorf("%v", got)
	}
	if got := Values[int64](index); !slices.Equal(got, []int64{0, 1, 3, 4}) || !slices.Equal(index.shape, y.shape) {
		t.Errorf("%v %v", got, index.shape)
	}
	// A dilated window may see nothing but padding.
	y, index = MaxPool2dIndices(s, From([]float32{7}, 1, 1, 1), 1, Kernel(1, 2), Dilation(1, 3), Padding(0, 2), Stride(1))
	if got := y.Float64s(); !slices.Equal(got, []float64{-inf, -inf}) || !slices.Equal(index.Float64s(), []float64{-1, -1}) {
		t.Errorf("%v at %v", got, index.Float64s())
	}
}

// TestPoolSizes holds the rounding of sizes to examples worked out by hand from the rule.
func TestPoolSizes(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, c := range []struct {
		in, kernel int
		opts       []WindowOption
		out        int
	}{
		{7, 2, nil, 3}, {7, 2, options(CeilMode()), 4}, {8, 2, options(CeilMode()), 4},
		{112, 3, options(Stride(2), Padding(1)), 56}, {5, 3, options(Stride(2), CeilMode()), 2}, {6, 3, options(Stride(2), CeilMode()), 3},
		{2, 1, options(Stride(3), CeilMode()), 1}, // the second window would begin after the end
		{1, 3, options(Stride(2), Padding(1), CeilMode()), 1},
		{7, 2, options(Dilation(3), Stride(1)), 4},
	} {
		if y := MaxPool1d(s, Full(s, Float32, 1, 1, c.in), c.kernel, c.opts...); y.shape[1] != c.out {
			t.Errorf("%d elements, windows of %d: %d, want %d", c.in, c.kernel, y.shape[1], c.out)
		}
	}
}

// TestAvgPoolDefinition compares random average pools with the definition: a padded plane, summed window by window.
func TestAvgPoolDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		k, stride := 1+r.IntN(3), 1+r.IntN(3)
		pad := r.IntN(k/2 + 1)
		h := k + r.IntN(5)
		opts := options(Stride(stride), Padding(pad))
		ceil, exclude := r.IntN(2) == 0, r.IntN(2) == 0
		if ceil {
			opts = append(opts, CeilMode())
		}
		if exclude {
			opts = append(opts, ExcludePadding())
		}
		s := NewScope()
		x := integers(r, Float64, 1, 2, h, h+1)
		y := AvgPool2d(s, x, k, opts...)
		v := x.Float64s()
		got := y.Float64s()
		eachIndexOf(y.shape, func(at []int) {
			sum, n, counted := 0.0, 0, 0
			for p := at[2]*stride - pad; p < at[2]*stride-pad+k; p++ {
				for q := at[3]*stride - pad; q < at[3]*stride-pad+k; q++ {
					if p < h+pad && q < h+1+pad { // what a rounded-up window has beyond the padding never counts
						counted++
					}
					if p >= 0 && p < h && q >= 0 && q < h+1 {
						sum += v[flatIndex(x.shape, []int{0, at[1], p, q})]
						n++
					}
				}
			}
			if !exclude {
				n = counted
			}
			if g := got[flatIndex(y.shape, at)]; !(math.Abs(g-sum/float64(n)) <= 1e-15) {
				t.Fatalf("%v of %v, kernel %d stride %d padding %d ceil %v exclude %v: %v, want %v", at, x.shape, k, stride, pad, ceil, exclude, g, sum/float64(n))
			}
		})
		s.Close()
	}
}

// TestPoolInHalfRoundsOnce: the sum of a half window is exact in float32.
func TestPoolInHalfRoundsOnce(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Full(s, Float16, 60000, 1, 64, 64)
	if v := AdaptiveAvgPool2d(s, x, 1).Item(); v != 60000 {
		t.Errorf("%v: the sum overflowed", v)
	}
}

func TestPoolAutocast(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x3 := FromFloat64s(BFloat16, []float64{1, 2, 3, 4}, 1, 1, 1, 2, 2)
	for name, f := range map[string]func(s *Scope) *Tensor{
		"max_pool3d":          func(s *Scope) *Tensor { return MaxPool3d(s, x3, 1) },
		"avg_pool3d":          func(s *Scope) *Tensor { return AvgPool3d(s, x3, 1) },
		"adaptive_avg_pool3d": func(s *Scope) *Tensor { return AdaptiveAvgPool3d(s, x3, 1) },
	} {
		if y := f(s.Autocast(BFloat16)); y.dt != BFloat16 {
			t.Errorf("%s gives %v by the CUDA lists", name, y.dt)
		}
		if y := f(s.Autocast(BFloat16, UseLists(CPULists))); y.dt != Float32 {
			t.Errorf("%s gives %v by the CPU lists", name, y.dt)
		}
	}
}

func TestPoolRefusals(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Full(s, Float32, 1, 1, 2, 4, 4)
	for _, c := range []struct {
		name string
		kind error
		call func()
	}{
		{"rank", ErrShape, func() { MaxPool2d(s, Full(s, Float32, 1, 4, 4), 2) }},
		{"window", ErrShape, func() { MaxPool2d(s, x, 5) }},
		{"padding", ErrArgument, func() { MaxPool2d(s, x, 2, Padding(2)) }},
		{"kernel", ErrArgument, func() { MaxPool2d(s, x, 0) }},
		{"groups", ErrArgument, func() { MaxPool2d(s, x, 2, Groups(2)) }},
		{"dilated average", ErrArgument, func() { AvgPool2d(s, x, 2, Dilation(2)) }},
		{"divisor", ErrArgument, func() { AvgPool2d(s, x, 2, Divisor(0)) }},
		{"integers", ErrDType, func() { AvgPool2d(s, To(s, x, Int64), 2) }},
		{"sizes", ErrArgument, func() { AdaptiveAvgPool2d(s, x, 1, 2, 3) }},
		{"no size", ErrArgument, func() { AdaptiveAvgPool2d(s, x) }},
		{"size 0", ErrArgument, func() { AdaptiveAvgPool2d(s, x, 0) }},
		{"nothing to pool", ErrShape, func() { AdaptiveMaxPool2d(s, Full(s, Float32, 1, 1, 2, 0, 4), 1) }},
	} {
		if err := Maybe(c.call); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if y := MaxPool2d(s, Full(s, Float32, 1, 0, 3, 4, 4), 2); !slices.Equal(y.shape, []int{0, 3, 2, 2}) {
		t.Error(y.shape)
	}
}

// TestMaxPoolsAgree compares max pools of float32 and halves, values, places and gradients, with float64's plain loops: of windows that overlap,
// leave gaps, stick out or are all padding, along rows that are no multiple of anything, with ties, zeros of both signs, infinities and NaN.
func TestMaxPoolsAgree(t *testing.T) {
	computesOnCPU(t)
	sameOnAnyThreads(t, maxPoolDigest)
}

func maxPoolDigest() string {
	h := sha256.New()
	r := rand.New(rand.NewPCG(7, 18))
	special := []float64{nan, inf, -inf, 0, math.Copysign(0, -1)}
	s := NewScope(On("cpu"))
	defer s.Close()
	for _, c := range []struct {
		shape  []int
		kernel []int
		opts   []WindowOption
	}{
		{[]int{2, 3, 33, 29}, []int{3, 3}, options(Stride(2), Padding(1))},
		{[]int{1, 5, 27, 61}, []int{2, 2}, nil},
		{[]int{3, 7, 9, 25}, []int{3, 2}, options(Stride(1), Padding(1, 0), CeilMode())},
		{[]int{1, 2, 19, 41}, []int{2, 3}, options(Dilation(3, 2), Stride(2, 1), Padding(1))},
		{[]int{1, 2, 31, 37}, []int{1, 1}, options(Stride(4))},
		{[]int{1, 2, 31, 37}, []int{1, 4}, options(Stride(1, 3))},
		{[]int{1, 2, 26, 26}, []int{5, 2}, options(Stride(5, 7))},
		{[]int{2, 3, 5}, []int{3}, options(Stride(1), Padding(1))},
		{[]int{1, 67, 301}, []int{7}, options(Stride(3), Padding(3))},
		{[]int{1, 2, 5, 7, 27}, []int{3, 2, 3}, options(Stride(2), Padding(1))},
		{[]int{1, 1, 1, 30}, []int{2, 2}, options(Dilation(3, 1), Padding(2, 0), Stride(1))},
		{[]int{1, 2, 40, 50}, nil, nil}, // adaptive
	} {
		values := make([]float64, length(c.shape))
		for kind := range 3 {
			for i := range values {
				switch values[i] = r.NormFloat64(); {
				case kind == 1:
					values[i] = math.Round(values[i])
				case kind == 2 && r.IntN(6) == 0:
					values[i] = special[r.IntN(len(special))]
				}
			}
			pooled := func(dt DType) (y, g []float64) {
				x := fromFloat64s(BFloat16, values, c.shape).To(s) // the same numbers in any dtype
				x = Detach(s, To(s, x, dt)).RequireGrad()
				var out *Tensor
				switch len(c.kernel) {
				case 0:
					out = AdaptiveMaxPool2d(s, x, 7, 9)
				case 1:
					out = MaxPool1d(s, x, c.kernel[0], c.opts...)
				case 2:
					out = MaxPool2d(s, x, 1, append(options(Kernel(c.kernel...), Stride(c.kernel...)), c.opts...)...)
				case 3:
					out = MaxPool3d(s, x, 1, append(options(Kernel(c.kernel...)), c.opts...)...)
				}
				dy := make([]float64, out.Len())
				for i := range dy {
					dy[i] = float64(i%15) - 7 // sums of them are exact
				}
				out.Backward(GradOutputs(fromFloat64s(dt, dy, out.shape).To(s)))
				return out.Float64s(), x.Grad().Float64s()
			}
			y, g := pooled(Float64)
			for _, dt := range []DType{Float32, BFloat16} {
				gotY, gotG := pooled(dt)
				for i, w := range y {
					if v := gotY[i]; v != w && !(v != v && w != w) || v == 0 && math.Signbit(v) != math.Signbit(w) {
						panic(fmt.Sprintf("%v %v, window %v, numbers %d: result %d is %v, want %v", dt, c.shape, c.kernel, kind, i, v, w))
					}
				}
				for i, w := range g {
					if gotG[i] != w {
						panic(fmt.Sprintf("%v %v, window %v, numbers %d: gradient %d is %v, want %v", dt, c.shape, c.kernel, kind, i, gotG[i], w))
					}
				}
			}
			fmt.Fprintln(h, y, g)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
