package optim

import (
	"encoding/binary"

	"github.com/halftone-ml/halftone/amp"
)

// A Later is a live state whose number of steps a device may still be counting.
type Later struct {
	// Counter has that number as its only element once all that was queued when LiveStateLater was called is done. It is nil where the
	// host knows.
	Counter *amp.Tensor
	// Tensors are those of the state, and, while Counter is there, such that the first step of a parameter has made and may have skipped.
	Tensors map[string]*amp.Tensor

	state  *State
	counts []bool // whether a parameter's number of updates is the distance from Counter's
}

// LiveStateLater returns what LiveState would, for one who does not wait for the device.
func (o *base) LiveStateLater() *Later {
	if o.counter == nil || !o.unsure {
		st := o.LiveState()
		return &Later{Tensors: st.Tensors, state: st}
	}
	l := &Later{Counter: o.counter}
	l.state = o.described(0, func(p *amp.Tensor) slot {
		s, known := o.state[p]
		l.counts = append(l.counts, known)
		return s
	})
	l.Tensors = l.state.Tensors
	return l
}

// State returns the state without its tensors, given the bytes of Counter. It is asked once.
func (l *Later) State(counter []byte) *State {
	st := l.state
	st.Tensors = nil
	if l.Counter == nil {
		return st
	}
	st.Steps = int(binary.NativeEndian.Uint64(counter))
	at := 0
	for _, g := range st.Groups {
		for i := range g.Params {
			if l.counts[at] {
				g.Params[i].Step += st.Steps
			}
			at++
		}
	}
	return st
}
