package optim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// A State is an optimizer's saved state: plain data, all of it JSON but the tensors. It has the names of torch.optim's state_dict.
type State struct {
	Kind   string       `json:"kind"`  // "SGD", "Adam", "AdamW", "RMSprop", the name of the type
	Steps  int          `json:"steps"` // what Steps returns
	Groups []GroupState `json:"param_groups"`
	// Tensors holds the state by the parameter's place among all groups: "3.exp_avg". They are copies that later steps leave alone.
	Tensors map[string]*amp.Tensor `json:"-"`
}

// A GroupState is the part of a State that belongs to one group.
type GroupState struct {
	Numbers map[string]float64 `json:"numbers"`         // "lr", "momentum" … and "initial_lr" where a schedule has set it
	Flags   map[string]bool    `json:"flags,omitempty"` // "maximize", "nesterov", "amsgrad", "centered"
	Params  []ParamState       `json:"params"`
}

// A ParamState says of one parameter how often it was updated.
type ParamState struct {
	Name string `json:"name"`
	Step int    `json:"step"`
}

const initialLR = "initial_lr"

// State returns a copy of everything that LoadState needs to go on: settings, step counts and tensors.
func (o *base) State() *State {
	st := o.LiveState()
	for key, t := range st.Tensors {
		st.Tensors[key] = snapshot(t)
	}
	return st
}

// LiveState is State with the optimizer's own tensors in place of copies: those that the next step changes. A parameter has some only
// once it was updated.
func (o *base) LiveState() *State {
	o.made("State")
	return o.described(o.counted(), o.known)
}

// described writes the state down, with the number of steps and what slots says of each parameter.
func (o *base) described(steps int, slots func(p *amp.Tensor) slot) *State {
	st := &State{Kind: o.kind.name, Steps: steps, Tensors: map[string]*amp.Tensor{}}
	index := 0
	for _, g := range o.groups {
		gs := GroupState{Numbers: map[string]float64{}, Flags: map[string]bool{}}
		for _, n := range numbers {
			if o.kind.takes(n.option) {
				gs.Numbers[n.key] = *n.of(&g.set)
			}
		}
		if g.initial != nil {
			gs.Numbers[initialLR] = *g.initial
		}
		for _, f := range flags {
			if o.kind.takes(f.option) {
				gs.Flags[f.key] = f.of(&g.set)
			}
		}
		for _, p := range g.Params {
			s := slots(p)
			gs.Params = append(gs.Params, ParamState{p.Name(), s.step})
			for i, t := range s.tensors {
				if t != nil {
					st.Tensors[stateKey(index, o.kind.names[i])] = t
				}
			}
			index++
		}
		st.Groups = append(st.Groups, gs)
	}
	return st
}

func stateKey(index int, name string) string { return strconv.Itoa(index) + "." + name }

func snapshot(t *amp.Tensor) *amp.Tensor {
	return beside(t, t).SetName(t.Name())
}

// LoadState restores what State returned: the learning rates and other numbers too, as torch.optim does. The optimizer must be of
// the same kind, with the same groups of parameters of the same names, shapes and dtypes, and the same flags; otherwise the error
// says what differs, and nothing is changed. Float32 state of a parameter of 16 bits is rounded to its dtype by the next step, as torch does,
// unless the parameter has a master (amp.O2). Numbers may be any finite ones, since schedules may leave the ranges of the options. The
// state is copied, to the devices of the parameters.
func (o *base) LoadState(st *State) error { return o.restore(st, beside) }

// TakeState is LoadState that takes the state's tensors over in place of copies of them, where they are on the devices of their
// parameters: from then on they are the optimizer's.
func (o *base) TakeState(st *State) error {
	return o.restore(st, func(p, t *amp.Tensor) *amp.Tensor {
		if t.Device() != p.Device() {
			return beside(p, t)
		}
		return t
	})
}

// beside returns a copy of t on p's device.
func beside(p, t *amp.Tensor) *amp.Tensor {
	c := amp.ZerosOn(p, t.DType(), t.Shape()...)
	amp.Assign(c, t)
	return c
}

func (o *base) restore(st *State, own func(p, t *amp.Tensor) *amp.Tensor) error {
	o.made("LoadState")
	o.settle()
	if st == nil {
		return o.unfit("there is no state")
	}
	if st.Kind != o.kind.name {
		return o.unfit("it was saved by %s", strconv.Quote(st.Kind))
	}
	if len(st.Groups) != len(o.groups) {
		return o.unfit("it has %d parameter groups, the optimizer %d", len(st.Groups), len(o.groups))
	}
	if st.Steps < 0 {
		return o.unfit("it counts %d steps", st.Steps)
	}
	sets := make([]settings, len(o.groups))
	slots := map[*amp.Tensor]slot{}
	used := 0
	for i, g := range o.groups {
		var err error
		if sets[i], err = o.readGroup(i, g, &st.Groups[i]); err != nil {
			return err
		}
		for j, p := range g.Params {
			s, n, err := o.readParam(len(slots), p, st.Groups[i].Params[j], &sets[i], st.Tensors)
			if err != nil {
				return err
			}
			slots[p] = s
			used += n
		}
	}
	if used != len(st.Tensors) {
		return o.unfit("it holds tensors that belong to no parameter: %s", o.strays(st.Tensors, len(slots)))
	}
	o.adopt(st, sets, slots, own)
	return nil
}

