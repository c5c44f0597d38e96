package amp

import "github.com/halftone-ml/halftone/internal/optional"

// A gradientRecord is what RecordGradients noted in the scopes of one root.
type gradientRecord struct {
	traceRecord[*GradientTrace]
	loose int // backward passes outside Steps so far
}

// RecordGradients traces backward passes as TraceGradients does, without a line in the loop: each Backward of a loss of this scope and
// those derived from it, in every n-th training step; with 0 in the first alone. Outside Steps it is every n-th pass. What a traced pass
// costs, TraceGradients says; what a captured step replays is not traced. NewScope panics with ErrArgument where n is negative. See
// Scope.GradientTraces.
func RecordGradients(n int) Option {
	return func(c *config) {
		c.gradients = &gradientRecord{}
		c.gradients.every = everyNth("RecordGradients", n)
	}
}

// GradientTraces returns what RecordGradients noted of the newest training step that it looked at: a trace for each of its backward passes,
// in their order; nil where no pass was looked at.
func (s *Scope) GradientTraces() []*GradientTrace {
	if r := s.known("GradientTraces").root.gradients; r != nil {
		return r.traces()
	}
	return nil
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
	return r.looksAt(n)
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
				t := *c.trace
				r.add(t.Step, &t)
			}
		}()
	}
	if s.rounding != nil {
		s.rounding.backward(t)
	}
	backward(s, []*Tensor{t}, nil, opts)
}
