package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func zeros(shape ...int) *Tensor { return fromFloat64s(Float32, make([]float64, length(shape)), shape) }

// TestChainOrder: (10×100)·(100×5)·(5×50) takes 7,500 multiplications from the left and 75,000 from the right.
func TestChainOrder(t *testing.T) {
	root := NewScope(Record(Decisions))
	defer root.Close()
	y := ChainMatMul(root, zeros(10, 100), zeros(100, 5), zeros(5, 50))
	var shapes [][]int
	for _, e := range root.Trace().Events {
		shapes = append(shapes, e.Out.Shape)
	}
	if !slices.Equal(y.Shape(), []int{10, 50}) || len(shapes) != 2 || !slices.Equal(shapes[0], []int{10, 5}) {
		t.Errorf("products of shapes %v", shapes)
	}
	if one := zeros(2, 3); ChainMatMul(root, one) != one {
		t.Error("one matrix is its own product")
	}
}

func TestAddmm(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, b := From([]float32{1, 2}, 1, 2), From([]float32{3, 4}, 2, 1)
	if v := Addmm(s, From([]float32{float32(math.NaN())}), a, b, 0, 1).Item(); v != 11 {
		t.Errorf("with beta 0 x has a say: %v", v)
	}
	if v := Addmm(s, From([]float32{10}), a, b, 2, 0.5).Item(); v != 25.5 {
		t.Errorf("2·10 + 11/2 = %v", v)
	}
	// One rounding: 2048 + 1 + 1 is 2050, while rounding the product 2049 to float16 first would give 2048 + 1.
	h := func(v ...float64) *Tensor { return fromFloat64s(Float16, v, []int{1, len(v)}) }
	if v := Addmm(s, h(1), h(2048, 1), Transpose(s, h(1, 1), 0, 1), 1, 1).Item(); v != 2050 {
		t.Errorf("rounded more than once: %v", v)
	}
	for name, c := range map[string]struct {
		say string
		f   func()
	}{
		"mm":      {"2 dimensions", func() { MM(s, From([]float32{1}), b) }},
		"bmm":     {"batches the same size", func() { BMM(s, zeros(2, 1, 2), zeros(3, 2, 1)) }},
		"addmm x": {"the product is [1 1]", func() { Addmm(s, From([]float32{1, 2}), a, b, 1, 1) }},
		"mv":      {"need 1 dimensions", func() { MV(s, a, b) }},
		"chain":   {"matrix 1 is [1 2]", func() { ChainMatMul(s, a, a) }},
		"addbmm":  {"[batch m k]", func() { Addbmm(s, a, zeros(2, 1, 2), zeros(3, 2, 1), 1, 1) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
