package amp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A torchPromotion is what PyTorch makes of two dtypes, or of one and a number (promotions.py): nothing where it refuses.
type torchPromotion struct {
	Op     string
	In     []DType
	Single bool // the second operand has no dimensions
	Number *float64
	Out    *DType
	Values []string
}

// promotionCalls call what the file names as other tests do not.
var promotionCalls = map[string]func(s *Scope, x, y *Tensor) *Tensor{
	"where": func(s *Scope, x, y *Tensor) *Tensor {
		return Where(s, From([]bool{true, false, true, false, true}), x, y)
	},
	"clamp_max":    func(s *Scope, x, y *Tensor) *Tensor { return ClampTensors(s, x, nil, y) },
	"clamp_tensor": func(s *Scope, x, y *Tensor) *Tensor { return ClampTensors(s, x, y, y) },
	"addcmul":      func(s *Scope, x, y *Tensor) *Tensor { return Addcmul(s, x, x, y, 3) },
	"dot":          Dot, "outer": Outer,
	"cross":   func(s *Scope, x, y *Tensor) *Tensor { return Cross(s, Narrow(s, x, 0, 0, 3), Narrow(s, y, 0, 0, 3), 0) },
	"minimum": Minimum, "maximum": Maximum,
	"sum":    func(s *Scope, x, _ *Tensor) *Tensor { return Sum(s, x) },
	"prod":   func(s *Scope, x, _ *Tensor) *Tensor { return Prod(s, x) },
	"mean":   func(s *Scope, x, _ *Tensor) *Tensor { return Mean(s, x) },
	"cumsum": func(s *Scope, x, _ *Tensor) *Tensor { return Cumsum(s, x, 0) }, "cumprod": func(s *Scope, x, _ *Tensor) *Tensor { return Cumprod(s, x, 0) },
	"any": func(s *Scope, x, _ *Tensor) *Tensor { return Any(s, x) }, "all": func(s *Scope, x, _ *Tensor) *Tensor { return All(s, x) },
	"max":  func(s *Scope, x, _ *Tensor) *Tensor { y, _ := Max(s, x, 0); return y },
	"sort": func(s *Scope, x, _ *Tensor) *Tensor { y, _ := Sort(s, x, 0, false); return y },
}

var promotionNumbers = map[string]func(s *Scope, x *Tensor, c float64) *Tensor{
	"add_scalar": AddScalar, "mul_scalar": MulScalar, "pow_scalar": PowScalar, "clamp_min": ClampMin,
	"__rpow__":  func(s *Scope, x *Tensor, c float64) *Tensor { return ScalarPow(s, c, x) },
	"__rdiv__":  func(s *Scope, x *Tensor, c float64) *Tensor { return ScalarDiv(s, c, x) },
	"clamp":     func(s *Scope, x *Tensor, c float64) *Tensor { return Clamp(s, x, -c, c) },
	"threshold": func(s *Scope, x *Tensor, c float64) *Tensor { return Threshold(s, x, c, c) },
}

// torchRefuses holds what is allowed here though PyTorch refuses it.
var torchRefuses = map[string]string{
	"cross":        "its inputs are brought to one dtype, as by autocast",
	"sub":          "a boolean is 0 or 1 where it meets a number",
	"clamp_tensor": "booleans have an order: minimum and maximum take them",
}

