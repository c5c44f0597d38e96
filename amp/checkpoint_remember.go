package amp

import "sync"

// What layers remember of the first run of a checkpointed part, so that the second computes the same.

// memories are the tensors that one checkpointed part has remembered, by key in the order of the calls.
type memories struct {
	mu    sync.Mutex
	owner *Scope // around the part, whose memory they are
	kept  map[any][][]*Tensor
}

// A recalling is a second run: how many calls of a key it has had.
type recalling struct {
	mu  sync.Mutex
	of  *memories
	had map[any]int
}

// Remember returns the tensors that f makes. Where s belongs to a part given to Checkpoint, the second run returns those of the first
// instead, without calling f: the first call under a key those of the first call, and so on. It is for layers that compute with a state of
// theirs which training moves, as SpectralNorm's singular vectors are: other runs of the layer may have moved it before backward comes.
// The key is the layer, or what else only it has. f is called in s, without a graph; what it returns must not be changed in place later. In
// a second run that asks more often than the first it panics with ErrGrad.
func (s *Scope) Remember(key any, f func(s *Scope) []*Tensor) []*Tensor {
	s.alive("Remember")
	var list []*Tensor
	if s.recalls != nil {
		list = s.recalls.next(s, key)
	} else {
		list = f(s.NoGrad())
	}
	if s.remembers != nil {
		s.remembers.keep(key, list)
	}
	return list
}

// keep notes tensors, in memory that outlives the first run.
func (m *memories) keep(key any, list []*Tensor) {
	own := make([]*Tensor, len(list))
	for i, t := range list {
		t.live("Remember")
		own[i] = t.alias(t.shape, t.strides)
		own[i].scope = m.owner
		m.owner.arena.own(own[i])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[any][][]*Tensor{}
	}
	m.kept[key] = append(m.kept[key], own)
}

func (r *recalling) next(s *Scope, key any) []*Tensor {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.had[key]
	if r.had[key]++; i >= len(r.of.kept[key]) {
		panic(&Error{Op: "checkpoint", Kind: ErrGrad, Module: s.path, Detail: "the second run used a layer's state more often than the first",
			Fix: "make the function do the same each time: no state of its own, random numbers from its scope alone"})
	}
	return r.of.kept[key][i]
}
