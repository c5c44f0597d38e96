package optim

import (
	"encoding/binary"

	"github.com/halftone-ml/halftone/amp"
)

// A Later is a live state whose numbers of steps a device may still be counting.
type Later struct {
	// Counters have such numbers, one each, once all that was queued when LiveStateLater was called is done. There is none where the
	// host knows.
	Counters []*amp.Tensor
	// Tensors are those of the state, and, while there are Counters, such that the first step of a parameter has made and may have skipped.
	Tensors map[string]*amp.Tensor

	state *State
	of    []int // which of the counters a parameter's number of updates is the distance from; -1 for none
}

// LiveStateLater returns what LiveState would, for one who does not wait for the device.
func (o *base) LiveStateLater() *Later {
	o.made("LiveStateLater")
	if o.counter == nil || !o.unsure && !o.apart() {
		st := o.LiveState()
		return &Later{Tensors: st.Tensors, state: st}
	}
	l := &Later{Counters: []*amp.Tensor{o.counter}}
	l.state = o.described(0, func(p *amp.Tensor) slot {
		s, known := o.state[p]
		of := -1
		switch {
		case s.own != nil:
			of, l.Counters = len(l.Counters), append(l.Counters, s.own)
		case known:
			of = 0
		}
		l.of = append(l.of, of)
		return s
	})
	l.Tensors = l.state.Tensors
	return l
}

// State returns the state without its tensors, given the bytes of the Counters. It is asked once.
func (l *Later) State(counters [][]byte) *State {
	st := l.state
	st.Tensors = nil
	if len(l.Counters) == 0 {
		return st
	}
	number := func(i int) int { return int(binary.NativeEndian.Uint64(counters[i])) }
	st.Steps = number(0)
	at := 0
	for _, g := range st.Groups {
		for i := range g.Params {
			if of := l.of[at]; of >= 0 {
				g.Params[i].Step += number(of)
			}
			at++
		}
	}
	return st
}

// apart says whether a parameter is counted by itself.
func (o *base) apart() bool {
	for _, st := range o.state {
		if st.own != nil {
			return true
		}
	}
	return false
}
