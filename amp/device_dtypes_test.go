package amp

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// dtypeCases are calls that choose the dtype of their result, or write into a tensor of another one.
var dtypeCases = map[string]func(s *Scope, x *Tensor, dt DType) *Tensor{
	"to":           To,
	"sum":          func(s *Scope, x *Tensor, dt DType) *Tensor { return SumAs(s, x, dt, 0) },
	"sum of all":   func(s *Scope, x *Tensor, dt DType) *Tensor { return SumAs(s, x, dt) },
	"prod":         func(s *Scope, x *Tensor, dt DType) *Tensor { return ProdDim(s, x, 1, dt) },
	"cumsum":       func(s *Scope, x *Tensor, dt DType) *Tensor { return Cumsum(s, x, 1, dt) },
	"cumprod":      func(s *Scope, x *Tensor, dt DType) *Tensor { return Cumprod(s, x, 0, dt) },
	"softmax":      func(s *Scope, x *Tensor, dt DType) *Tensor { return Softmax(s, x, 1, dt) },
	"softmin":      func(s *Scope, x *Tensor, dt DType) *Tensor { return Softmin(s, x, 0, dt) },
	"log_softmax":  func(s *Scope, x *Tensor, dt DType) *Tensor { return LogSoftmax(s, x, 1, dt) },
	"norm":         func(s *Scope, x *Tensor, dt DType) *Tensor { return VectorNorm(s, x, 2, []int{1}, false, dt) },
	"largest norm": func(s *Scope, x *Tensor, dt DType) *Tensor { return VectorNorm(s, x, math.Inf(1), []int{1}, false, dt) },
	"smallest norm": func(s *Scope, x *Tensor, dt DType) *Tensor {
		return VectorNorm(s, x, math.Inf(-1), []int{0}, false, dt)
	},
	"add in place":  into(AddInPlace),
	"copy in place": into(CopyInPlace),
	"promoted":      func(s *Scope, x *Tensor, dt DType) *Tensor { return Mul(s, x, Full(s, dt, 3, 1, x.Dim(1))) },
}

// into is a change of a tensor of the other dtype.
func into(f func(s *Scope, dst, x *Tensor)) func(s *Scope, x *Tensor, dt DType) *Tensor {
	return func(s *Scope, x *Tensor, dt DType) *Tensor {
		y := Ones(s, dt, x.Shape()...)
		f(s, y, x)
		return y
	}
}

// TestEveryOpOnDeviceOfTwoDTypes compares them on the device of HALFTONE_COMPARE_DEVICE and on the CPU, from every dtype to every other,
// with their gradients.
func TestEveryOpOnDeviceOfTwoDTypes(t *testing.T) {
	device, ran := compared(t), 0
	all := []DType{Float16, BFloat16, Float32, Float64, Int64, Bool}
	rounding := map[DType]float64{Float16: 0x1p-11, BFloat16: 0x1p-8, Float32: 0x1p-24, Float64: 0x1p-53, Int64: 0, Bool: 0}
	for name, f := range dtypeCases {
		for _, from := range all {
			for _, to := range all {
				t.Run(fmt.Sprintf("%s/%v to %v", name, from, to), func(t *testing.T) {
					c := opCase{inputs: []input{{shape: []int{5, 67}, lo: 0.5, hi: 1.5}}, terms: 67}
					c.call = func(s *Scope, in []*Tensor) *Tensor { return f(s, in[0], to) }
					if want, got, ok := onBoth(t, device, func(s *Scope) outcome {
						return c.outcomeOf(s, c.draws(s, from, 7), func(y *Tensor) *Tensor { return project(s, y, 7) })
					}); ok {
						ran++
						c.agree(t, want, got, max(rounding[from], rounding[to]), 2)
					}
				})
			}
		}
	}
	if ran < 300 {
		t.Errorf("only %d calls were compared", ran)
	}
}

// TestEveryOpOnDeviceOfMixedInputs gives the last input of every row, or all but the first, another dtype than the others.
// Rows of backward passes are called with the dtypes that their forward pass had.
func TestEveryOpOnDeviceOfMixedInputs(t *testing.T) {
	device, ran := compared(t), 0
	pairs := [][2]DType{{Float32, Float16}, {Float16, Float32}, {BFloat16, Float16}, {Float32, Float64}, {Float64, BFloat16}}
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		if strings.Contains(o.Name, "backward") || slices.Contains(gradientRows, o.Name) {
			return
		}
		for _, pair := range pairs {
			for first := 1; first < len(c.inputs); first += max(1, len(c.inputs)-2) {
				want, got, ok := onBoth(t, device, func(s *Scope) outcome {
					in := append(c.draws(s, pair[0], 5)[:first], c.draws(s, pair[1], 5)[first:]...)
					return c.outcomeOf(s, in, func(y *Tensor) *Tensor { return project(s, y, 7) })
				})
				if ok {
					ran++
					c.agree(t, want, got, 0x1p-8, max(o.Bound, 1))
				}
			}
		}
	})
	if ran < 300 {
		t.Errorf("only %d calls were compared", ran)
	}
}
