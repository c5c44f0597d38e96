// Package optim holds optimizers, learning-rate schedules and what is done to gradients before a step, built from amp's public ops.
//
// Formulas, defaults and the names of saved state are those of torch.optim. An optimizer works on groups of parameters with
// settings of their own, counts the steps it has taken, and gives its state as plain data:
//
//	opt := optim.NewAdamW(decayed, optim.LR(3e-4), optim.WeightDecay(0.1))
//	opt.AddGroup(optim.Group{Params: others, Options: []optim.Option{optim.WeightDecay(0)}})
//	schedule := optim.CountApplied(optim.NewWarmupCosine(opt, 100, 1000, 0.1, 0))
//
// Each constructor takes the parameters of a model, some of which may be frozen, and options (LR, Momentum, Betas …); what is left out
// has torch.optim's default. ClipGradNorm and ClipGradValue belong between GradScaler.Unscale and GradScaler.Step. A schedule is made
// for an optimizer and moved by its Step; CountApplied makes one that skipped steps do not move. Fused takes the scaler's factor and
// its found-inf flag into the step itself. LBFGS stands apart: its Step evaluates the model several times.
package optim

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// An Optimizer is what all optimizers of this package are.
type Optimizer interface {
	amp.FusedOptimizer
	Groups() []*Group          // the first one holds the parameters given to the constructor
	AddGroup(g Group) *Group   // adds parameters with settings of their own
	Steps() int                // steps taken; those a GradScaler skipped do not count
	SetLR(lr float64)          // for all groups
	LearningRate() float64     // of the first group
	State() *State             // a copy of everything a restart needs
	LiveState() *State         // the same with the tensors themselves
	LiveStateLater() *Later    // the same without waiting for a device
	LoadState(st *State) error // restores it, or changes nothing
	TakeState(st *State) error // the same, and takes the tensors over
	kindOf() *kind
	progress() (steps, skips int) // as far as the host knows
}

// misused panics with amp.ErrArgument.
func misused(op, fix, format string, args ...any) {
	panic(&amp.Error{Op: op, Kind: amp.ErrArgument, Detail: fmt.Sprintf(format, args...), Fix: fix})
}

// A kind is what one optimizer has of its own.
type kind struct {
	name     string
	options  []string // taken besides the common ones
	lacks    []string // common options that are not taken
	matrices bool     // parameters must have two dimensions
	defaults settings
	// names are torch.optim's names of the state tensors, in the order of the row's inputs; wants says which of them the settings ask
	// for.
	names  [3]string
	wants  func(s *settings) [3]bool
	checks []check
	// fixes says what to use in place of options that are another kind's, where there is more to say than to leave them out.
	fixes map[string]string
	// keeps says which of those a parameter has at all, and shape what shape one has; nil for all, and for that of the parameter.
	keeps   func(p *amp.Tensor) [3]bool
	shape   func(p *amp.Tensor, i int) []int
	initial func(p *amp.Tensor, s *settings) slot // state that exists from the start, Adagrad's sum; nil for none
	step    func(p *amp.Tensor, state [3]*amp.Tensor, u amp.Update)
}

// A check refuses what an option sets beyond the range of its numbers.
type check struct {
	option, fix string
	wrong       func(s *settings) string // what is, "" for nothing
}

func when(wrong bool, detail string) string {
	if wrong {
		return detail
	}
	return ""
}

// A slot is the state of one parameter.
type slot struct {
	step    int // updates of this parameter; with a counter, what is added to that
	tensors [3]*amp.Tensor
	firstAt int         // with a counter: the update that finds the fresh tensors empty
	fresh   [3]bool     // with a counter: made since it counts
	own     *amp.Tensor // with a counter: one for this parameter alone, once a step was taken without it
}

// base is the part that all optimizers share.
type base struct {
	kind     *kind
	defaults settings
	groups   []*Group
	params   []*amp.Tensor
	state    map[*amp.Tensor]slot
	steps    int
	skips    int         // steps that a GradScaler skipped, as far as the host knows
	counter  *amp.Tensor // of steps, on a device that does not tell which it skipped; nil where the host knows
	unsure   bool        // steps counts skipped ones as well
	restored bool        // state was loaded since the last step
	rates    map[*Group]*rate
}

func newBase(k *kind, params []*amp.Tensor, opts []Option) base {
	o := base{kind: k, defaults: k.defaults, state: map[*amp.Tensor]slot{}}
	op := "New" + k.name
	o.defaults.apply(op, k, opts)
	if len(params) > 0 && !slices.ContainsFunc(params, func(p *amp.Tensor) bool { return p == nil || !p.IsLeaf() || p.RequiresGrad() }) {
		misused(op, "call RequireGrad on those to train", "no parameter wants a gradient")
	}
	o.add(op, Group{Params: params})
	return o
}

func (o *base) kindOf() *kind { return o.kind }

