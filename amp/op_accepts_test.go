package amp

import (
	"fmt"
	"testing"
)

// TestCallsThatTorchTakes: shapes and dtypes beyond the rule that torch takes all the same; the values are torch 2.15's.
func TestCallsThatTorchTakes(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, 2, 3, 4, 5, 6}, 2, 3).RequireGrad()
	w := From([]float32{1, 0, -1}).RequireGrad()
	nothing, wide := From([]float32{}), From([]float64{})
	half := s.Autocast(BFloat16)
	for _, c := range []struct {
		name string
		y    *Tensor
		want string
	}{
		{"linear of a vector of weights", Linear(s, x, w, nil), "float32 [2] [-2 -2]"},
		{"linear of two vectors", Linear(s, w, w, nil), "float32 [] [2]"},
		{"linear of batches", Linear(s, Reshape(s, x, 1, 2, 3), w, nil), "float32 [1 2] [-2 -2]"},
		{"linear under autocast", Linear(half, x, w, nil), "bfloat16 [2] [-2 -2]"},
		{"cat after nothing", Cat(s, 1, nothing, x), "float32 [2 3] [1 2 3 4 5 6]"},
		{"cat around nothing", Cat(s, 0, x, nothing, x), "float32 [4 3] [1 2 3 4 5 6 1 2 3 4 5 6]"},
		{"cat after nothing of a wider dtype", Cat(s, -1, wide, x), "float64 [2 3] [1 2 3 4 5 6]"},
		{"cat of nothing", Cat(s, 0, nothing, nothing), "float32 [0] []"},
		{"lerp by a float64 number", Lerp(s, w, Neg(s, w), Scalar(0.25)), "float32 [3] [0.5 0 -0.5]"},
		{"lerp by an integer", Lerp(s, w, Neg(s, w), Scalar(int64(1))), "float32 [3] [-1 0 1]"},
		{"lerp of halves by a float32 number", Lerp(s, To(s, w, Float16), To(s, x, Float16), Scalar(float32(0.5))), "float16 [2 3] [1 1 1 2.5 2.5 2.5]"},
	} {
		if got := fmt.Sprint(c.y.DType(), c.y.Shape(), c.y.Float64s()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	weight := Scalar(0.5).RequireGrad()
	Sum(s, Add(s, Sum(s, Lerp(s, w, MulScalar(s, w, 2), weight)), Sum(s, Linear(s, Cat(s, 0, nothing, x), w, nil)))).Backward()
	if g := weight.Grad(); g.DType() != Float64 || g.Item() != 0 {
		t.Errorf("gradient %v of the weight", g)
	}
	if got := fmt.Sprint(w.Grad().Float64s(), x.Grad().Float64s()); got != "[6.5 8.5 10.5] [1 0 -1 1 0 -1]" {
		t.Errorf("gradients %s", got)
	}
	for name, f := range map[string]func(){
		"a vector of weights with a bias": func() { Linear(s, x, w, Scalar(float32(1))) },
		"lerp by a vector of float64":     func() { Lerp(s, w, w, From([]float64{1, 1, 1})) },
		"cat of a vector and a matrix":    func() { Cat(s, 0, From([]float32{1}), x) },
		"cat of an empty matrix":          func() { Cat(s, 1, Reshape(s, nothing, 0, 5), x) },
	} {
		if err := Maybe(f); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
