package amp

import (
	"fmt"
	"math"
	"testing"
)

// Rows that answer, with truths or indices, have no gradient and so no case among opCases: here they are given every dtype.

// An answerCase is a call of a row that answers.
type answerCase struct {
	shapes [][]int
	below  float64 // inputs are whole numbers from 0 on below that, not drawn from answerNumbers
	call   func(s *Scope, in []*Tensor) *Tensor
}

// answerNumbers are few, so that there are equal ones.
var answerNumbers = []float64{math.NaN(), math.Inf(-1), -3, -1, math.Copysign(0, -1), 0, 0.5, 1, 1, 2, 3, math.Inf(1)}

// draws returns the inputs in a dtype; int64 has no NaN and no infinities, but numbers that float64 counts only in steps.
func (c answerCase) draws(dt DType) []*Tensor {
	r := NewScope(Seed(11))
	defer r.Close()
	in := make([]*Tensor, len(c.shapes))
	for i, shape := range c.shapes {
		v := Rand(r, Float64, 0, 1, shape...).Float64s()
		for k, x := range v {
			switch {
			case c.below > 0:
				v[k] = math.Floor(x * c.below)
			case dt == Int64:
				v[k] = float64(int(x*7)-3) * 0x1p60
			default:
				v[k] = answerNumbers[int(x*float64(len(answerNumbers)))]
			}
		}
		in[i] = fromFloat64s(dt, v, shape)
	}
	return in
}

// answerCases are the calls of each row, at sizes that fill vectors and leave some over.
var answerCases = map[string][]answerCase{}

