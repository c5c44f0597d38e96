package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/limits"
)

// Tensors made of a rule. See Rand for their life.

// Zeros returns a tensor of zeros.
func Zeros(s *Scope, dt DType, shape ...int) *Tensor { return full(s, "Zeros", dt, 0, shape) }

// Ones returns a tensor of ones.
func Ones(s *Scope, dt DType, shape ...int) *Tensor { return full(s, "Ones", dt, 1, shape) }

// FullLike returns a tensor of x's shape and dtype that holds v everywhere; see Full.
func FullLike(s *Scope, x *Tensor, v float64) *Tensor { return fullLike(s, "FullLike", x, v) }

func fullLike(s *Scope, op string, x *Tensor, v float64) *Tensor {
	x.live(op)
	return full(s, op, x.dt, v, x.shape)
}

// ZerosLike returns zeros of x's shape and dtype.
func ZerosLike(s *Scope, x *Tensor) *Tensor { return fullLike(s, "ZerosLike", x, 0) }

// OnesLike returns ones of x's shape and dtype.
func OnesLike(s *Scope, x *Tensor) *Tensor { return fullLike(s, "OnesLike", x, 1) }

// checkHolds refuses numbers that integers do not hold, even truncated.
func checkHolds(op string, dt DType, numbers ...float64) {
	for _, v := range numbers {
		if dt == Int64 && !(v >= math.MinInt64 && v < -math.MinInt64) {
			fail(op, ErrArgument, "use a number that int64 holds, or a float dtype", "%v as int64", v)
		}
	}
}

// Arange returns start, start+step, … up to but without end, worked out in float64 and rounded once. It panics with ErrArgument unless
// step leads from start to end, all three are finite, and int64 holds them if it is the dtype.
func Arange(s *Scope, dt DType, start, end, step float64) *Tensor {
	checkHolds("Arange", dt, start, end, step)
	n := math.Ceil((end - start) / step)
	switch {
	case math.IsInf(start, 0) || math.IsInf(end, 0) || math.IsInf(step, 0):
		fail("Arange", ErrArgument, "use finite numbers", "start %v, end %v, step %v", start, end, step)
	case step == 0 || !(n >= 0):
		fail("Arange", ErrArgument, "use a step that leads from start to end", "start %v, end %v, step %v", start, end, step)
	case n > limits.Elements:
		fail("Arange", ErrArgument, "use a larger step", "start %v, end %v, step %v: too many elements", start, end, step)
	}
	return made(s, "Arange", dt, []int{int(n)}, func(i int) float64 { return start + float64(float64(i)*step) })
}

// Linspace returns n numbers from start to end, both included, at equal distances. It panics with ErrArgument for a negative n, and for
// numbers that int64 does not hold if it is the dtype.
func Linspace(s *Scope, dt DType, start, end float64, n int) *Tensor {
	if n < 0 {
		fail("Linspace", ErrArgument, "use a number of 0 and above", "%d numbers", n)
	}
	checkHolds("Linspace", dt, start, end)
	step := (end - start) / float64(max(n-1, 1))
	return made(s, "Linspace", dt, []int{n}, func(i int) float64 {
		if i > 0 && i >= n/2 { // from the other end, so that the last is end exactly
			return end - float64(float64(n-1-i)*step)
		}
		return start + float64(float64(i)*step)
	})
}

// Eye returns a matrix [rows columns] with ones on the diagonal, else zeros.
func Eye(s *Scope, dt DType, rows, columns int) *Tensor {
	return made(s, "Eye", dt, []int{rows, columns}, func(i int) float64 {
		if i/columns == i%columns {
			return 1
		}
		return 0
	})
}

// made fills a tensor by a function of the element's number.
func made(s *Scope, op string, dt DType, shape []int, f func(i int) float64) *Tensor {
	s.alive(op)
	rule := func(n int) []float64 {
		data := make([]float64, n)
		for i := range data {
			data[i] = f(i)
		}
		return data
	}
	return s.born(byRule(op, s.root.dev, dt, shape, rule, (*Tensor).setFloat64s))
}

// indices returns an int64 vector that belongs to the scope.
func indices(s *Scope, v []int64) *Tensor {
	return s.Own(byRule("indices", s.root.dev, Int64, []int{len(v)}, func(int) []int64 { return v }, setElements[int64]))
}
