package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// captureRefuses holds the rows that no captured step may have, and why.
var captureRefuses = map[string]string{
	"masked_select": "the mask says how many elements there are, and nothing is computed while a step is recorded",
}

// TestEveryOpOnDeviceCaptured records every row that a program can call as a step of its own, with its gradients, and replays it with other
// inputs: bit for bit what the same steps come to one by one, random numbers too.
func TestEveryOpOnDeviceCaptured(t *testing.T) {
	device, called := compared(t), caseNames()
	defer SetDefaultDevice(SetDefaultDevice(device))
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		if slices.Contains(called, o.Name) {
			c.compareCaptured(t, Float32, captureRefuses[o.Name] != "")
		}
	})
}

// TestLargeOnDeviceCaptured does it with the large cases.
func TestLargeOnDeviceCaptured(t *testing.T) {
	defer SetDefaultDevice(SetDefaultDevice(compared(t)))
	for name, c := range largeCases() {
		t.Run(name, func(t *testing.T) { c.compareCaptured(t, Float16, false) })
	}
}

func (c opCase) compareCaptured(t *testing.T, dt DType, refused bool) {
	t.Helper()
	var got [][][]float64
	err := Maybe(func() { got = c.steps(dt, true) })
	if refused != (err != nil) || refused && !errors.Is(err, ErrCapture) {
		t.Fatalf("refused %v: %v", refused, err)
	}
	if refused {
		return
	}
	for step, lists := range c.steps(dt, false) {
		for k, list := range lists {
			if i := differ(list, got[step][k]); i >= 0 {
				t.Errorf("step %d, list %d element %d: %v, without a graph %v", step, k, i, got[step][k][i], list[i])
			}
		}
	}
}

// differ returns the first place where two lists have other bits, -1 if there is none.
func differ(a, b []float64) int {
	for i, v := range a {
		if math.Float64bits(v) != math.Float64bits(b[i]) {
			return i
		}
	}
	return -1
}

// steps does a case three times, with two sets of inputs in turn, and returns the results and gradients of all but the first, which is the first
// run of a graph.
func (c opCase) steps(dt DType, captured bool) (out [][][]float64) {
	root := NewScope(Seed(9))
	defer root.Close()
	own := new(caseTensors)
	fixtures = own
	defer func() { fixtures = nil }()
	in := c.draws(root, dt, 5)
	var made []*Tensor
	step := func(s *Scope) {
		own.at = 0
		y := c.call(s, in)
		made = []*Tensor{y}
		if y.needs {
			made = append(made, Grad(s, []*Tensor{Sum(s, Mul(s, y, y))}, in)...)
		}
	}
	again := func() { step(root) }
	if captured {
		g := root.Capture(step)
		defer g.Close()
		again = g.Replay
	} else {
		step(root)
	}
	for k := range uint64(2) {
		for i, x := range c.draws(root, dt, 6-k) {
			Assign(in[i], x)
		}
		again()
		var lists [][]float64
		for _, x := range made {
			lists = append(lists, x.Float64s())
		}
		out = append(out, lists)
	}
	return out
}
