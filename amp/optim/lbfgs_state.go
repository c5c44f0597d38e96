package optim

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/halftone-ml/halftone/amp"
)

// The keys of an LBFGS's state: torch's, whose only state is that of the first parameter.
const (
	keyDirection = "0.d"
	keyBefore    = "0.prev_flat_grad"
	keyDirs      = "0.old_dirs."
	keySteps     = "0.old_stps."
)

// lbfgsNumber is a number of the state and its key in torch.
type lbfgsNumber struct {
	key string
	of  *float64
}

// counts are the whole numbers of the state.
func (s *lbfgsSettings) counts(m *lbfgsMemory) map[string]*int {
	return map[string]*int{"max_iter": &s.maxIter, "max_eval": &s.maxEval, "history_size": &s.history, "n_iter": &m.iterations, "func_evals": &m.evaluations}
}

func (s *lbfgsSettings) numbers(m *lbfgsMemory) []lbfgsNumber {
	return []lbfgsNumber{{"lr", &s.lr}, {"tolerance_grad", &s.gradTolerance}, {"tolerance_change", &s.changeTolerance}, {"t", &m.t}, {"H_diag", &m.diagonal}}
}

// flags are what a state must have as the optimizer has it.
func (s *lbfgsSettings) flags() map[string]bool {
	return map[string]bool{"strong_wolfe": s.wolfe, "maximize": s.maximize}
}

// State returns a copy of everything that LoadState needs to go on: settings, counts and history.
func (o *LBFGS) State() *State {
	o.made("State")
	gs := GroupState{Numbers: map[string]float64{}, Flags: o.set.flags()}
	for _, n := range o.set.numbers(&o.lbfgsMemory) {
		gs.Numbers[n.key] = *n.of
	}
	for key, n := range o.set.counts(&o.lbfgsMemory) {
		gs.Numbers[key] = float64(*n)
	}
	for _, p := range o.params {
		gs.Params = append(gs.Params, ParamState{p.Name(), o.iterations})
	}
	st := &State{Kind: "LBFGS", Steps: o.iterations, Groups: []GroupState{gs}, Tensors: map[string]*amp.Tensor{}}
	for key, t := range o.vectors() {
		st.Tensors[key] = snapshot(t)
	}
	for i, r := range o.rho {
		gs.Numbers["ro."+strconv.Itoa(i)] = r
	}
	return st
}

// vectors are those of the state by key, none before the first iteration.
func (m *lbfgsMemory) vectors() map[string]*amp.Tensor {
	out := map[string]*amp.Tensor{}
	if m.direction != nil {
		out[keyDirection], out[keyBefore] = m.direction, m.before
	}
	for i := range m.dirs {
		out[keyDirs+strconv.Itoa(i)], out[keySteps+strconv.Itoa(i)] = m.dirs[i], m.steps[i]
	}
	return out
}

// LoadState restores what State returned, settings too. The optimizer must have parameters of the same names, shapes and dtype, and
// the same line search, and Maximize or not; otherwise the error says what differs, and nothing is changed. Vectors are copied.
func (o *LBFGS) LoadState(st *State) error {
	o.made("LoadState")
	set, m := o.set, lbfgsMemory{}
	if err := o.fits(st); err != nil {
		return err
	}
	gs := st.Groups[0]
	for _, n := range set.numbers(&m) {
		v, ok := gs.Numbers[n.key]
		if !ok || !finite(v) {
			return o.unfit("its %s is missing or not finite", n.key)
		}
		*n.of = v
	}
	for key, n := range set.counts(&m) {
		v, ok := gs.Numbers[key]
		if *n = int(v); !ok || float64(*n) != v || *n < 0 {
			return o.unfit("its %s is no count", key)
		}
	}
	if set.maxIter < 1 || set.maxEval < 1 || set.history < 1 || set.lr < 0 {
		return o.unfit("a setting of it is out of range")
	}
	if err := o.readVectors(st, &m); err != nil {
		return err
	}
	if len(m.dirs) > set.history {
		return o.unfit("it remembers %d steps of %d", len(m.dirs), set.history)
	}
	o.adopt(set, m)
	return nil
}

// fits compares what the state was saved of with what the optimizer has.
func (o *LBFGS) fits(st *State) error {
	switch {
	case st == nil:
		return o.unfit("there is no state")
	case st.Kind != "LBFGS":
		return o.unfit("it was saved by %s", strconv.Quote(st.Kind))
	case len(st.Groups) != 1 || len(st.Groups[0].Params) != len(o.params):
		return o.unfit("it is not of one group of %d parameters", len(o.params))
	}
	for key, here := range o.set.flags() {
		if saved := st.Groups[0].Flags[key]; saved != here {
			return o.unfit("%s is %v in it, %v here", key, saved, here)
		}
	}
	for i, p := range o.params {
		if name := st.Groups[0].Params[i].Name; name != p.Name() {
			return o.unfit("its parameter %d is %q, here %q", i, name, p.Name())
		}
	}
	return nil
}

// readVectors takes the vectors of the state, which are still its own.
func (o *LBFGS) readVectors(st *State, m *lbfgsMemory) error {
	for key, t := range st.Tensors {
		if t != nil && amp.Maybe(func() { t.Version() }) != nil {
			return o.unfit("its %s has been freed", key)
		}
		if t == nil || !slices.Equal(t.Shape(), []int{o.size}) || t.DType() != o.params[0].DType() {
			return o.unfit("its %s is no vector of %d %v", key, o.size, o.params[0].DType())
		}
	}
	m.direction, m.before = st.Tensors[keyDirection], st.Tensors[keyBefore]
	for i := 0; st.Tensors[keyDirs+strconv.Itoa(i)] != nil; i++ {
		at := strconv.Itoa(i)
		rho, ok := st.Groups[0].Numbers["ro."+at]
		if st.Tensors[keySteps+at] == nil || !ok || !finite(rho) {
			return o.unfit("step %d of its history is not whole", i)
		}
		m.dirs, m.steps, m.rho = append(m.dirs, st.Tensors[keyDirs+at]), append(m.steps, st.Tensors[keySteps+at]), append(m.rho, rho)
	}
	if len(m.vectors()) != len(st.Tensors) || (m.direction == nil) != (m.before == nil) || (m.direction == nil) != (m.iterations == 0) {
		return o.unfit("its vectors are not those of %d iterations", m.iterations)
	}
	return nil
}

// adopt copies the memory, and frees the present one.
func (o *LBFGS) adopt(set lbfgsSettings, m lbfgsMemory) {
	own := func(t *amp.Tensor) *amp.Tensor { return beside(o.params[0], t) }
	if m.direction != nil {
		m.direction, m.before = own(m.direction), own(m.before)
	}
	for i := range m.dirs {
		m.dirs[i], m.steps[i] = own(m.dirs[i]), own(m.steps[i])
	}
	for _, t := range o.vectors() {
		t.Free()
	}
	o.set, o.lbfgsMemory = set, m
}

// unfit words a refusal.
func (o *LBFGS) unfit(format string, args ...any) error {
	return fmt.Errorf("optim: the state does not fit this LBFGS: %s; load it into an optimizer built as the saved one was", fmt.Sprintf(format, args...))
}
