package session

import (
	"encoding/json"
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// A positionPart is an object of a few numbers, kept as JSON: where a stream, a loader, a schedule or a scaler stands.
type positionPart struct {
	made any
	save func() (any, error)
}

func (p *positionPart) value() any                                  { return p.made }
func (p *positionPart) prepare(*store.Store) error                  { return nil }
func (p *positionPart) settled() bool                               { return true }
func (p *positionPart) AppendSmall(b []byte, _ int) ([]byte, error) { return b, nil }
func (p *positionPart) AppendState(b []byte) ([]byte, error) {
	v, err := p.save()
	if err != nil {
		return b, err
	}
	text, err := json.Marshal(v)
	return append(b, text...), err
}

// StateLater returns the state of what a device works at, such as a scaler, without waiting.
func (p *positionPart) StateLater() (of []*amp.Tensor, state func(b []byte, elements [][]byte) ([]byte, error)) {
	l, ok := p.made.(interface {
		StateLater() (of []*amp.Tensor, state func(elements [][]byte) any)
	})
	if !ok {
		now, err := p.AppendState(nil)
		return nil, func(b []byte, _ [][]byte) ([]byte, error) { return append(b, now...), err }
	}
	of, later := l.StateLater()
	return of, func(b []byte, elements [][]byte) ([]byte, error) {
		text, err := json.Marshal(later(elements))
		return append(b, text...), err
	}
}

// A resumer says how an object of numbers is taken up again.
type resumer struct {
	save func() (any, error)
	load func(text []byte) error
	// edited says what to do where the object was first made with the settings kept, and is now made with others: the reader has changed
	// the code. True starts anew.
	edited func(kept, fresh string) bool
}

// position keeps what save returns under name, and calls load with what is kept.
func (c *session) position(op, name string, made any, r resumer, opts []Option) {
	p := &positionPart{made, r.save}
	fresh, err := p.AppendState(nil)
	check(op, err)
	typ := typeName(made)
	o := c.kept(op, name, store.KindPosition, typ, opts)
	if o != nil && o.Structure != string(fresh) && r.edited(o.Structure, string(fresh)) {
		check(op, c.st.Remove(name))
		o = nil
	}
	if o != nil {
		err := r.load(o.State())
		if err == nil {
			check(op, c.st.Attach(o, p))
			c.add(name, p)
			return
		}
		if !rebuild(op, opts) {
			c.refuse(op, name, err.Error())
		}
		check(op, c.st.Remove(name))
	}
	check(op, c.st.Add(&store.Object{Name: name, Kind: store.KindPosition, Type: typ, Structure: string(fresh)}, nil, p, false, nil))
	c.add(name, p)
}

// anew says that an object starts at its beginning.
func anew(name string) func(kept, fresh string) bool {
	return func(kept, fresh string) bool {
		note("%q is made with other settings than before (%s, it was %s) and starts anew", name, fresh, kept)
		return true
	}
}

// Random keeps the position of a random stream, and returns it. The stream of a joined root scope is kept as "random" and its seed without
// being asked for, so that cells with other seeds leave it alone. A stream of another seed than the kept one starts at its beginning.
func Random(name string, r *amp.Stream) *amp.Stream {
	c := use("Random")
	if kept, ok := live[*amp.Stream](c, "Random", name); ok && kept == r {
		return r
	}
	load := func(text []byte) error {
		var st amp.StreamState
		err := json.Unmarshal(text, &st)
		if err == nil {
			r.Load(st)
		}
		return err
	}
	c.position("Random", name, r, resumer{func() (any, error) { return r.State(), nil }, load, anew(name)}, nil)
	return r
}

// Scaler returns a gradient scaler with the scale and the growth tracker that the session keeps under name; the first time, or with
// other options than before, a new one. Its history is that of this cell.
func Scaler(name string, opts ...amp.ScalerOption) *amp.GradScaler {
	c := use("Scaler")
	if g, ok := live[*amp.GradScaler](c, "Scaler", name); ok {
		return g
	}
	g := amp.NewGradScaler(opts...)
	load := func(text []byte) error {
		var st *amp.ScalerState
		if err := json.Unmarshal(text, &st); err != nil {
			return err
		}
		return g.LoadState(st)
	}
	c.position("Scaler", name, g, resumer{func() (any, error) { return g.State(), nil }, load, anew(name)}, nil)
	return g
}

// Loader keeps the position of a data loader, and returns it moved there: the next batch is the one that would have come. l is a
// *dataset.Loader, or anything else with a State that is JSON. A loader that was made with other settings starts at its beginning, and
// one that the position does not fit is refused; see Rebuild.
func Loader[S any, L interface {
	State() S
	Load(S) error
}](name string, l L, opts ...Option) L {
	keepState(use("Loader"), "Loader", name, l, l.State, l.Load, anew(name), opts)
	return l
}

// Schedule keeps the position of a learning-rate schedule, and returns it moved there, with the settings that it had first. Make it as
// always, after session.Optimizer, whose learning rates are then those of the last cell. It serves everything that has a State and a
// LoadState, amp.LevelOptimizer too.
func Schedule[S any, L interface {
	State() S
	LoadState(S) error
}](name string, l L, opts ...Option) L {
	c := use("Schedule")
	keepState(c, "Schedule", name, l, l.State, l.LoadState, func(kept, fresh string) bool {
		if settings(kept) != settings(fresh) {
			note("%q goes on with the settings it was first made with; call session.Drop(%q) before it for others", name, name)
		}
		return false
	}, opts)
	c.restoreRates()
	return l
}

// settings returns the part of a schedule's state that does not move.
func settings(state string) string {
	var st struct {
		Settings json.RawMessage `json:"settings"`
	}
	_ = json.Unmarshal([]byte(state), &st)
	return string(st.Settings)
}

func keepState[S any](c *session, op, name string, made any, state func() S, load func(S) error, edited func(kept, fresh string) bool, opts []Option) {
	c.mu.Lock()
	p := c.parts[name]
	c.mu.Unlock()
	if p != nil {
		if p.value() == made {
			return
		}
		misused(op, "use another name, or what was returned before", "%q is another %T in this cell", name, p.value())
	}
	resume := func(text []byte) error {
		var st S
		if err := json.Unmarshal(text, &st); err != nil {
			return fmt.Errorf("its state can't be read: %w", err)
		}
		return load(st)
	}
	c.position(op, name, made, resumer{func() (any, error) { return state(), nil }, resume, edited}, opts)
}
