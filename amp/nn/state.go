package nn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// A StateOption configures StateDict.
type StateOption func(*bool)

// TiedNames lists a tensor that modules share under the names of all of them, as PyTorch does, whose strict load_state_dict asks for all.
func TiedNames() StateOption { return func(all *bool) { *all = true } }

// StateDict returns the parameters and buffers of a module by name: the tensors themselves, not copies. What modules share has the name of
// its first owner; see TiedNames. It panics with amp.ErrArgument when two have one name, or one has none; NewSequential, NameChildren and
// Prefix give names.
func StateDict(m Module, opts ...StateOption) map[string]*amp.Tensor {
	need("StateDict", m)
	all := false
	optional.Apply("StateDict", opts, &all, misused)
	out := map[string]*amp.Tensor{}
	for _, t := range append(m.Parameters(), Buffers(m)...) {
		names := []string{t.Name()}
		if all {
			names = append(names, furtherNames(t)...)
		}
		for _, name := range names {
			if other := out[name]; name == "" || other != nil && other != t {
				misused("StateDict", namingAdvice(m), "name %q is empty or used twice", name)
			}
			out[name] = t
		}
	}
	return out
}

// namingAdvice says how the tensors of a module get names of their own.
func namingAdvice(m Module) string {
	if _, ok := held(m).(interface{ Children() []Named }); ok {
		return "call nn.NameChildren at the end of the model's constructor, and give tensors of its own names with SetName"
	}
	return "give the model the method Children and call nn.NameChildren in its constructor (go doc nn.Parent), or name its tensors with SetName"
}

// A LoadOption configures LoadStateDict.
type LoadOption func(*loadConfig)

type loadConfig struct {
	partial bool
	misfit  *Misfit
}

// A Misfit says what a state and a module have not in common, in the order of the names; see Report.
type Misfit struct {
	Missing    []string // of the module, not in the state
	Unexpected []string // in the state, not of the module
}

// Partial loads what fits by name and leaves the rest of both sides alone, as strict=False does in PyTorch: for a model with another
// head, say. Shapes of what has the same name must be equal all the same. That nothing has the same name is an error unless Report is given,
// too.
func Partial() LoadOption { return func(c *loadConfig) { c.partial = true } }

// Report has LoadStateDict write to m what was not loaded, as load_state_dict returns it in PyTorch, also where it returns an error. It panics
// with amp.ErrArgument for nil.
//
//	var left nn.Misfit
//	err := nn.LoadStateDict(net, state, nn.Partial(), nn.Report(&left))
func Report(m *Misfit) LoadOption {
	if m == nil {
		misused("Report", "pass the address of an nn.Misfit", "there is nothing to write to")
	}
	return func(c *loadConfig) { c.misfit = m }
}

// LoadStateDict copies values by name into the parameters and buffers of a module, rounded to their dtypes. Nothing is changed
// unless every name of the module is there with the right shape, and no other; the error lists what does not fit. See Partial. A tensor that
// modules share may be there under the names of all of them, as in PyTorch's state dicts, with the same bits, or under any one.
func LoadStateDict(m Module, state map[string]*amp.Tensor, opts ...LoadOption) error {
	if missing(m) {
		return fmt.Errorf("nn: the state fits no module: the module is nil; pass one")
	}
	var c loadConfig
	optional.Apply("LoadStateDict", opts, &c, misused)
	own := StateDict(m)
	state, faults := joinTied(own, newNames(own, state))
	faults = append(faults, c.misfits(own, state)...)
	if len(faults) > 0 {
		slices.Sort(faults)
		if extra := len(faults) - 8; extra > 0 {
			faults = append(faults[:8], fmt.Sprintf("and %d more", extra))
		}
		fix := "load it into a model built as the saved one was, or pass nn.Partial()"
		if c.partial {
			fix = "nn.Partial() loads what has the same name and shape: rename or leave out what has not"
		}
		return fmt.Errorf("nn: the state does not fit the module: %s; %s", strings.Join(faults, "; "), fix)
	}
	for name, t := range own {
		if from := state[name]; from != nil {
			amp.Assign(t, from)
		}
	}
	return nil
}

// misfits lists what keeps a state from being loaded, and reports what has no counterpart.
func (c *loadConfig) misfits(own, state map[string]*amp.Tensor) []string {
	var faults []string
	var left Misfit
	for name, t := range own {
		switch from := state[name]; {
		case from == nil:
			left.Missing = append(left.Missing, name)
		case !slices.Equal(from.Shape(), t.Shape()):
			faults = append(faults, fmt.Sprintf("%s is %v, the module's %v", name, from.Shape(), t.Shape()))
		case amp.Maybe(func() { from.Version() }) != nil:
			faults = append(faults, fmt.Sprintf("%s has been freed with its scope, which s.Keep prevents", name))
		}
	}
	for name := range state {
		if own[name] == nil {
			left.Unexpected = append(left.Unexpected, name)
		}
	}
	slices.Sort(left.Missing)
	slices.Sort(left.Unexpected)
	if c.misfit != nil {
		*c.misfit = left
	}
	if !c.partial || c.misfit == nil && len(left.Missing) == len(own) && len(left.Unexpected) > 0 {
		for _, name := range left.Missing {
			faults = append(faults, "missing "+name)
		}
		for _, name := range left.Unexpected {
			faults = append(faults, "unexpected "+name)
		}
	}
	return faults
}

// To moves the parameters and buffers of a module, and the gradients they have, to the scope's device, in place, and returns the module:
// an optimizer made before goes on with them once its state, if it has any, is loaded again. Modules made in a scope have their
// parameters on its device from the start. (PyTorch: module.to(device).)
func To(s *amp.Scope, m Module) Module {
	need("To", m)
	for _, t := range append(m.Parameters(), Buffers(m)...) {
		t.Move(s)
	}
	return m
}
