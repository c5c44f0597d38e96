package amp

import (
	"errors"
	"math"
	"slices"
	"sort"
	"testing"
)

// TestSortAgainstTheLibrary sorts lines with ties, infinities and NaN by Go's stable sort and compares indices, values and the first k.
func TestSortAgainstTheLibrary(t *testing.T) {
	s := NewScope()
	defer s.Close()
	nan, inf := math.NaN(), math.Inf(1)
	line := []float64{3, 1, nan, 3, -inf, 2, inf, 1, nan, 0, 3, -2}
	less := func(a, b float64) bool { return a < b || a == a && b != b }
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64, Int64} {
		line := line
		if dt == Int64 {
			line = []float64{3, 1, 7, 3, -4, 2, 6, 1, 7, 0, 3, -2}
		}
		n := len(line)
		for _, down := range []bool{false, true} {
			want := make([]int, n)
			for i := range want {
				want[i] = i
			}
			sort.SliceStable(want, func(i, j int) bool {
				if down {
					return less(line[want[j]], line[want[i]])
				}
				return less(line[want[i]], line[want[j]])
			})
			// The line twice, as columns of a transposed tensor.
			x := Transpose(s, fromFloat64s(dt, slices.Concat(line, line), []int{2, n}), 0, 1)
			values, indices := Sort(s, x, 0, down)
			if indices.dt != Int64 || values.dt != dt {
				t.Fatalf("%v: values %v, indices %v", dt, values.dt, indices.dt)
			}
			for i, w := range want {
				for col := range 2 {
					if got := at(indices, i, col); got != float64(w) {
						t.Fatalf("%v descending %v: index %d is %v, want %d", dt, down, i, got, w)
					}
					if got := at(values, i, col); distance(got, line[w]) != 0 {
						t.Fatalf("%v descending %v: value %d is %v, want %v", dt, down, i, got, line[w])
					}
				}
			}
			for k := range n + 1 {
				_, top := Topk(s, x, k, 0, down)
				if !slices.Equal(top.shape, []int{k, 2}) {
					t.Fatalf("topk of %d: shape %v", k, top.shape)
				}
				for i := range k {
					if at(top, i, 1) != float64(want[i]) {
						t.Fatalf("%v largest %v: the best %d are %v, want %v", dt, down, k, top.Float64s(), want[:k])
					}
				}
				if k > 0 && !down {
					if v, i := Kthvalue(s, x, k, 0); at(i, 1) != float64(want[k-1]) || distance(at(v, 0), line[want[k-1]]) != 0 {
						t.Errorf("%v: %d-th value %v at %v", dt, k, v.Float64s(), i.Float64s())
					}
				}
			}
		}
	}
}

// TestRadixSort sorts long lines, with zeros of both signs, ties, infinities, NaN and the limits of int64.
func TestRadixSort(t *testing.T) {
	s := NewScope(Seed(6))
	defer s.Close()
	const n = 3 * radixFrom
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(math.NaN(), -1), 5e-324, -5e-324, math.MaxFloat64, -math.MaxFloat64}
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		line := To(s, Randn(s, Float64, 0, 2, n), dt).Float64s()
		for i := range line {
			if i%7 == 3 {
				line[i] = special[i/7%len(special)]
			}
			if i%5 == 1 {
				line[i] = math.Round(line[i])
			}
		}
		x := FromFloat64s(dt, line)
		line = x.Float64s()
		for _, down := range []bool{false, true} {
			want := make([]int, n)
			for i := range want {
				want[i] = i
			}
			slices.SortStableFunc(want, func(i, j int) int {
				o := inOrder(line[i], line[j])
				if down {
					return -o
				}
				return o
			})
			for i, got := range Argsort(s, x, 0, down).Float64s() {
				if got != float64(want[i]) {
					t.Fatalf("%v descending %v: place %d has %v (%v), want %v (%v)", dt, down, i, got, line[int(got)], want[i], line[want[i]])
				}
			}
		}
	}
	ints := make([]int64, n)
	for i := range ints {
		ints[i] = int64(i*7919%1000-500) << (i % 50)
	}
	ints[5], ints[9] = math.MaxInt64, math.MinInt64
	values, _ := Sort(s, From(ints), 0, false)
	if got := Values[int64](values); !slices.IsSorted(got) || got[0] != math.MinInt64 || got[n-1] != math.MaxInt64 {
		t.Error("integers are out of order")
	}
}

