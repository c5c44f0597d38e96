package optim

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// A Group is a set of parameters with settings of their own. What its options leave out is as given to the constructor.
type Group struct {
	Name    string // for messages; may be empty
	Params  []*amp.Tensor
	Options []Option

	kind    *kind // of the optimizer that has the group
	set     settings
	initial *float64 // the learning rate that schedules start from, once there is one
}

// LR returns the group's learning rate.
func (g *Group) LR() float64 { return g.set.LR }

// SetLR changes the group's learning rate. It panics with amp.ErrArgument for one below 0, which would climb, an infinite one or NaN.
func (g *Group) SetLR(lr float64) {
	needRate("Group.SetLR", lr)
	g.set.LR = lr
}

// needRate refuses what is no learning rate.
func needRate(op string, lr float64) {
	if !(lr >= 0 && lr <= huge) {
		misused(op, "use a finite rate of 0 and above; optim.Maximize climbs", "the learning rate is %v", lr)
	}
}

// AddGroup adds parameters with settings of their own and returns the group; frozen ones (amp.Tensor.Freeze) stay where they are until
// they want gradients again. It panics with amp.ErrArgument for options out of range, no parameters, one that is no leaf of a float
// dtype, or one that another group has.
func (o *base) AddGroup(g Group) *Group { return o.add(o.made("AddGroup").kind.name+".AddGroup", g) }

func (o *base) add(op string, g Group) *Group {
	live := &Group{Name: g.Name, Options: slices.Clone(g.Options), kind: o.kind, set: o.defaults}
	live.set.apply(op, o.kind, g.Options)
	for _, name := range live.set.given {
		if name == "Fused" || name == "InitialAccumulator" {
			misused(op, "give it to the constructor", "%s is an option of the optimizer, not of a group", name)
		}
	}
	if len(g.Params) == 0 {
		misused(op, "pass net.Parameters()", "no parameters")
	}
	for i, p := range g.Params {
		if p == nil || !p.IsLeaf() || !p.DType().IsFloat() {
			misused(op, "pass leaves made with RequireGrad, such as net.Parameters()", "%s is no leaf of a float dtype", paramName(p, i))
		}
		if o.kind.matrices && len(p.Shape()) != 2 {
			misused(op, "give it to another optimizer, such as AdamW", "%s has shape %v, and %s moves matrices alone", paramName(p, i), p.Shape(), o.kind.name)
		}
		if slices.Contains(o.params, p) {
			misused(op, "leave it out of one of them", "%s is in two groups", paramName(p, i))
		}
		if !slices.Contains(live.Params, p) { // shared by two layers: it moves once
			live.Params = append(live.Params, p)
		}
	}
	o.groups = append(o.groups, live)
	o.params = append(o.params, live.Params...)
	if o.kind.initial != nil {
		for _, p := range live.Params {
			o.state[p] = o.kind.initial(p, &live.set)
		}
	}
	return live
}

func paramName(p *amp.Tensor, i int) string {
	if p == nil || p.Name() == "" {
		return fmt.Sprintf("parameter %d", i)
	}
	return fmt.Sprintf("parameter %d (%s)", i, p.Name())
}
