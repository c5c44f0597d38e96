package amp

import (
	"fmt"
	"slices"
)

// Activation checkpointing: memory for time. A checkpointed part of a model keeps nothing of its forward pass but its inputs; backward
// runs it again, under the autocast state and with the random numbers of the first time (Chen et al., 2016, and
// torch.utils.checkpoint).

// opCheckpoint stands in the graph for a part that is run again; it is no row, since its ops are.
var opCheckpoint = &Op{Name: "checkpoint", Args: []string{"input"}}

// A replay is what it takes to run a checkpointed part again.
type replay struct {
	s        *Scope
	draw     StreamState
	from     *graphStream // where the first run drew that a graph has recorded
	fn       func(s *Scope, in ...*Tensor) *Tensor
	versions []uint32 // of the inputs
	kept     *memories
}

// Checkpoint returns fn(s, in...) and keeps none of the tensors made on the way; Backward runs fn again when it gets there. The result
// and all gradients, those of parameters that fn uses by itself included, are bit for bit those of a plain call (those of second order
// up to the order of sums): the second run has the autocast state, the evaluation mode and the random numbers of the first. fn must do
// the same each time, and call its ops in the scope it is given: with ErrArgument it panics where a scope around it was used. Backward
// panics with ErrStale if an input was changed in place since. Running statistics of batch norms move once, in the first run (PyTorch's move
// twice); layers of your own that count their calls ask s.Recomputing, and those that compute with what training moves use s.Remember.
func Checkpoint(s *Scope, fn func(s *Scope, in ...*Tensor) *Tensor, in ...*Tensor) *Tensor {
	s.alive("checkpoint")
	if fn == nil {
		fail("checkpoint", ErrArgument, "pass the part of the forward to run", "the function is nil")
	}
	for i, t := range in {
		if t != nil {
			s.admit(opCheckpoint, i, t)
		}
	}
	if s.noGrad {
		return fn(s, in...)
	}
	r := &replay{s: s, draw: s.rng.State(), from: s.recorded(), fn: fn, kept: &memories{owner: s}}
	first := s.Child()
	defer first.arena.drop()
	once := first.NoGrad().calls("checkpoint")
	once.casts, once.remembers = s, r.kept
	y := fn(once, in...)
	y.live("checkpoint")
	once.calling.result(y, in...)
	out := y.alias(y.shape, y.strides)
	out.scope = s
	s.arena.own(out)
	if out.dt.IsFloat() {
		out.node = &node{op: opCheckpoint, seq: nodeSeq.Add(1), in: in, out: out, path: s.path, replay: r}
		out.needs = true
		for _, t := range in {
			version := uint32(0)
			if t != nil {
				t.keep()
				version = t.st.version.Load()
			}
			r.versions = append(r.versions, version)
		}
	}
	return out
}

// Recomputing says whether a part given to Checkpoint runs for the second time, for backward, or an op of the program's own for a trace
// (TraceRounding): what a layer counts or averages over its calls was done by the first. BatchNorm moves its running statistics once.
func (s *Scope) Recomputing() bool {
	if s == nil {
		s.alive("Recomputing")
	}
	return s.again
}

// fresh refuses inputs that were changed since.
func (r *replay) fresh(n *node) {
	for i, t := range n.in {
		if t == nil {
			continue
		}
		t.live("checkpoint backward")
		if now := t.st.version.Load(); now != r.versions[i] {
			panic(&Error{Op: "checkpoint backward", Kind: ErrStale, Module: n.path,
				Detail: fmt.Sprintf("input %d, %sof shape %v, is at version %d, backward needs version %d", i, quoted(t.name), t.shape, now, r.versions[i]),
				Fix:    "call Backward before changing it (opt.Step, SetValues), or run the forward pass again"})
		}
	}
}

// rerun runs a checkpointed part again, with a graph this time, and passes the gradient of its result on to it. Its nodes are younger
// than all that wait, so they are visited before any other.
func (e *engine) rerun(n *node, dy *Tensor) {
	n.replay.fresh(n)
	c := n.replay.s.derive()
	c.phase, c.inherit, c.noGrad, c.again = backwardPhase, nil, false, true
	c.rng = &Stream{seed: n.replay.draw.Seed, copyOf: n.replay.s.rng, from: n.replay.from}
	c.rng.Load(n.replay.draw)
	c.arena, c.gen = e.s.arena.child(e.s.gen), 0
	c.casts = n.replay.s
	c.rounding = e.s.rounding // was followed in its first run
	c.remembers, c.recalls = nil, &recalling{of: n.replay.kept, had: map[any]int{}}
	mark := nodeSeq.Load()
	y := n.replay.fn(c, n.in...)
	if y.dt != n.out.dt || !slices.Equal(y.shape, n.out.shape) {
		fail("checkpoint", ErrGrad, "make the function do the same each time: no state of its own, random numbers from its scope alone",
			"the second run gave %v %v, the first %v %v", y.dt, y.shape, n.out.dt, n.out.shape)
	}
	if !e.cfg.create {
		e.reruns = append(e.reruns, rerunMemory{c.arena, mark})
	}
	if e.tracer != nil {
		e.tracer.move(n, y)
	}
	if y.needs {
		e.deliver(y, dy)
	}
}

// A rerunMemory holds the tensors of a part that was run again until its nodes, those after mark, are visited.
type rerunMemory struct {
	arena *arena
	mark  uint64
}

// freeReruns returns the memory of parts that are done: the next node is older than theirs.
func (e *engine) freeReruns() {
	for k := len(e.reruns) - 1; k >= 0; k-- {
		m := e.reruns[k]
		if e.queue.Len() > 0 && e.queue[0].seq > m.mark {
			return
		}
		e.keepHeld(m.arena)
		m.arena.drop()
		e.reruns = e.reruns[:k]
	}
}

// keepHeld moves gradients that are still to be read out of memory that goes.
func (e *engine) keepHeld(a *arena) {
	for t := range e.held {
		if a.disown(t) {
			e.s.arena.own(t)
		}
	}
}
