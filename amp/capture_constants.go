package amp

import (
	"math"
	"slices"
)

// Constants of a captured step. What the host makes by a rule, as Arange does, is the same in every run: the first run leaves it on the
// device, and the recording copies it from there.

// A graphConstant is one of them.
type graphConstant struct {
	values *Tensor
	sum    uint64
}

// byRule returns a new tensor with n values that are the same in every run of a step.
func byRule[T float64 | int64](op string, dev Device, dt DType, shape []int, rule func(n int) []T, fill func(t *Tensor, values []T)) *Tensor {
	t, whole := alloc(op, dev, dt, shape), false
	defer t.giveUp(&whole)
	values := rule(t.Len())
	if g := CapturingOn(t); g != nil {
		g.constant(op, t, fingerprint(values), func(t *Tensor) { fill(t, values) })
	} else {
		fill(t, values)
	}
	whole = true
	return t
}

// constant is byRule of a step that is being captured.
func (g *Graph) constant(op string, t *Tensor, sum uint64, fill func(t *Tensor)) {
	if g.stage != graphRecord {
		keep := alloc("Capture", t.st.dev, t.dt, t.shape).SetName("constant")
		g.constants = append(g.constants, graphConstant{keep, sum})
		fill(keep)
		t.copyFrom(op, keep)
		return
	}
	if g.made == len(g.constants) || !g.constants[g.made].is(t, sum) {
		fail("Capture", ErrCapture, "make it before Capture, or each time the same ones in the same order",
			"%s makes a %v tensor of shape %v when the step is recorded that the step's first run did not make there", op, t.dt, t.shape)
	}
	t.copyFrom(op, g.constants[g.made].values)
	g.made++
}

// is says whether the constant is what a tensor is to hold.
func (c graphConstant) is(t *Tensor, sum uint64) bool {
	return c.sum == sum && c.values.dt == t.dt && slices.Equal(c.values.shape, t.shape)
}

// fingerprint tells lists of numbers apart: FNV-1a of their bits, 64 at a time.
func fingerprint[T float64 | int64](values []T) uint64 {
	sum := uint64(14695981039346656037)
	for _, v := range values {
		sum = (sum ^ math.Float64bits(float64(v))) * 1099511628211
	}
	return sum
}

func (g *Graph) freeConstants() {
	for _, c := range g.constants {
		c.values.Free()
	}
	g.constants = nil
}
