package optim

import "slices"

// Settings of a group that change in the middle of a run, as entries of torch.optim's param_groups do: the next step works with them, and
// they are part of the optimizer's state. A graph of Scope.Capture reads the learning rate alone anew; what else it was recorded with stays.

// WeightDecay returns the group's weight decay.
func (g *Group) WeightDecay() float64 { return g.set.WeightDecay }

// SetWeightDecay changes the group's weight decay. It panics with amp.ErrArgument for an optimizer without one, a value below 0, an infinite
// one or NaN.
func (g *Group) SetWeightDecay(d float64) {
	g.change("Group.SetWeightDecay", "WeightDecay", func(s *settings) { s.WeightDecay = d })
}

// Momentum returns the group's momentum, 0 for an optimizer that takes none.
func (g *Group) Momentum() float64 { return g.set.Momentum }

// SetMomentum changes the group's momentum; a buffer that was not needed so far begins with the next step. It panics with amp.ErrArgument
// for an optimizer that takes no momentum, a value below 0, an infinite one or NaN, and for 0 with SGD's Nesterov.
func (g *Group) SetMomentum(m float64) {
	g.change("Group.SetMomentum", "Momentum", func(s *settings) { s.Momentum = m })
}

// Betas returns how much of the averages of the gradient and of its square is kept, zeros for an optimizer that takes no betas.
func (g *Group) Betas() (b1, b2 float64) { return g.set.Beta1, g.set.Beta2 }

// SetBetas changes the group's betas. It panics with amp.ErrArgument for an optimizer that takes none and for values outside [0, 1).
func (g *Group) SetBetas(b1, b2 float64) {
	g.change("Group.SetBetas", "Betas", func(s *settings) { s.Beta1, s.Beta2 = b1, b2 })
}

// Eps returns what is added to the group's denominators, 0 for an optimizer that takes no eps.
func (g *Group) Eps() float64 { return g.set.Eps }

// SetEps changes what is added to the group's denominators. It panics with amp.ErrArgument for an optimizer that takes no eps, a value below
// 0, an infinite one or NaN.
func (g *Group) SetEps(eps float64) {
	g.change("Group.SetEps", "Eps", func(s *settings) { s.Eps = eps })
}

// change sets what an option sets, or leaves everything as it was.
func (g *Group) change(op, option string, set func(s *settings)) {
	if g.kind == nil {
		misused(op, "use the group that AddGroup or Groups returns", "the group belongs to no optimizer")
	}
	if !slices.Contains(g.kind.allOptions(), option) {
		misused(op, "leave it out", "%s is not an option of %s", option, g.kind.name)
	}
	changed := g.set
	set(&changed)
	// Of this option alone: a schedule may have left others out of range, which is no fault of this call.
	if detail, fix := changed.problemOf(g.kind, option); detail != "" {
		misused(op, fix, "%s", detail)
	}
	g.set = changed
}