// unfit words a refusal.
func (o *base) unfit(format string, args ...any) error {
	return fmt.Errorf("optim: the state does not fit this %s: %s; load it into an optimizer built as the saved one was", o.kind.name, fmt.Sprintf(format, args...))
}

// readGroup checks the settings of one group and returns them. Its numbers may be any that are finite, as in torch, not only those that
// options take: a schedule may have left a rate a little below 0, or a beta above 1, in the optimizer that was saved.
func (o *base) readGroup(i int, g *Group, gs *GroupState) (settings, error) {
	set := g.set
	if len(gs.Params) != len(g.Params) {
		return set, o.unfit("group %d has %d parameters in it, %d here", i, len(gs.Params), len(g.Params))
	}
	for _, n := range numbers {
		if !o.kind.takes(n.option) {
			continue
		}
		v, ok := gs.Numbers[n.key]
		if !ok {
			return set, o.unfit("group %d has no %s in it", i, n.key)
		}
		if !finite(v) {
			return set, o.unfit("%s is %v in group %d of it", n.key, v, i)
		}
		*n.of(&set) = v
	}
	if v := gs.Numbers[initialLR]; !finite(v) {
		return set, o.unfit("%s is %v in group %d of it", initialLR, v, i)
	}
	for _, f := range flags {
		if o.kind.takes(f.option) && gs.Flags[f.key] != f.of(&set) {
			return set, o.unfit("%s is %v in group %d of it, %v here", f.key, gs.Flags[f.key], i, f.of(&set))
		}
	}
	return set, nil
}

func finite(v float64) bool { return v >= -huge && v <= huge }

// readParam checks the state of one parameter, copies it, and returns it with the number of tensors it has.
func (o *base) readParam(index int, p *amp.Tensor, ps ParamState, set *settings, tensors map[string]*amp.Tensor) (s slot, n int, err error) {
	who := paramName(p, index)
	if ps.Name != p.Name() {
		return s, 0, o.unfit("its parameter %d is %q, here %q", index, ps.Name, p.Name())
	}
	if ps.Step < 0 {
		return s, 0, o.unfit("%s has %d steps in it", who, ps.Step)
	}
	s.step = ps.Step
	wants := o.kept(p, o.kind.wants(set))
	for i, name := range o.kind.names {
		t := tensors[stateKey(index, name)]
		switch {
		case name == "":
		case t == nil:
			// Momentum may have been turned on after the last step; its buffer then does not exist yet.
			if wants[i] && ps.Step > 0 && name != "momentum_buffer" {
				return s, 0, o.unfit("%s of %s is missing in it", name, who)
			}
		case amp.Maybe(func() { t.Version() }) != nil:
			return s, 0, o.unfit("%s of %s has been freed", name, who)
		case t.DType() != p.DType() && !(p.DType().IsHalf() && t.DType() == amp.Float32): // that of a master weight
			return s, 0, o.unfit("%s of %s is %v in it, the parameter %v", name, who, t.DType(), p.DType())
		case o.kind.keeps != nil && !wants[i]:
			return s, 0, o.unfit("%s of %s is in it, and a parameter of shape %v has none", name, who, p.Shape())
		case !slices.Equal(t.Shape(), o.shapeOf(p, i)):
			return s, 0, o.unfit("%s of %s is %v in it, the parameter %v", name, who, t.Shape(), p.Shape())
		default:
			s.tensors[i] = t
			n++
		}
	}
	if o.kind.initial != nil && n == 0 {
		return s, 0, o.unfit("%s of %s is missing in it", o.kind.names[0], who)
	}
	return s, n, nil
}

// strays names what is in a state for no parameter.
func (o *base) strays(tensors map[string]*amp.Tensor, params int) string {
	var out []string
	for key := range tensors {
		index, name, _ := strings.Cut(key, ".")
		i, err := strconv.Atoi(index)
		if err != nil || i < 0 || i >= params || strconv.Itoa(i) != index || name == "" || !slices.Contains(o.kind.names[:], name) {
			out = append(out, strconv.Quote(key))
		}
	}
	slices.Sort(out)
	if len(out) > 4 {
		out = append(out[:4], "…")
	}
	return strings.Join(out, ", ")
}

// adopt takes over a state that fits.
func (o *base) adopt(st *State, sets []settings, slots map[*amp.Tensor]slot, own func(p, t *amp.Tensor) *amp.Tensor) {
	for i, g := range o.groups {
		g.set, g.initial = sets[i], nil
		if v, ok := st.Groups[i].Numbers[initialLR]; ok {
			g.initial = &v
		}
	}
	for p, s := range slots {
		old := o.state[p]
		for i, t := range s.tensors {
			if t != nil {
				s.tensors[i] = own(p, t).SetName(p.Name() + "." + o.kind.names[i])
			}
		}
		for i, t := range old.tensors {
			if t != nil && t != s.tensors[i] {
				t.Free()
			}
		}
		o.state[p] = s
	}
	o.steps, o.restored = st.Steps, true
}

// fitDTypes rounds float32 state that was loaded for parameters of 16 bits, unless they are float32 now, in the step: those that have masters.
func (o *base) fitDTypes() {
	for p, s := range o.state {
		for i, t := range s.tensors {
			if t == nil || t.DType() == p.DType() {
				continue
			}
			rounded := amp.ZerosOn(p, p.DType(), t.Shape()...).SetName(t.Name())
			amp.Assign(rounded, t)
			s.tensors[i] = rounded
			o.state[p] = s
			t.Free()
		}
	}
	o.restored = false
}
