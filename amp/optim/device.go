package optim

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// Steps that a device takes behind the host's back. Whether one was skipped is known there alone, so the number of steps is counted
// there, too, and every parameter's own number is kept as its distance from that. One that a step is taken without, for want of a
// gradient, is counted by itself from then on: a tensor of its own goes on where that of all steps was.

// follow begins to count on a tensor's device.
func (o *base) follow(found *amp.Tensor) {
	if o.counter != nil {
		return
	}
	o.counter = amp.ZerosOn(found, amp.Int64)
	if o.steps != 0 {
		amp.SetValues(o.counter, []int64{int64(o.steps)})
	}
	for p, st := range o.state {
		st.step -= o.steps
		o.state[p] = st
	}
	o.unsure = false
}

// counted returns the number of steps, which waits for the device if it may have skipped some.
func (o *base) counted() int {
	if o.counter != nil && o.unsure {
		o.steps, o.unsure = int(amp.Values[int64](o.counter)[0]), false
	}
	return o.steps
}

// countOf returns the number that the step of a slot is the distance from. It waits for the device as counted does.
func (o *base) countOf(st slot) int {
	if st.own != nil {
		return int(amp.Values[int64](st.own)[0])
	}
	return o.counted()
}

// known returns the state of a parameter as it is without a counter: its own number of updates, and no state that none of them was
// applied to. The counter goes on.
func (o *base) known(p *amp.Tensor) slot {
	st := o.state[p]
	if o.counter == nil {
		return st
	}
	if _, any := o.state[p]; any {
		st.step += o.countOf(st)
	}
	if st.firstAt > st.step {
		for i := range st.tensors {
			if st.fresh[i] {
				st.tensors[i] = nil
			}
		}
	}
	return st
}

// settle makes the host know again: counts are the parameters' own, and state that no step was applied to is as if it had never been.
func (o *base) settle() {
	if o.counter == nil {
		return
	}
	o.counted()
	for p, st := range o.state {
		st.step += o.countOf(st)
		if st.own != nil {
			st.own.Free()
			st.own = nil
		}
		if st.firstAt > st.step {
			for i, t := range st.tensors {
				if t != nil && st.fresh[i] {
					t.Free()
					st.tensors[i] = nil
				}
			}
		}
		st.firstAt, st.fresh = 0, [3]bool{}
		o.state[p] = st
	}
	o.counter.Free()
	o.counter = nil
}

// runFar is run where the host is not told whether the step is skipped.
func (o *base) runFar(inv, found *amp.Tensor, graph *amp.Graph) (moved bool) {
	var absent []*amp.Tensor
	var apart []*amp.Tensor // counters of single parameters
	for _, g := range o.groups {
		u, wants := g.set.Update, o.kind.wants(&g.set)
		u.InvScale, u.FoundInf = inv, found
		if graph != nil {
			u.Rate = o.rateOf(g, graph)
		}
		for _, p := range g.Params {
			st, known := o.state[p]
			switch {
			case p.Grad() != nil:
				moved = true
				o.enter(p, wants, graph)
				o.moveFar(p, u, wants)
				if st.own != nil {
					apart = append(apart, st.own)
				}
			case known && st.own == nil:
				absent = append(absent, p)
			}
		}
	}
	if !moved {
		return false
	}
	for _, p := range absent {
		o.leave(p, graph)
	}
	for _, own := range apart {
		amp.CountStep(own, found)
	}
	amp.CountStep(o.counter, found)
	if count := func() { o.steps++; o.unsure = o.unsure || found != nil }; graph != nil && graph.Recording() {
		graph.After(count)
	} else {
		count()
	}
	return true
}

// leave makes a parameter be counted by itself: this step is taken without it.
func (o *base) leave(p *amp.Tensor, graph *amp.Graph) {
	if graph != nil && graph.Recording() { // what is made there is made anew by each replay
		panic(&amp.Error{Op: o.kind.name + ".Step", Kind: amp.ErrCapture,
			Detail: fmt.Sprintf("parameter %q of shape %v has no gradient in the run of the step that is recorded, and had one in the run before", p.Name(), p.Shape()),
			Fix:    "make the step use the same parameters each time that it runs"})
	}
	st := o.state[p]
	st.own = amp.Like(o.counter)
	amp.Assign(st.own, o.counter)
	o.state[p] = st
}

