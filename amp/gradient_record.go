package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/internal/optional"
)

// A gradientRecord is what RecordGradients noted in the scopes of one root.
type gradientRecord struct {
	every int
	mu    sync.Mutex
	loose int              // backward passes outside Steps so far
	step  int              // training step of the traces
	kept  []*GradientTrace // of the newest step that was looked at
}

// RecordGradients traces backward passes as TraceGradients does, without a line in the loop: each Backward of a loss of this scope and
// those derived from it, in every n-th training step; with 0 in the first alone. Outside Steps it is every n-th pass. What a traced pass
// costs, TraceGradients says; what a captured step replays is not traced. NewScope panics with ErrArgument where n is negative. See
// Scope.GradientTraces.
func RecordGradients(n int) Option {
	return func(c *config) { c.gradients = &gradientRecord{every: n} }
}

// GradientTraces returns what RecordGradients noted of the newest training step that it looked at: a trace for each of its backward passes,
// in their order; nil where no pass was looked at.
func (s *Scope) GradientTraces() []*GradientTrace {
	r := s.known("GradientTraces").root.gradients
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*GradientTrace(nil), r.kept...)
}

// wants says whether a backward pass that begins in step is to be traced.
func (r *gradientRecord) wants(step int) bool {
	if r == nil || capturing.Load() != nil {
		return false
	}
	n := step
	if step < 0 {
		r.mu.Lock()
		n = r.loose
		r.loose++
		r.mu.Unlock()
	}
	return n == 0 || r.every > 0 && n%r.every == 0
}

// add keeps a trace, and those of the same training step.
func (r *gradientRecord) add(t GradientTrace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) > 0 && (t.Step < 0 || t.Step != r.step) {
		r.kept = nil
	}
	r.step, r.kept = t.Step, append(r.kept, &t)
}

// recorded runs a backward pass, traced where its root's RecordGradients wants that. A trace of the program's own serves for both.
func recorded(s *Scope, t *Tensor, opts []BackwardOption) {
	if r := s.root.gradients; r.wants(s.step) {
		var c backwardConfig
		optional.Apply("Backward", opts, &c, misused)
		if c.trace == nil {
			c.trace = &GradientTrace{}
			opts = append(opts[:len(opts):len(opts)], TraceGradients(c.trace))
		}
		defer func() { // also of a pass that panics: where it stopped
			if c.trace.Schema != "" {
				r.add(*c.trace)
			}
		}()
	}
	if s.rounding != nil {
		s.rounding.backward(t)
	}
	backward(s, []*Tensor{t}, nil, opts)
}
