package cudart_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// numbers draws n numbers of both signs, many of which are equal, and puts special ones at places of their own.
func numbers(n int, special ...float64) []float64 {
	s := amp.NewScope(amp.On("cpu"), amp.Seed(uint64(n)))
	defer s.Close()
	out := amp.Rand(s, amp.Float64, -4, 4, n).Float64s()
	for i := range out {
		if i%3 == 0 {
			out[i] = math.Trunc(out[i])
		}
	}
	for k, v := range special {
		if n > 0 {
			out[(k+1)*(n-1)/(len(special)+1)] = v
		}
	}
	return out
}

// A lineShape is a shape and a dimension of it.
type lineShape struct {
	shape []int
	dim   int
}

func (l lineShape) len() int {
	n := 1
	for _, d := range l.shape {
		n *= d
	}
	return n
}

// lineShapes have short lines and long ones, along the last dimension or another: a tile of a scan has 2048 elements, one of a sort 1024.
var lineShapes = []lineShape{
	{[]int{5}, 0}, {[]int{3, 70}, 1}, {[]int{2, 1025}, 1}, {[]int{2500, 2}, 0}, {[]int{5000}, 0}, {[]int{2, 129, 3}, 1}, {[]int{0, 4}, 1}, {[]int{4, 0}, 1}, {[]int{}, 0},
}

// onBoth runs f on the CPU and on the device and returns the elements of the results. Nothing may run on the host.
func onBoth(t *testing.T, device string, f func(s *amp.Scope) *amp.Tensor) (want, got []float64) {
	t.Helper()
	run := func(on string) []float64 {
		s := amp.NewScope(amp.On(on), amp.Seed(4))
		defer s.Close()
		return f(s.NoGrad()).Float64s()
	}
	before := cudart.Fallbacks()
	want, got = run("cpu"), run(device)
	for op, n := range cudart.Fallbacks() {
		if n > before[op] {
			t.Errorf("%s ran on the host", op)
		}
	}
	return want, got
}

// placed makes a tensor on the scope's device.
func placed(s *amp.Scope, dt amp.DType, v []float64, shape ...int) *amp.Tensor {
	return amp.FromFloat64s(dt, v, shape...).To(s)
}

// drawn is a leaf of numbers divided by over, others for each i.
func drawn(s *amp.Scope, dt amp.DType, i int, over float64, shape ...int) *amp.Tensor {
	size := 1
	for _, d := range shape {
		size *= d
	}
	x := numbers(size + i)[i:]
	for j := range x {
		x[j] /= over
	}
	return placed(s, dt, x, shape...).RequireGrad()
}

var everyDType = []amp.DType{amp.Float16, amp.BFloat16, amp.Float32, amp.Float64, amp.Int64, amp.Bool}

// TestOrderOnDevice sorts lines of every length, and looks for what stands first, in the middle and so far: the places are the CPU's, those
// of equals and of NaN included.
func TestOrderOnDevice(t *testing.T) {
	device := gpu(t)
	rows := map[string]func(s *amp.Scope, x *amp.Tensor, dim, n int) *amp.Tensor{
		"up":     func(s *amp.Scope, x *amp.Tensor, dim, _ int) *amp.Tensor { return amp.Argsort(s, x, dim, false) },
		"down":   func(s *amp.Scope, x *amp.Tensor, dim, _ int) *amp.Tensor { return amp.Argsort(s, x, dim, true) },
		"median": func(s *amp.Scope, x *amp.Tensor, dim, n int) *amp.Tensor { return second(amp.Median(s, x, dim)) },
		"first": func(s *amp.Scope, x *amp.Tensor, dim, n int) *amp.Tensor {
			return second(amp.Topk(s, x, min(3, n), dim, true))
		},
		"last": func(s *amp.Scope, x *amp.Tensor, dim, n int) *amp.Tensor {
			return second(amp.Topk(s, x, min(200, n), dim, false))
		},
		"many": func(s *amp.Scope, x *amp.Tensor, dim, n int) *amp.Tensor {
			return second(amp.Topk(s, x, min(300, n), dim, true))
		},
		"greatest": func(s *amp.Scope, x *amp.Tensor, dim, _ int) *amp.Tensor { return second(amp.Cummax(s, x, dim)) },
		"smallest": func(s *amp.Scope, x *amp.Tensor, dim, _ int) *amp.Tensor { return second(amp.Cummin(s, x, dim)) },
	}
	for name, f := range rows {
		for i, dt := range everyDType {
			for k, c := range lineShapes {
				n := c.len()
				if len(c.shape) > 0 {
					n = c.shape[c.dim]
				}
				if n == 0 && name == "median" || len(c.shape) == 0 || k > 4 && i > 2 {
					continue
				}
				special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1)}
				if k%2 == 0 {
					special = append(special, math.NaN(), 1, math.NaN())
				}
				if !dt.IsFloat() {
					special = nil
				}
				v := numbers(c.len(), special...)
				want, got := onBoth(t, device, func(s *amp.Scope) *amp.Tensor { return f(s, placed(s, dt, v, c.shape...), c.dim, n) })
				for j := range want {
					if want[j] != got[j] {
						t.Errorf("%s %v %v along %d: element %d is %v, on the CPU %v", name, dt, c.shape, c.dim, j, got[j], want[j])
						break
					}
				}
			}
		}
	}
}

func second(_, t *amp.Tensor) *amp.Tensor { return t }

