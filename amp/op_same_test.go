package amp

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestEveryOpOfOneTensorTwice gives every row that a program can call one tensor for two of its inputs: the result is that of two tensors with the
// same numbers, and the gradient the sum of theirs.
func TestEveryOpOfOneTensorTwice(t *testing.T) {
	called, ran := caseNames(), 0
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		if !slices.Contains(called, o.Name) {
			return
		}
		for j := range c.inputs {
			for i := range j {
				if slices.Equal(c.inputs[i].shape, c.inputs[j].shape) {
					ran++
					c.compareTwice(t, i, j)
				}
			}
		}
	})
	if ran < 110 {
		t.Errorf("only %d pairs", ran)
	}
}

// compareTwice gives the case the numbers of input j for input i too, once in a tensor of its own and once in the same one.
func (c opCase) compareTwice(t *testing.T, i, j int) {
	t.Helper()
	run := func(same bool) (y []float64, grads [][]float64) {
		root := NewScope(Seed(9))
		defer root.Close()
		in := c.draws(root, Float64, 5)
		in[i] = in[j]
		if !same {
			in[i] = fromFloat64s(Float64, in[j].Float64s(), in[j].shape).RequireGrad()
		}
		out := c.call(root, in)
		if out.needs {
			project(root, out, 7).Backward()
		}
		for _, x := range in {
			g := make([]float64, x.Len())
			if x.Grad() != nil {
				g = x.Grad().Float64s()
			}
			grads = append(grads, g)
		}
		return out.Float64s(), grads
	}
	what := fmt.Sprintf("inputs %d and %d", i, j)
	y, want := run(false)
	again, got := run(true)
	if k := differ(y, again); k >= 0 {
		t.Errorf("%s, element %d: %v, of two tensors %v", what, k, again[k], y[k])
	}
	for k := range want[j] {
		want[j][k] += want[i][k]
	}
	want[i] = want[j]
	for n, list := range want {
		for k, w := range list {
			if g := got[n][k]; !(math.Abs(g-w) <= 1e-12*(1+math.Abs(w))) {
				t.Errorf("%s, gradient of input %d, element %d: %v, of two tensors %v", what, n, k, g, w)
				break
			}
		}
	}
}
