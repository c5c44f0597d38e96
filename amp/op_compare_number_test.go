package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// TestCompareWithNumber against x == c, x != c, x < c, x <= c, x > c and x >= c of PyTorch 2.15.
func TestCompareWithNumber(t *testing.T) {
	s := NewScope()
	defer s.Close()
	floats := func(dt DType) *Tensor {
		return FromFloat64s(dt, []float64{float64(float32(0.1)), 1, 2.5, math.Inf(1), math.NaN()}, 5)
	}
	integers, booleans := From([]int64{1, 2, 3, -4}), From([]bool{true, false})
	atTenth := [6]string{"10000", "01111", "00000", "10000", "01110", "11110"}
	at2Half := [6]string{"00100", "11011", "11000", "11100", "00010", "00110"}
	for _, c := range []struct {
		x    *Tensor
		c    float64
		want [6]string
	}{
		{floats(Float16), 0.1, atTenth}, {floats(BFloat16), 0.1, atTenth}, {floats(Float32), 0.1, atTenth},
		{floats(Float64), 0.1, [6]string{"00000", "11111", "00000", "00000", "11110", "11110"}},
		{floats(Float16), 2.5, at2Half}, {floats(BFloat16), 2.5, at2Half}, {floats(Float32), 2.5, at2Half},
		{floats(Float16), 1e9, [6]string{"00010", "11101", "11100", "11110", "00000", "00010"}}, // infinite in float16
		{integers, 2, [6]string{"0100", "1011", "1001", "1101", "0010", "0110"}},
		{integers, 2.5, [6]string{"0000", "1111", "1101", "1101", "0010", "0010"}},
		{integers, math.Inf(1), [6]string{"0000", "1111", "1111", "1111", "0000", "0000"}},
		{booleans, 1, [6]string{"10", "01", "01", "11", "00", "10"}},
		{booleans, 0.5, [6]string{"00", "11", "01", "01", "10", "10"}},
		{From([]int64{1<<53 + 1}), 1 << 53, [6]string{"0", "1", "0", "0", "1", "1"}},
	} {
		for i, f := range []func(s *Scope, x *Tensor, c float64) *Tensor{EqScalar, NeScalar, LtScalar, LeScalar, GtScalar, GeScalar} {
			y := f(s, c.x, c.c)
			got := ""
			for _, v := range Values[bool](y) {
				got += map[bool]string{true: "1", false: "0"}[v]
			}
			if got != c.want[i] || !slices.Equal(y.Shape(), c.x.Shape()) {
				t.Errorf("comparison %d of %v with %v: %s, want %s", i, c.x.DType(), c.c, got, c.want[i])
			}
		}
	}
	if err := Maybe(func() { GtScalar(s, nil, 1) }); !errors.Is(err, ErrArgument) {
		t.Errorf("of nil: %v", err)
	}
	closed := NewScope()
	closed.Close()
	if err := Maybe(func() { GtScalar(closed, integers, 1) }); !errors.Is(err, ErrClosed) {
		t.Errorf("in a closed scope: %v", err)
	}
}