// TestScansOnDevice adds and multiplies lines of every length up.
func TestScansOnDevice(t *testing.T) {
	device := gpu(t)
	rows := map[string]func(s *amp.Scope, x *amp.Tensor, dim int) *amp.Tensor{
		"cumsum":       func(s *amp.Scope, x *amp.Tensor, dim int) *amp.Tensor { return amp.Cumsum(s, x, dim) },
		"cumprod":      func(s *amp.Scope, x *amp.Tensor, dim int) *amp.Tensor { return amp.Cumprod(s, x, dim) },
		"logcumsumexp": amp.LogCumSumExp,
		"wide":         func(s *amp.Scope, x *amp.Tensor, dim int) *amp.Tensor { return amp.Cumsum(s, x, dim, amp.Float64) },
	}
	eps := map[amp.DType]float64{amp.Float16: 0x1p-10, amp.BFloat16: 0x1p-7, amp.Float32: 0x1p-23, amp.Float64: 1e-12}
	for name, f := range rows {
		for _, dt := range everyDType {
			if !dt.IsFloat() && (name == "logcumsumexp" || name == "wide") {
				continue
			}
			for k, c := range lineShapes {
				for _, special := range [][]float64{nil, {math.Inf(1)}, {math.Inf(-1), math.NaN()}, {math.Inf(-1), math.Inf(1)}} {
					if special != nil && (k < 3 || k > 4 || !dt.IsFloat()) || len(c.shape) == 0 {
						continue
					}
					v := numbers(c.len(), special...)
					for i := range v {
						if name == "cumprod" && v[i] == v[i] && !math.IsInf(v[i], 0) { // around 1
							v[i] = math.Copysign(math.Pow(2, v[i]/8), v[i])
							if !dt.IsFloat() {
								v[i] = math.Trunc(3 * v[i])
							}
						}
					}
					want, got := onBoth(t, device, func(s *amp.Scope) *amp.Tensor { return f(s, placed(s, dt, v, c.shape...), c.dim) })
					if at := farApart(want, got, eps[dt], max(1e-6*eps[dt], 1e-15*float64(len(v)))); at >= 0 {
						t.Errorf("%s %v %v along %d, %v: element %d is %v, on the CPU %v", name, dt, c.shape, c.dim, special, at, got[at], want[at])
					}
				}
			}
		}
	}
}

// farApart returns the first place where two lists differ by more than a relative and an absolute bound, -1 if none.
func farApart(want, got []float64, relative, absolute float64) int {
	if len(want) != len(got) {
		return 0
	}
	for i, w := range want {
		g := got[i]
		if g != w && (g == g || w == w) && !(math.Abs(g-w) <= relative*math.Abs(w)+absolute) {
			return i
		}
	}
	return -1
}

// TestScansKeepTheirRange: tiles come together without overflow where the elements one after another have none, and an infinite element
// times 0 is not a number from there on.
func TestScansKeepTheirRange(t *testing.T) {
	device := gpu(t)
	const n = 3000
	falls := make([]float64, n) // 1e-38 … then 1e38 …
	for i := range falls {
		falls[i] = 1e38
		if i < n/2 {
			falls[i] = 1e-38
		}
	}
	both := make([]float64, n)
	copy(both, numbers(n))
	both[10], both[2500] = 0, math.Inf(1)
	for name, v := range map[string][]float64{"falls": falls, "both": both} {
		want, got := onBoth(t, device, func(s *amp.Scope) *amp.Tensor { return amp.Cumprod(s, placed(s, amp.Float32, v), 0) })
		if name == "falls" { // the CPU's float64 underflows on the way, and stays 0
			if got[n-1] != 1 && got[n-1] != 0 && math.Abs(got[n-1]-1) > 1e-3 {
				t.Errorf("the product of numbers that cancel is %v", got[n-1])
			}
			want, got = want[:n/2], got[:n/2]
		}
		if at := farApart(want, got, 1e-6, 1e-45); at >= 0 {
			t.Errorf("%s: element %d is %v, on the CPU %v", name, at, got[at], want[at])
		}
	}
	// The gradient of cumprod is a recurrence, whose factors may overflow where nothing goes through them.
	for name, v := range map[string][]float64{"falls": falls, "both": both[:2499], "plain": numbers(n)} {
		run := func(on string) []float64 {
			s := amp.NewScope(amp.On(on))
			defer s.Close()
			x := placed(s, amp.Float64, v).RequireGrad()
			amp.Sum(s, amp.Cumprod(s, amp.Tanh(s, x), 0)).Backward()
			return x.Grad().Float64s()
		}
		want, got := run("cpu"), run(device)
		if at := farApart(want, got, 1e-9, 1e-300); at >= 0 {
			t.Errorf("gradient, %s: element %d is %v, on the CPU %v", name, at, got[at], want[at])
		}
	}
}

// TestScanOfManyTiles: what comes before a tile is itself found tile by tile, 256 of them at a time.
func TestScanOfManyTiles(t *testing.T) {
	device := gpu(t)
	v := numbers(256*2048 + 3000)
	want, got := onBoth(t, device, func(s *amp.Scope) *amp.Tensor { return amp.Cumsum(s, placed(s, amp.Float32, v), 0) })
	if at := farApart(want, got, 1e-6, 1e-6); at >= 0 {
		t.Errorf("element %d is %v, on the CPU %v", at, got[at], want[at])
	}
}

// TestScansRepeat: the same numbers give the same bits.
func TestScansRepeat(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device)).NoGrad()
	defer s.Close()
	x := placed(s, amp.Float32, numbers(5000))
	a := fmt.Sprint(amp.Cumsum(s, x, 0).Float64s(), amp.LogCumSumExp(s, x, 0).Float64s())
	if b := fmt.Sprint(amp.Cumsum(s, x, 0).Float64s(), amp.LogCumSumExp(s, x, 0).Float64s()); a != b {
		t.Error("two runs differ")
	}
}