// TestTorchPromotions holds arithmetic of all pairs of dtypes, and with numbers, to PyTorch's dtypes and values. A whole number is an
// integer here whether it is written 2 or 2.0.
func TestTorchPromotions(t *testing.T) {
	var file struct{ Cases []torchPromotion }
	readTorch(t, "testdata/torch/promotions.json.gz", &file)
	if len(file.Cases) < 2230 {
		t.Errorf("only %d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		s := NewScope()
		c.check(t, s)
		s.Close()
	}
}

func (c *torchPromotion) check(t *testing.T, s *Scope) {
	t.Helper()
	what := fmt.Sprintf("%s of %v", c.Op, c.In)
	var y *Tensor
	err := Maybe(func() { y = c.call(s) })
	switch {
	case c.Out == nil && (err == nil && torchRefuses[c.Op] == "" || err != nil && !errors.Is(err, ErrDType)):
		t.Errorf("%s: %v, %v, torch refuses", what, y, err)
	case c.Out == nil:
	case err != nil || y.DType() != *c.Out:
		t.Errorf("%s: %v, %v, torch has %v", what, y, err, *c.Out)
	default:
		c.compare(t, what, y)
	}
}

func (c *torchPromotion) call(s *Scope) *Tensor {
	x := FromFloat64s(c.In[0], []float64{1, 0, 3, -2, 5}, 5)
	if c.Number != nil {
		return promotionNumbers[c.Op](s, x, *c.Number)
	}
	args := []*Tensor{x, nil}[:len(c.In)]
	switch {
	case c.Single:
		args[1] = fromFloat64s(c.In[1], []float64{2}, nil)
	case len(c.In) == 2:
		args[1] = FromFloat64s(c.In[1], []float64{1, 1, 2, -3, 1}, 5)
	}
	if call := promotionCalls[c.Op]; call != nil {
		return call(s, x, append(args, nil)[1])
	}
	call := torchCalls[c.Op]
	if c.Op == "square" {
		call = torchUnary(Square)
	}
	return call(s, nil, args)[0]
}

// compare allows two units in the last place: powers and quotients round in another order.
func (c *torchPromotion) compare(t *testing.T, what string, y *Tensor) {
	t.Helper()
	got := y.Float64s()
	for i, text := range c.Values {
		w, err := strconv.ParseFloat(text, 64)
		if err != nil || len(got) != len(c.Values) {
			t.Errorf("%s: %v, torch has %v", what, got, strings.Join(c.Values, " "))
			return
		}
		bound := 0.0
		if y.dt.IsFloat() && !math.IsInf(w, 0) {
			bound = 4 * halfULP(y.dt, w)
		}
		if !(distance(got[i], w) <= bound) {
			t.Errorf("%s: element %d is %v, torch has %v", what, i, got[i], w)
			return
		}
	}
}

// TestIntegerPowers checks powers of integers at the ends of their range: modulo 2⁶⁴, and 0 of what is no integer.
func TestIntegerPowers(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]int64{2, -2, 3, -1, -1, 1, 0, 0, 2, 7, math.MinInt64, 2})
	y := From([]int64{62, 63, 41, -3, -4, -9, 0, -1, -1, 1, 2, 64})
	if got, want := Values[int64](Pow(s, x, y)), []int64{1 << 62, math.MinInt64, -420491770248316829, -1, 1, 1, 1, 0, 0, 7, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"a negative power":   {ErrArgument, func() { PowScalar(s, x, -1) }},
		"booleans' power":    {ErrDType, func() { Pow(s, From([]bool{true}), From([]bool{true})) }},
		"a boolean negated":  {ErrDType, func() { Neg(s, From([]bool{true})) }},
		"dot of 3 and 2":     {ErrShape, func() { Dot(s, From([]int64{1, 2, 3}), From([]int64{1, 2})) }},
		"dot of matrices":    {ErrShape, func() { Dot(s, FromFloat64s(Int64, []float64{1, 2}, 1, 2), FromFloat64s(Int64, []float64{1, 2}, 1, 2)) }},
		"cross of fours":     {ErrShape, func() { Cross(s, From([]int64{1, 2, 3, 4}), From([]int64{1, 2, 3, 4}), 0) }},
		"half an addcmul":    {ErrDType, func() { Addcmul(s, x, x, x, 0.5) }},
		"a value of 2.5":     {ErrArgument, func() { Threshold(s, x, 1, 2.5) }},
		"one less the other": {ErrDType, func() { Sub(s, From([]bool{true}), From([]bool{true})) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