func TestMedianAndSoFar(t *testing.T) {
	s := NewScope()
	defer s.Close()
	nan := math.NaN()
	x := FromFloat64s(Float32, []float64{5, 1, 4, 2, 7, nan, 7, 1}, 2, 4)
	v, i := Median(s, x, 1)
	if f := v.Float64s(); f[0] != 2 || f[1] == f[1] || !slices.Equal(i.Float64s(), []float64{3, 1}) {
		t.Errorf("medians %v at %v", f, i.Float64s())
	}
	if v, _ := Median(s, From([]int64{9, 3, 5}), 0); v.Item() != 5 || v.dt != Int64 {
		t.Errorf("median of integers %v", v.Item())
	}
	v, i = Cummax(s, x, 1)
	if f := v.Float64s(); !slices.Equal(f[:5], []float64{5, 5, 5, 5, 7}) || f[5] == f[5] || f[7] == f[7] || !slices.Equal(i.Float64s(), []float64{0, 0, 0, 0, 0, 1, 1, 1}) {
		t.Errorf("largest so far %v at %v", f, i.Float64s())
	}
	v, i = Cummin(s, From([]int64{3, 3, 1, 2, 1}), 0)
	if !slices.Equal(v.Float64s(), []float64{3, 3, 1, 1, 1}) || !slices.Equal(i.Float64s(), []float64{0, 1, 2, 2, 4}) {
		t.Errorf("smallest so far %v at %v", v.Float64s(), i.Float64s())
	}
	w := FromFloat64s(Float64, []float64{2, 1, 5, 3}).RequireGrad()
	top, _ := Cummax(s, w, 0)
	Sum(s, top).Backward()
	if g := w.Grad().Float64s(); !slices.Equal(g, []float64{2, 0, 2, 0}) {
		t.Errorf("gradient of cummax %v", g)
	}
}

func TestExtremesShareTheGradient(t *testing.T) {
	s := NewScope()
	defer s.Close()
	nan := float32(math.NaN())
	x := From([]float32{3, 1, 3, -1, nan, 2}, 2, 3)
	low, high := Aminmax(s, x, 1)
	if f := high.Float64s(); f[0] != 3 || f[1] == f[1] || low.Float64s()[0] != 1 {
		t.Errorf("%v to %v", low.Float64s(), f)
	}
	w := From([]float32{5, 5, 1, 5}).RequireGrad()
	Amax(s, w).Backward()
	if g := w.Grad().Float64s(); !near(g, []float64{1. / 3, 1. / 3, 0, 1. / 3}, 1e-7) {
		t.Errorf("gradient of amax %v", g)
	}
	a, b := From([]float32{1, 2, 3}).RequireGrad(), fromFloat64s(Float16, []float64{3, 2, 1}, []int{3}).RequireGrad()
	y := Maximum(s, a, b)
	Sum(s, y).Backward()
	if y.dt != Float32 || !slices.Equal(y.Float64s(), []float64{3, 2, 3}) || !slices.Equal(a.Grad().Float64s(), []float64{0, 0.5, 1}) || !slices.Equal(b.Grad().Float64s(), []float64{1, 0.5, 0}) {
		t.Errorf("%v %v, gradients %v and %v", y.dt, y.Float64s(), a.Grad().Float64s(), b.Grad().Float64s())
	}
	for _, pair := range [][2]float32{{nan, 1}, {1, nan}} {
		if v := Minimum(s, From([]float32{pair[0]}), From([]float32{pair[1]})).Item(); v == v {
			t.Errorf("minimum of %v is %v", pair, v)
		}
	}
	if y := Minimum(s, From([]int64{4, -1}), From([]int64{2, 1 << 60})); !slices.Equal(Values[int64](y), []int64{2, -1}) {
		t.Errorf("integers %v", y.Float64s())
	}
	m := From([]bool{true, false, true, true}, 2, 2)
	if y := Any(s, m, 1); y.dt != Bool || !slices.Equal(Values[bool](y), []bool{true, true}) {
		t.Errorf("any %v", y.Float64s())
	}
	if y := All(s, m, 1); !slices.Equal(Values[bool](y), []bool{false, true}) {
		t.Errorf("all %v", y.Float64s())
	}
	if Any(s, From([]float32{}, 0)).Item() != 0 || All(s, From([]float32{}, 0)).Item() != 1 || Any(s, From([]float32{0, nan})).Item() != 1 {
		t.Error("any and all of nothing and of NaN")
	}
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"topk":     {ErrArgument, func() { Topk(s, x, 4, 1, true) }},
		"kth":      {ErrArgument, func() { Kthvalue(s, x, 0, 1) }},
		"median":   {ErrShape, func() { Median(s, From([]float32{}, 0, 2), 0) }},
		"amax":     {ErrShape, func() { Amax(s, From([]float32{}, 0, 2), 0) }},
		"sort dim": {ErrShape, func() { Sort(s, x, 2, false) }},
		"booleans": {ErrDType, func() { Sub(s, m, m) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