// Parameters returns the optimized tensors of all groups, in order.
func (o *base) Parameters() []*amp.Tensor {
	o.made("Parameters")
	return o.params
}

// Groups returns the parameter groups; their LR and SetLR work on each alone.
func (o *base) Groups() []*Group {
	o.made("Groups")
	return o.groups
}

// SetLR changes the learning rate of all groups. It panics with amp.ErrArgument for one below 0, an infinite one or NaN.
func (o *base) SetLR(lr float64) {
	o.made("SetLR")
	needRate("SetLR", lr)
	for _, g := range o.groups {
		g.SetLR(lr)
	}
}

// LearningRate returns the learning rate of the first group.
func (o *base) LearningRate() float64 {
	o.made("LearningRate")
	return o.groups[0].LR()
}

// Steps returns the number of steps taken: the effective ones, since those that a GradScaler skips do not count. It
// waits for a device that skips behind the host's back.
func (o *base) Steps() int {
	o.made("Steps")
	return o.counted()
}

// StepSkipped is what a GradScaler calls when it has skipped a step. A schedule that is stepped all the same then says so.
func (o *base) StepSkipped() { o.skips++ }

func (o *base) progress() (steps, skips int) { return o.steps, o.skips }

// Fused says whether the optimizer was made with the option of that name.
func (o *base) Fused() bool { return o.defaults.fused }

// ZeroGrad removes the gradients of all parameters.
func (o *base) ZeroGrad() {
	o.made("ZeroGrad")
	for _, p := range o.params {
		p.ZeroGrad()
	}
}

// Step updates every parameter that has a gradient and leaves the others alone, whose numbers of updates stay what they were. It panics
// with amp.ErrGrad if none has one, since a step without Backward is a mistake, and with amp.ErrCapture where a step is recorded without
// a gradient that it had when it ran before.
func (o *base) Step() { o.run("Step", nil, nil) }

// StepFused is what a GradScaler calls in place of Step for an optimizer made with Fused; see amp.FusedOptimizer.
func (o *base) StepFused(inv, found *amp.Tensor) { o.run("StepFused", inv, found) }

func (o *base) run(method string, inv, found *amp.Tensor) {
	o.made(method)
	if o.restored {
		o.fitDTypes()
	}
	if found != nil && !found.IsCPU() {
		o.follow(found)
	}
	graph := amp.CapturingOn(o.params[0])
	if graph != nil {
		o.follow(o.params[0])
	}
	if o.counter != nil {
		if !o.runFar(inv, found, graph) {
			o.idle(method)
		}
		return
	}
	skipped, moved := found != nil && found.Item() != 0, false
	for _, g := range o.groups {
		u, wants := g.set.Update, o.kind.wants(&g.set)
		u.InvScale, u.FoundInf = inv, found
		for _, p := range g.Params {
			if p.Grad() == nil {
				continue
			}
			moved = true
			o.move(p, u, wants, skipped)
		}
	}
	if !moved {
		o.idle(method)
	}
	if !skipped {
		o.steps++
	}
}

// idle panics over a step without gradients.
func (o *base) idle(method string) {
	panic(&amp.Error{Op: o.kind.name + "." + method, Kind: amp.ErrGrad, Detail: "no parameter has a gradient", Fix: "call loss.Backward() before Step"})
}

// move updates one parameter. A step that is skipped, or fails, leaves no state behind.
func (o *base) move(p *amp.Tensor, u amp.Update, wants [3]bool, skipped bool) {
	old := o.state[p]
	st, kept := old, false
	defer func() {
		for i, t := range st.tensors {
			if !kept && t != old.tensors[i] {
				t.Free()
			}
		}
	}()
	var in [3]*amp.Tensor
	for i, want := range o.kept(p, wants) {
		if !want {
			continue
		}
		if st.tensors[i] == nil {
			st.tensors[i] = o.fresh(p, i)
			u.First = true
		}
		in[i] = st.tensors[i]
	}
	st.step++
	u.Step = st.step
	o.kind.step(p, in, u)
	if !skipped {
		o.state[p], kept = st, true
	}
}

// kept returns which state a parameter has, of what the settings ask for.
func (o *base) kept(p *amp.Tensor, wants [3]bool) [3]bool {
	if o.kind.keeps != nil {
		for i, keep := range o.kind.keeps(p) {
			wants[i] = wants[i] && keep
		}
	}
	return wants
}

// fresh returns zeros for the i-th state of a parameter.
func (o *base) fresh(p *amp.Tensor, i int) *amp.Tensor {
	return amp.ZerosOn(p, p.DType(), o.shapeOf(p, i)...).SetName(p.Name() + "." + o.kind.names[i])
}

func (o *base) shapeOf(p *amp.Tensor, i int) []int {
	if o.kind.shape == nil {
		return p.Shape()
	}
	return o.kind.shape(p, i)
}
