package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// TestBitwise: the operators against Go's, far shifts and negative ones too, of broadcast numbers and of bools, which stay bools.
func TestBitwise(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, b := []int64{5, -3, math.MinInt64, math.MaxInt64, 0, -1}, []int64{3, 0, 1, 63, 64, -1}
	x, y := From(a), From(b)
	shift := func(b int64) uint64 { return min(uint64(b), 64) }
	for name, c := range map[string]struct {
		got  *Tensor
		want func(a, b int64) int64
	}{
		"and":   {BitwiseAnd(s, x, y), func(a, b int64) int64 { return a & b }},
		"or":    {BitwiseOr(s, x, y), func(a, b int64) int64 { return a | b }},
		"xor":   {BitwiseXor(s, x, y), func(a, b int64) int64 { return a ^ b }},
		"not":   {BitwiseNot(s, x), func(a, _ int64) int64 { return ^a }},
		"left":  {BitwiseLeftShift(s, x, y), func(a, b int64) int64 { return a << shift(b) }},
		"right": {BitwiseRightShift(s, x, y), func(a, b int64) int64 { return a >> shift(b) }},
		"one":   {BitwiseAnd(s, x, Scalar(int64(6))), func(a, _ int64) int64 { return a & 6 }},
		"bools": {BitwiseXor(s, x, Gt(s, y, Scalar(int64(0)))), func(a, b int64) int64 { return a ^ int64(min(max(b, 0), 1)) }},
	} {
		want := make([]int64, len(a))
		for i := range a {
			want[i] = c.want(a[i], b[i])
		}
		if got := Values[int64](c.got); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	p, q := From([]bool{true, true, false, false}), From([]bool{true, false, true, false})
	for name, c := range map[string]struct {
		got  *Tensor
		want []bool
	}{
		"and": {BitwiseAnd(s, p, q), []bool{true, false, false, false}}, "or": {BitwiseOr(s, p, q), []bool{true, true, true, false}},
		"xor": {BitwiseXor(s, p, q), []bool{false, true, true, false}}, "not": {BitwiseNot(s, p), []bool{false, false, true, true}},
	} {
		if got := Values[bool](c.got); !slices.Equal(got, c.want) {
			t.Errorf("%s of bools: %v, want %v", name, got, c.want)
		}
	}
	half := s.Autocast(Float16)
	if y := BitwiseOr(half, x, y); y.dt != Int64 {
		t.Errorf("autocast makes it %v", y.dt)
	}
	for name, f := range map[string]func(){
		"floats":          func() { BitwiseAnd(s, To(s, x, Float32), y) },
		"not of floats":   func() { BitwiseNot(s, To(s, x, Float32)) },
		"shifts of bools": func() { BitwiseLeftShift(s, p, q) },
	} {
		if err := Maybe(f); !errors.Is(err, ErrDType) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Maybe(func() { BitwiseAnd(s, x, From([]int64{1, 2})) }); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
}
