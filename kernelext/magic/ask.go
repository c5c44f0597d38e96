package magic

import (
	"context"
	"fmt"
	"maps"
)

// What front ends change without a %amp line: the same settings, by the same rules.

// Force makes an op run in another precision, as `%amp force OP=TO` does, or as its class says where to is "default". It returns
// what op was forced to before, "default" where it was not.
func (e *Engine) Force(opName, to string) (before string, err error) {
	o, wrong := op(opName)
	if wrong != nil {
		return "", wrong
	}
	if before = e.Settings().Force[o.Name]; before == "" {
		before = "default"
	}
	switch {
	case to != "default":
		_, err = e.force(context.Background(), []string{o.Name + "=" + to})
	case before != to:
		_, err = e.forceClear([]string{o.Name})
	}
	return before, err
}

// FirstScale sets the loss scale that scalers start at, as `%amp scale VALUE` does; 0 leaves that to their program again. It returns
// what was set before, 0 for nothing.
func (e *Engine) FirstScale(first float64) (before float64, err error) {
	before = e.Settings().Scale
	if first == 0 {
		return before, e.set(func(s *Settings) { s.Scale = 0 })
	}
	_, err = e.scale(context.Background(), []string{fmt.Sprintf("%g", first)})
	return before, err
}

// A State is what a front end shows of the settings and of what lives between cells.
type State struct {
	Device  string            // as set, "cpu" where nothing is
	Forced  map[string]string // op to class
	Scale   float64           // first loss scale that is set; 0: none
	Scaling string            // how scalers start, grow and shrink, in words
	Objects int               // that live between cells
	Bytes   int64             // in them
}

// State returns the present state. It may take a moment: the store of live objects is looked at.
func (e *Engine) State() State {
	s := e.Settings()
	state := State{Forced: maps.Clone(s.Force), Scale: s.Scale}
	state.Device, _ = s.device()
	state.Scaling, _ = s.scale()
	if e.Sessions != nil {
		if list, err := e.Sessions.List(); err == nil {
			state.Objects = len(list)
			for _, o := range list {
				state.Bytes += o.Bytes
			}
		}
	}
	return state
}