func init() {
	large, row := []int{3, 1031}, []int{1031}
	for name, f := range map[string]func(*Scope, *Tensor) *Tensor{"isnan": IsNaN, "isinf": IsInf, "isfinite": IsFinite, "logical_not": LogicalNot} {
		answerCases[name] = []answerCase{{[][]int{large}, 0, func(s *Scope, in []*Tensor) *Tensor { return f(s, in[0]) }}}
	}
	for name, f := range map[string]func(s *Scope, a, b *Tensor) *Tensor{"eq": Eq, "ne": Ne, "lt": Lt, "le": Le, "gt": Gt, "ge": Ge,
		"logical_and": LogicalAnd, "logical_or": LogicalOr, "logical_xor": LogicalXor} {
		two := func(s *Scope, in []*Tensor) *Tensor { return f(s, in[0], in[1]) }
		answerCases[name] = []answerCase{{[][]int{large, large}, 0, two}, {[][]int{large, row}, 0, two}, {[][]int{{3, 1}, row}, 0, two},
			{[][]int{large, row}, 0, func(s *Scope, in []*Tensor) *Tensor { return f(s, in[0], Eq(s, in[1], in[1])) }}, // of two dtypes
			{[][]int{row, large}, 0, func(s *Scope, in []*Tensor) *Tensor { return f(s, Eq(s, in[0], in[0]), in[1]) }}}
	}
	for _, f := range []func(s *Scope, a, b *Tensor) *Tensor{BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseLeftShift, BitwiseRightShift} {
		two := func(s *Scope, in []*Tensor) *Tensor { return f(s, in[0], in[1]) }
		answerCases["bitwise"] = append(answerCases["bitwise"], answerCase{[][]int{large, row}, 0, two}, answerCase{[][]int{{3, 1}, row}, 67, two})
	}
	answerCases["bitwise"] = append(answerCases["bitwise"], answerCase{[][]int{large}, 0, func(s *Scope, in []*Tensor) *Tensor { return BitwiseNot(s, in[0]) }})
	for name, f := range map[string]func(s *Scope, x *Tensor, dims ...int) *Tensor{"all": All, "any": Any} {
		for _, dims := range [][]int{{}, {0}, {1}, {0, 2}} {
			answerCases[name] = append(answerCases[name], answerCase{[][]int{{3, 37, 4}}, 0, func(s *Scope, in []*Tensor) *Tensor { return f(s, in[0], dims...) }})
		}
	}
	for name, f := range map[string]func(s *Scope, x *Tensor, dim int) *Tensor{
		"argmax": ArgMax, "argmin": ArgMin,
		"argsort":      func(s *Scope, x *Tensor, dim int) *Tensor { return Argsort(s, x, dim, true) },
		"cummax_index": func(s *Scope, x *Tensor, dim int) *Tensor { _, i := Cummax(s, x, dim); return i },
		"cummin_index": func(s *Scope, x *Tensor, dim int) *Tensor { _, i := Cummin(s, x, dim); return i },
		"median_index": func(s *Scope, x *Tensor, dim int) *Tensor { _, i := Median(s, x, dim); return i },
		"topk_index":   func(s *Scope, x *Tensor, dim int) *Tensor { _, i := Topk(s, x, 2, dim, true); return i },
	} {
		for dim := range 3 {
			answerCases[name] = append(answerCases[name], answerCase{[][]int{{3, 37, 4}}, 0, func(s *Scope, in []*Tensor) *Tensor { return f(s, in[0], dim) }})
		}
	}
	answerCases["topk_index"] = append(answerCases["topk_index"], answerCase{[][]int{{3, 37, 4}}, 0, func(s *Scope, in []*Tensor) *Tensor { _, i := Kthvalue(s, in[0], 5, 1); return i }})
	for _, right := range []bool{false, true} {
		answerCases["bucketize"] = append(answerCases["bucketize"], answerCase{[][]int{large, {5}}, 0, func(s *Scope, in []*Tensor) *Tensor {
			bounds, _ := Sort(s, in[1], 0, false)
			return Bucketize(s, in[0], bounds, right)
		}})
	}
	answerCases["max_pool_indices"] = []answerCase{{[][]int{{2, 3, 9, 11}}, 0, func(s *Scope, in []*Tensor) *Tensor {
		_, i := MaxPool2dIndices(s, in[0], 3, Padding(1))
		return i
	}}, {[][]int{{3, 2, 65}}, 0, func(s *Scope, in []*Tensor) *Tensor {
		_, i := MaxPool1dIndices(s, in[0], 2)
		return i
	}}, {[][]int{{1, 3, 5, 4, 7}}, 0, func(s *Scope, in []*Tensor) *Tensor {
		_, i := MaxPool3dIndices(s, in[0], 2, Stride(1), Dilation(2, 1, 3))
		return i
	}}, {[][]int{{3, 9, 11}}, 0, func(s *Scope, in []*Tensor) *Tensor {
		_, i := AdaptiveMaxPool2dIndices(s, in[0], 4, 3)
		return i
	}}}
	answerCases["one_hot"] = []answerCase{{[][]int{{3, 17}}, 2, func(s *Scope, in []*Tensor) *Tensor { return OneHot(s, in[0], 5) }}}
	for _, last := range []bool{false, true} {
		answerCases["bag_index"] = append(answerCases["bag_index"], answerCase{[][]int{{37}}, 300, func(s *Scope, in []*Tensor) *Tensor {
			offsets, _ := Sort(s, Sub(s, in[0], Amin(s, in[0])), 0, false)
			if last {
				offsets = Cat(s, 0, offsets, Full(s, in[0].dt, 400, 1))
			}
			return BagIndex(s, offsets, 400, last)
		}})
	}
	answerCases["ravel_index"] = []answerCase{{[][]int{{3, 17}, {17}}, 2, func(s *Scope, in []*Tensor) *Tensor {
		return IndexPut(s, Zeros(s, Int64, 2, 2), in, Ones(s, Int64, 3, 17), true)
	}}}
}

// TestEveryOpOnDeviceThatAnswers compares rows that answer on the device of HALFTONE_COMPARE_DEVICE and on the CPU, in every dtype, with
// numbers that are none and through views: what the CPU refuses the device refuses too.
func TestEveryOpOnDeviceThatAnswers(t *testing.T) {
	device, ran := compared(t), 0
	for name, cases := range answerCases {
		for i, c := range cases {
			for _, dt := range []DType{Float16, BFloat16, Float32, Float64, Int64, Bool} {
				for _, views := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%d %v views %t", name, i, dt, views), func(t *testing.T) {
						want, got, ok := onBoth(t, device, func(s *Scope) outcome {
							in := c.draws(dt)
							for k, x := range in {
								if views {
									in[k] = gapped(s, x)
								}
							}
							y := c.call(s, in)
							return outcome{y.dt, [][]float64{y.Float64s()}}
						})
						if ok {
							ran++
							opCase{}.agree(t, want, got, 0x1p-24, 1)
						}
					})
				}
			}
		}
	}
	if ran < 700 {
		t.Errorf("only %d calls were compared", ran)
	}
}
