package amp

// A roundingRecord is what RecordRounding noted in the scopes of one root.
type roundingRecord struct {
	traceRecord[*RoundingTrace]
	start func(s *Scope, r *roundingRecord) follower
}

// loose bounds the numbers that RecordRounding holds outside Steps, where it does not know whether a loss will come: 1 GiB of float64.
const loose = 1 << 27

// RecordRounding traces forward passes as TraceRounding does, without a function around them: what runs in every n-th training step, with 0
// in the first alone, up to each Backward, whose loss it weighs the ops' rounding by; the scale that a GradScaler gave the loss is left
// out. Outside Steps it is what runs up to the first Backward, unless that is more than 2^27 numbers. A step without one leaves nothing.
// What a traced pass costs, TraceRounding says; a captured step is not traced. NewScope panics with ErrArgument where n is negative. See
// Scope.RoundingTraces.
func RecordRounding(n int) Option {
	return func(c *config) {
		c.rounding = &roundingRecord{start: func(s *Scope, r *roundingRecord) follower {
			f := newRounding(s)
			f.record = r
			return f
		}}
		c.rounding.every = everyNth("RecordRounding", n)
	}
}

// RoundingTraces returns what RecordRounding noted of the newest training step that it looked at: a trace for each of its losses that
// Backward was called on, in their order; nil where there was none.
func (s *Scope) RoundingTraces() []*RoundingTrace {
	if r := s.known("RoundingTraces").root.rounding; r != nil {
		return r.traces()
	}
	return nil
}

// begin follows s, the scope of a step or of what is outside of any, if its step is to be looked at.
func (r *roundingRecord) begin(s *Scope) {
	if r == nil {
		return
	}
	s.rounding = nil
	if s.step < 0 || r.looksAt(s.step) {
		s.rounding = r.start(s, r)
	}
}

// backward ends the trace of what led to a loss that Backward is called on, and begins the next; those of TraceRounding end with its function.
func (r *rounding) backward(loss *Tensor) {
	if r.record == nil || r.resting() {
		return
	}
	if loss.node.lossScale() != nil {
		loss = loss.node.in[0]
	}
	// What is no loss of one number, or was made before the step, has no trace; Backward itself says what is wrong.
	var t *RoundingTrace
	if loss.Len() == 1 && Maybe(func() { t = r.finish(loss) }) == nil {
		if t == nil { // another goroutine's Backward ends it
			return
		}
		r.record.add(t.Step, t)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop()
	if r.from.step >= 0 {
		r.begin()
	}
}

// resting is idle for those who do not hold the lock.
func (r *rounding) resting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.idle()
}

// stop gives up what outside of Steps led to no loss.
func (r *rounding) stop() {
	if r.record != nil {
		r.end()
	}
}