// enter refuses to record the first step of a parameter with state: zeros that are made there are made anew by each replay.
func (o *base) enter(p *amp.Tensor, wants [3]bool, graph *amp.Graph) {
	if graph == nil || !graph.Recording() {
		return
	}
	for i, want := range o.kept(p, wants) {
		if want && o.state[p].tensors[i] == nil {
			panic(&amp.Error{Op: o.kind.name + ".Step", Kind: amp.ErrCapture,
				Detail: fmt.Sprintf("parameter %q of shape %v has a gradient in the run of the step that is recorded, and its first: there is no %s of it yet", p.Name(), p.Shape(), o.kind.names[i]),
				Fix:    "take one such step before Capture, or make the step use the same parameters each time that it runs"})
		}
	}
}

// moveFar updates one parameter. State that a skipped step leaves untouched stays: it is zeros, as it will be the next time.
func (o *base) moveFar(p *amp.Tensor, u amp.Update, wants [3]bool) {
	st, known := o.state[p]
	if !known {
		st.step = -o.counted()
	}
	wants = o.kept(p, wants)
	for i, want := range wants {
		if want && st.tensors[i] == nil {
			st.tensors[i] = o.fresh(p, i)
			st.fresh[i], st.firstAt = true, o.countOf(st)+st.step+1
		}
	}
	u.Step, u.FirstAt, u.Steps = st.step+1, st.firstAt, o.counter
	if st.own != nil {
		u.Steps = st.own
	}
	o.state[p] = st
	var in [3]*amp.Tensor
	for i, want := range wants {
		if want {
			in[i] = st.tensors[i]
		}
	}
	o.kind.step(p, in, u)
}

// A rate is a group's learning rate on the device, for captured steps, and what it is there.
type rate struct {
	t *amp.Tensor
	v float64
}

// rateOf returns a group's learning rate as a tensor, which every replay of a graph brings up to date first.
func (o *base) rateOf(g *Group, graph *amp.Graph) *amp.Tensor {
	r := o.rates[g]
	if r == nil {
		if o.rates == nil {
			o.rates = map[*Group]*rate{}
		}
		r = &rate{t: amp.ZerosOn(o.counter, amp.Float64)}
		o.rates[g] = r
	}
	update := func() {
		if r.v != g.set.LR {
			r.v = g.set.LR
			amp.SetValues(r.t, []float64{r.v})
		}
	}
	if graph.Recording() {
		recorded := g.set.Update
		graph.Before(func() {
			g.unchanged(recorded)
			update()
		})
	} else {
		update()
	}
	return r.t
}

// unchanged refuses a replay where other settings of the group than the learning rate, which is on the device, have changed since they were
// recorded: the kernels would go on with what they were.
func (g *Group) unchanged(recorded amp.Update) {
	now := g.set.Update
	now.LR = recorded.LR
	if now == recorded {
		return
	}
	const scheduled = "the optimizer's %s is %v and was %v at Capture, which a replay would go on with"
	detail, fix := "the optimizer's settings have changed since Capture, and a replay would go on with the old ones", "capture the step again after LoadState"
	switch {
	case now.Beta1 != recorded.Beta1:
		detail = fmt.Sprintf(scheduled, "first beta", now.Beta1, recorded.Beta1)
	case now.Momentum != recorded.Momentum:
		detail = fmt.Sprintf(scheduled, "momentum", now.Momentum, recorded.Momentum)
	}
	if now.Beta1 != recorded.Beta1 || now.Momentum != recorded.Momentum {
		fix = "make the schedule leave it alone (OneCycleLR with optim.KeepMomentum(), CyclicLR with optim.FixedMomentum()), or capture the step again"
	}
	panic(&amp.Error{Op: "Graph.Replay", Kind: amp.ErrCapture, Detail: detail, Fix: fix})
}
