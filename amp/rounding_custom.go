package amp

import (
	"fmt"
	"slices"
)

// Ops of the program's own, whose code runs again for a trace: it may do anything, and must not break the program for that.

// custom follows one with a gradient of its own. Its Forward runs again without the lock, since it may call ops that are followed, and draws
// the numbers that it drew first.
func (r *rounding) custom(s *Scope, c *Call, in []*Tensor, rl rule, from StreamState) {
	if !c.Out.dt.IsFloat() {
		return
	}
	r.follow(s, c, in, rl, func(s *Scope, at Attrs, in []*Tensor) *Tensor {
		s = s.derive()
		s.rng = NewStream(0)
		s.rng.Load(from)
		if !r.done { // finish holds no lock
			r.mu.Unlock()
			defer r.mu.Lock()
		}
		return s.runCustom(c.Op, in)
	})
}

// attempt is Maybe for what may be the program's own code: any panic of it is an error.
func attempt(op string, f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("amp: %s: %v", op, p)
		}
	}()
	return Maybe(f)
}

// like returns t, a result in float64, which is to have the shape of the one that it is held against.
func (t *Tensor) like(shape []int) *Tensor {
	if !slices.Equal(t.shape, shape) {
		fail("TraceRounding", ErrShape, "let the shape of a result depend on no rounded number", "the shape is %v, in float64 %v", shape, t.shape)
	}
	return t
}
