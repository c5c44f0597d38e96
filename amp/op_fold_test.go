package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// TestUnfoldValues compares unfold with its definition, and fold with the sums it stands for.
func TestUnfoldValues(t *testing.T) {
	s := NewScope(Seed(5))
	defer s.Close()
	const n, c, h, w = 2, 3, 5, 6
	x := Randn(s, Float64, 0, 1, n, c, h, w)
	for _, b := range []Blocks{{Kernel: []int{2}}, {Kernel: []int{3, 2}, Stride: []int{2, 3}, Padding: []int{1, 2}, Dilation: []int{2, 1}}, {Kernel: []int{1, 6}, Stride: []int{4}}} {
		k, st := b.pair("", "", b.Kernel, 0, 0), b.pair("", "", b.Stride, 1, 0)
		p, d := b.pair("", "", b.Padding, 0, 0), b.pair("", "", b.Dilation, 1, 0)
		oh, ow := (h+2*p[0]-d[0]*(k[0]-1)-1)/st[0]+1, (w+2*p[1]-d[1]*(k[1]-1)-1)/st[1]+1
		y := Unfold(s, x, b)
		if !slices.Equal(y.shape, []int{n, c * k[0] * k[1], oh * ow}) {
			t.Fatalf("%+v: shape %v", b, y.shape)
		}
		folded := make([]float64, n*c*h*w)
		eachPlace([]int{n, c, k[0], k[1], oh, ow}, func(q []int) {
			row, col := q[4]*st[0]+q[2]*d[0]-p[0], q[5]*st[1]+q[3]*d[1]-p[1]
			inside := row >= 0 && row < h && col >= 0 && col < w
			want := 0.0
			if inside {
				want = at(x, q[0], q[1], row, col)
				folded[((q[0]*c+q[1])*h+row)*w+col] += want
			}
			if got := at(y, q[0], (q[1]*k[0]+q[2])*k[1]+q[3], q[4]*ow+q[5]); got != want {
				t.Fatalf("%+v at %v: %v, want %v", b, q, got, want)
			}
		})
		if back := Fold(s, y, []int{h, w}, b); !near(back.Float64s(), folded, 1e-12) {
			t.Errorf("%+v: fold differs from the sums", b)
		}
	}
	shuffled := PixelShuffle(s, Reshape(s, Arange(s, Float32, 0, 8, 1), 4, 1, 2), 2)
	if !slices.Equal(shuffled.shape, []int{1, 2, 4}) || !slices.Equal(shuffled.Float64s(), []float64{0, 2, 1, 3, 4, 6, 5, 7}) {
		t.Errorf("pixel_shuffle: %v %v", shuffled.shape, shuffled.Float64s())
	}
	if y := PixelUnshuffle(s, shuffled, 2); !slices.Equal(y.shape, []int{4, 1, 2}) || y.Float64s()[3] != 3 {
		t.Errorf("pixel_unshuffle: %v %v", y.shape, y.Float64s())
	}
	columns := Full(s, Float32, 1, 1, 4, 4)
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"rank":        {ErrShape, func() { Unfold(s, columns, Blocks{Kernel: []int{1}}) }},
		"no kernel":   {ErrArgument, func() { Unfold(s, x, Blocks{}) }},
		"stride 0":    {ErrArgument, func() { Unfold(s, x, Blocks{Kernel: []int{2}, Stride: []int{0, 1}}) }},
		"three":       {ErrArgument, func() { Unfold(s, x, Blocks{Kernel: []int{2, 2, 2}}) }},
		"kernel":      {ErrShape, func() { Unfold(s, x, Blocks{Kernel: []int{6, 1}}) }},
		"fold blocks": {ErrShape, func() { Fold(s, columns, []int{4, 4}, Blocks{Kernel: []int{2}}) }},
		"fold rows":   {ErrShape, func() { Fold(s, columns, []int{2, 4}, Blocks{Kernel: []int{1, 3}}) }},
		"fold size":   {ErrShape, func() { Fold(s, columns, []int{2}, Blocks{Kernel: []int{1}}) }},
		"shuffle":     {ErrShape, func() { PixelShuffle(s, x, 2) }},
		"unshuffle":   {ErrShape, func() { PixelUnshuffle(s, x, 2) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestQuantileAndKin(t *testing.T) {
	s := NewScope()
	defer s.Close()
	nan, inf := math.NaN(), math.Inf(1)
	x := FromFloat64s(Float64, []float64{4, 1, 3, 2, 10, nan, 30, 20}, 2, 4)
	y := Quantile(s, x, []float64{0, 0.5, 0.9, 1}, 1)
	f := y.Float64s()
	if !slices.Equal(y.shape, []int{4, 2}) || !near([]float64{f[0], f[2], f[4], f[6]}, []float64{1, 2.5, 3.7, 4}, 1e-12) || f[1] == f[1] || f[7] == f[7] {
		t.Errorf("quantiles %v %v", y.shape, f)
	}
	low := s.Autocast(BFloat16, UseLists(CPULists))
	if y := Quantile(low, To(s, x, BFloat16), []float64{0.5}, 1); y.dt != Float32 {
		t.Errorf("quantile is on the CPU lists: %v", y.dt)
	}
	edges := From([]float32{-1, 0, 2})
	if y := Bucketize(s, From([]float32{-2, -1, 0.5, 2, 3}), edges, false); y.dt != Int64 || !slices.Equal(y.Float64s(), []float64{0, 0, 2, 2, 3}) {
		t.Errorf("buckets %v", y.Float64s())
	}
	if y := Bucketize(s, From([]float32{-2, -1, 0.5, 2, float32(nan)}), edges, true); !slices.Equal(y.Float64s(), []float64{0, 1, 2, 3, 3}) {
		t.Errorf("buckets, right %v", y.Float64s())
	}
	z := From([]float32{0, 3, 0, 0, -1, float32(nan)}, 2, 3)
	if y := Nonzero(s, z); y.dt != Int64 || !slices.Equal(y.shape, []int{3, 2}) || !slices.Equal(y.Float64s(), []float64{0, 1, 1, 1, 1, 2}) {
		t.Errorf("nonzero %v %v", y.shape, y.Float64s())
	}
	if y := Nonzero(s, Scalar(float32(2))); !slices.Equal(y.shape, []int{1, 0}) {
		t.Errorf("nonzero of a number: %v", y.shape)
	}
	if y := MaskedSelect(s, From([]float32{1, 2, 3}), From([]bool{true, false, true, false, false, true}, 2, 3)); !slices.Equal(y.Float64s(), []float64{1, 3, 3}) {
		t.Errorf("selected %v", y.Float64s())
	}
	if y := MaskedSelect(s, From([]float32{1, 2}), From([]bool{false})); !slices.Equal(y.shape, []int{0}) {
		t.Errorf("nothing selected: %v", y.shape)
	}
	line := []float64{-inf, -inf, 1000, 1001, -inf, 999}
	l := FromFloat64s(Float64, line).RequireGrad()
	logs := LogCumSumExp(s, l, 0)
	g := logs.Float64s()
	if !math.IsInf(g[1], -1) || g[2] != 1000 || math.Abs(g[3]-(1001+math.Log1p(math.Exp(-1)))) > 1e-12 || g[4] != g[3] {
		t.Errorf("logcumsumexp %v", g)
	}
	Sum(s, Narrow(s, logs, 0, 2, 4)).Backward()
	for i, got := range l.Grad().Float64s() {
		want := 0.0
		for k := max(i, 2); k < 6; k++ {
			want += math.Exp(line[i] - g[k])
		}
		if !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("gradient %d is %v, want %v", i, got, want)
		}
	}
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"share":     {ErrArgument, func() { Quantile(s, x, []float64{1.5}, 0) }},
		"no share":  {ErrArgument, func() { Quantile(s, x, nil, 0) }},
		"integers":  {ErrArgument, func() { Quantile(s, From([]int64{1}), []float64{0.5}, 0) }},
		"bucketize": {ErrShape, func() { Bucketize(s, edges, z, false) }},
		"mask":      {ErrDType, func() { MaskedSelect(s, edges, edges) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBucketizeOfTwoDTypes: x and boundaries are compared in the wider dtype, as in PyTorch: the numbers are torch 2.15's.
func TestBucketizeOfTwoDTypes(t *testing.T) {
	s := NewScope()
	defer s.Close()
	half := s.Autocast(BFloat16)
	for name, c := range map[string]struct {
		got  *Tensor
		want []float64
	}{
		"integers in floats": {Bucketize(s, From([]int64{0, 1, 2}), From([]float32{0.5, 1.5}), false), []float64{0, 1, 2}},
		"booleans in floats": {Bucketize(s, From([]bool{false, true}), From([]float32{0.5, 1.5}), false), []float64{0, 1}},
		"floats in integers": {Bucketize(s, From([]float32{0.1, 1, 2}), From([]int64{0, 1, 2}), false), []float64{1, 1, 2}},
		"half in floats":     {Bucketize(s, FromFloat64s(Float16, []float64{1}, 1), From([]float32{1.0001}), false), []float64{0}},
		"floats in halves":   {Bucketize(half, From([]float32{1.0001}), FromFloat64s(Float16, []float64{1}, 1), false), []float64{1}},
	} {
		if got := c.got.Float64s(); c.got.DType() != Int64 || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v %v, want %v", name, c.got.DType(), got, c.want)
		}
	}
}
