package amp

import (
	"slices"
	"testing"
)

// TestPartsAreAddedInOneOrder: the gradients of pieces of a tensor are added last, whether they are put together or, for who asks what
// became of each or for their graph, are not. Sums of three terms are rounded by their order.
func TestPartsAreAddedInOneOrder(t *testing.T) {
	grad := func(opts ...BackwardOption) []float64 {
		s := NewScope(On("cpu"), Seed(2))
		defer s.Close()
		x := Randn(s, Float32, 0, 1, 4, 9).RequireGrad()
		h := MulScalar(s, x, 1.1)
		y := Add(s, Square(s, h), Sigmoid(s, h))
		turned := Cat(s, 1, Narrow(s, h, 1, 4, 5), Neg(s, Narrow(s, h, 1, 0, 4)))
		y = Add(s, Add(s, Tanh(s, h), y), Mul(s, turned, turned))
		Sum(s, Add(s, y, Exp(s, h))).Backward(opts...)
		return x.Grad().Float64s()
	}
	want := grad()
	for name, opts := range map[string][]BackwardOption{"traced": {TraceGradients(&GradientTrace{})}, "with a graph": {CreateGraph()}} {
		if got := grad(opts...); !slices.Equal(got, want) {
			t.Errorf("%s: %v\nwant %v", name, got, want)
		}
	}
}
