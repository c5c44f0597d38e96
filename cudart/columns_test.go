package cudart_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestSumsOfColumns adds up whole numbers, whose sums are exact, over the first dimension: columns in vectors and one by one, few rows and
// splits of many, and columns of a part of a tensor, which begin anywhere.
func TestSumsOfColumns(t *testing.T) {
	device := gpu(t)
	for _, shape := range [][]int{{1, 64}, {2, 4096}, {7, 40}, {100, 72}, {2000, 24}, {3000, 264}, {1500, 3, 16}, {40, 1023}, {300, 2056}} {
		n := 1
		for _, d := range shape {
			n *= d
		}
		in := make([]float64, n)
		for i := range in {
			in[i] = float64(i*7%5 - 2)
		}
		for _, dt := range []amp.DType{amp.Float16, amp.BFloat16, amp.Float32, amp.Float64, amp.Int64, amp.Bool} {
			for _, from := range []int{0, 1, 8} {
				last := len(shape) - 1
				if from >= shape[last] {
					continue
				}
				want, got := onBoth(t, device, func(s *amp.Scope) *amp.Tensor {
					x := amp.Narrow(s, placed(s, dt, in, shape...), last, from, shape[last]-from)
					return amp.Sum(s, x, 0)
				})
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("columns of %v %v from %d: %v, want %v", dt, shape, from, got, want)
				}
			}
		}
	}
}

// TestSpreadsFarFromZero: means and variances of numbers that lie far from 0, whose first is far from the others, or that are all the same.
func TestSpreadsFarFromZero(t *testing.T) {
	device := gpu(t)
	for _, n := range []int{5, 64, 1000, 40000} {
		for name, of := range map[string]func(i int) float64{
			"far":   func(i int) float64 { return 4096 + float64(i*37%64)/64 },
			"first": func(i int) float64 { return map[bool]float64{true: 30000, false: float64(i*37%64) / 64}[i == 0] },
			"same":  func(int) float64 { return 1234 },
		} {
			in := make([]float64, 3*n)
			for i := range in {
				in[i] = of(i % n)
			}
			for dt, u := range map[amp.DType]float64{amp.Float16: 0x1p-11, amp.Float32: 0x1p-24, amp.Float64: 0x1p-38} {
				want, got := onBoth(t, device, func(s *amp.Scope) *amp.Tensor { return amp.Var(s, placed(s, dt, in, 3, n), 1) })
				for i, w := range want {
					if !(math.Abs(got[i]-w) <= 3*u*w) && got[i] != w {
						t.Errorf("%s: variance of %d %v is %v, want %v", name, n, dt, got[i], w)
					}
				}
			}
		}
	}
}

// TestNormGradientsOfManyLines: the gradients of weight and bias are sums over lines in splits, by vectors where lines are made of such.
func TestNormGradientsOfManyLines(t *testing.T) {
	device := gpu(t)
	for _, shape := range [][2]int{{3, 8}, {70, 64}, {700, 100}, {1000, 72}, {257, 776}, {130, 2056}} {
		for dt, u := range map[amp.DType]float64{amp.Float16: 0x1p-10, amp.Float32: 0x1p-20, amp.Float64: 0x1p-44} {
			run := func(on string) []float64 {
				s := amp.NewScope(amp.On(on))
				defer s.Close()
				n := shape[1]
				x := placed(s, dt, numbers(shape[0]*n), shape[0], n).RequireGrad()
				w, b := placed(s, dt, numbers(n), n).RequireGrad(), placed(s, dt, numbers(n), n).RequireGrad()
				dy := placed(s, dt, numbers(shape[0]*n + 1)[1:], shape[0], n)
				amp.Sum(s, amp.Mul(s, amp.LayerNorm(s, x, w, b, 1e-5), dy)).Backward()
				return append(append(x.Grad().Float64s(), w.Grad().Float64s()...), b.Grad().Float64s()...)
			}
			got := run(device)
			for i, w := range run("cpu") {
				if !(math.Abs(got[i]-w) <= u*(math.Abs(w)+8*math.Sqrt(float64(shape[0])))) {
					t.Fatalf("%v lines of %v: element %d is %v, want %v", shape, dt, i, got[i], w)
				}
			}
		}
	}
}
