package amp

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// TestKeepDims of reductions of all kinds.
func TestKeepDims(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, 5, 2, 4, 3, 6}, 2, 3)
	for _, c := range []struct {
		name   string
		reduce func(s *Scope, x *Tensor, dims ...int) *Tensor
		dims   []int
		shape  string
		want   string
	}{
		{"amax", Amax, []int{1}, "[2 1]", "[5 6]"},
		{"amin from the end", Amin, []int{-2}, "[1 3]", "[1 3 2]"},
		{"sum of all", Sum, nil, "[1 1]", "[21]"},
		{"any", Any, []int{0, 1}, "[1 1]", "[1]"},
		{"count", CountNonzero, []int{0}, "[1 3]", "[2 2 2]"},
	} {
		y := KeepDims(s, c.reduce, x, c.dims...)
		if fmt.Sprint(y.Shape()) != c.shape || fmt.Sprint(y.Float64s()) != c.want {
			t.Errorf("%s: %v %v, want %s %s", c.name, y.Shape(), y.Float64s(), c.shape, c.want)
		}
	}
	if y := KeepDims(s, Amax, Scalar[float32](3)); len(y.Shape()) != 0 || y.Item() != 3 {
		t.Errorf("of a number: %v", y)
	}
	w := From([]float32{1, 2, 3}).RequireGrad()
	Sum(s, Sub(s, w, KeepDims(s, LogSumExp, w, 0))).Backward()
	if g := w.Grad().Float64s(); math.Abs(g[0]+g[1]+g[2]) > 1e-6 {
		t.Errorf("gradients %v", g)
	}
	for _, f := range []func(){func() { KeepDims(s, nil, x) }, func() { KeepDims(s, Amax, x, 1, 1) }, func() { KeepDims(s, Amax, x, 2) }} {
		if err := Maybe(f); err == nil {
			t.Error("not refused")
		}
	}
}

// TestWholeExtremes: Amax and Amin of integers beyond float64 and of bools, over several dimensions.
func TestWholeExtremes(t *testing.T) {
	s := NewScope()
	defer s.Close()
	const big = 1 << 60
	x := From([]int64{big + 1, big + 2, -3, 4, 5, -big - 6, 7, 8}, 2, 2, 2)
	for _, c := range []struct {
		y           *Tensor
		shape, want string
	}{
		{Amax(s, x), "[]", fmt.Sprint([]int64{big + 2})},
		{Amin(s, x), "[]", fmt.Sprint([]int64{-big - 6})},
		{Amax(s, x, 0, 2), "[2]", fmt.Sprint([]int64{big + 2, 8})},
		{Amin(s, x, -2), "[2 2]", fmt.Sprint([]int64{-3, 4, 5, -big - 6})},
	} {
		if fmt.Sprint(c.y.Shape()) != c.shape || fmt.Sprint(Values[int64](c.y)) != c.want {
			t.Errorf("%v %v, want %s %s", c.y.Shape(), Values[int64](c.y), c.shape, c.want)
		}
	}
	low, high := Aminmax(s, From([]bool{true, false, true, true}, 2, 2), 1)
	if fmt.Sprint(Values[bool](low), Values[bool](high)) != "[false true] [true true]" {
		t.Errorf("of bools %v %v", low, high)
	}
	if err := Maybe(func() { Amax(s, From([]int64{}, 0, 2), 0) }); !errors.Is(err, ErrShape) {
		t.Errorf("over nothing: %v", err)
	}
}

// TestIsClose has AllClose's answers, element by element.
func TestIsClose(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	a, b := From([]float32{1, 1, inf, inf, nan, 0, 1}), From([]float32{1.00001, 1.1, inf, -inf, nan, 1e-9, inf})
	y := IsClose(s, a, b, 1e-4, 1e-8)
	if got := fmt.Sprint(Values[bool](y)); got != "[true false true false false true false]" {
		t.Error(got)
	}
	if y := IsClose(s, From([]float32{1, 2}, 2, 1), From([]float32{1, 2}), 0, 0); fmt.Sprint(y.Shape(), Values[bool](y)) != "[2 2] [true false false true]" {
		t.Errorf("broadcast: %v", y)
	}
	if err := Maybe(func() { IsClose(s, a, b, -1, 0) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}

// TestDiagEmbed: what Diagonal takes is put back, with its gradient, and all else is 0.
func TestDiagEmbed(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, offset := range []int{0, 1, -1, 3, -2} {
		for _, n := range []int{1, 2, 5} {
			x := Randn(s, Float64, 0, 1, 3, n).RequireGrad()
			y := DiagEmbed(s, x, offset)
			m := n + max(offset, -offset)
			if fmt.Sprint(y.Shape()) != fmt.Sprint([]int{3, m, m}) || CountNonzero(s, y).Item() != float64(3*n) ||
				fmt.Sprint(Diagonal(s, y, offset, -2, -1).Float64s()) != fmt.Sprint(x.Float64s()) {
				t.Errorf("%d numbers at %d: %v", n, offset, y)
			}
			Sum(s, Mul(s, y, y)).Backward()
			if got, want := x.Grad().Float64s(), MulScalar(s, Detach(s, x), 2).Float64s(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d numbers at %d: gradient %v, want %v", n, offset, got, want)
			}
		}
	}
	for _, f := range []func(){func() { DiagEmbed(s, Scalar[float32](1), 0) }, func() { DiagEmbed(s, From([]float32{1}), 1<<40) }} {
		if err := Maybe(f); err == nil {
			t.Error("not refused")
		}
	}
}
