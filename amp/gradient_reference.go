package amp

import (
	"math"
	"slices"
)

// A gradientTracer walks along a backward pass for TraceGradients. Next to the gradient of each result it carries the reference, the same
// gradient in float64, and runs every op's backward again from both: from the reference for what there should be, and from what really
// arrived for what this op would give without rounding. Nothing of it is recorded, owned by the program's scopes, or drawn from their
// random numbers.
type gradientTracer struct {
	t       *GradientTrace
	s       *Scope // the CPU's, float64
	of      *root  // of the pass
	pending map[*node]*arrival
	ends    map[*Tensor]*arrival // of leaves, and of what Grad wants
	want    map[*Tensor]int
	places  []uintptr // of the events
}

// An arrival is the reference of a gradient, in row-major order.
type arrival struct {
	ref  []float64
	from int // event that it came from
	lost int // numbers that the event found lost
}

// newGradientTracer begins a trace of a backward pass in scope s.
func newGradientTracer(s *Scope, t *GradientTrace) *gradientTracer {
	if capturing.Load() != nil {
		fail("TraceGradients", ErrCapture, "trace a step before it is captured", "a gradient trace reads gradients back")
	}
	*t = GradientTrace{Schema: GradientSchema, Device: s.root.dev.Name(), Step: s.step, Scale: 1, Events: []GradientEvent{}, Leaves: []GradientLeaf{}}
	o := s.derive()
	o.root = &root{ctx: s.root.ctx, dev: theCPU, note: s.root.note}
	o.arena, o.gen = &arena{}, 0
	o.rng = NewStream(0)
	o.rng.Load(s.rng.State())
	o.auto, o.noGrad, o.phase = autocast{}, true, backwardPhase
	o.part, o.casts, o.results, o.inherit, o.rounding = nil, nil, nil, nil, nil
	return &gradientTracer{t: t, s: o, of: s.root, pending: map[*node]*arrival{}, ends: map[*Tensor]*arrival{}}
}

// start takes what backward begins with as its own reference.
func (f *gradientTracer) start(t, dy *Tensor) { f.deliver(t, &arrival{ref: dy.wide64(), from: -1}) }

// deliver adds a reference to what t has so far.
func (f *gradientTracer) deliver(t *Tensor, a *arrival) {
	if _, ok := f.want[t]; ok || t.node == nil {
		f.ends[t] = f.ends[t].plus(a)
	}
	if t.node != nil {
		f.pending[t.node] = f.pending[t.node].plus(a)
	}
}

// plus is the sum of two references, and comes from the one that lost more.
func (a *arrival) plus(b *arrival) *arrival {
	if a == nil {
		return b
	}
	sum := &arrival{ref: make([]float64, len(a.ref)), from: a.from, lost: a.lost}
	if b.lost > a.lost {
		sum.from, sum.lost = b.from, b.lost
	}
	for i, v := range a.ref {
		sum.ref[i] = v + b.ref[i]
	}
	return sum
}

// take returns what arrived at a node, once.
func (f *gradientTracer) take(n *node) *arrival {
	a := f.pending[n]
	delete(f.pending, n)
	return a
}

// visit compares the gradients that a node's backward made of dy, and passes the references on.
func (f *gradientTracer) visit(n *node, dy *Tensor, grads []*Tensor) {
	at, arrived := f.take(n), dy.wide64()
	if at == nil {
		return
	}
	if scale := n.lossScale(); scale != nil {
		f.t.Scale, f.t.Update = scale.wide64()[0], f.of.updateOf(scale)
	}
	unrounded, err := f.run(n, arrived)
	ref := unrounded
	if err == nil && !slices.Equal(at.ref, arrived) {
		ref, err = f.run(n, at.ref)
	}
	for i, g := range grads {
		if g == nil {
			continue
		}
		e := f.event(n, i, g, at.from)
		got := g.wide64()
		if err != nil || unrounded[i] == nil || ref[i] == nil {
			e.Err = "its backward gives nothing in float64"
			if err != nil {
				e.Err = err.Error()
			}
			f.add(e, n.pc, n.in[i], got, got, got)
			continue
		}
		u, r := unrounded[i], slices.Clone(ref[i])
		if vanishes(got, u, r) {
			u = f.settle(n, i, arrived, u)
			r = f.settle(n, i, at.ref, r)
		}
		f.add(e, n.pc, n.in[i], got, u, r)
	}
}

// add compares a gradient, notes the event, and passes the reference on to t.
func (f *gradientTracer) add(e GradientEvent, pc uintptr, t *Tensor, got, unrounded, ref []float64) {
	e.compare(got, unrounded, ref)
	f.t.Events, f.places = append(f.t.Events, e), append(f.places, pc)
	f.deliver(t, &arrival{ref: ref, from: len(f.t.Events) - 1, lost: e.Here() + e.Gone + e.Spread})
}

// event names the gradient of input i of a call.
func (f *gradientTracer) event(n *node, i int, g *Tensor, from int) GradientEvent {
	e := GradientEvent{Op: n.op.Name, Of: tensorName(n.in[i]), Module: n.path, From: from, DType: g.dt, Shape: slices.Clone(g.shape)}
	if e.Of == "" {
		e.Of = n.op.argName(i)
	}
	for k := from; n.op == opCast && k >= 0 && e.For == ""; k = f.t.Events[k].From {
		if op := f.t.Events[k].Op; op != opCast.Name {
			e.For = op
		}
	}
	return e
}

// tensorName is the name of t, or of what t is a cast of; "" where it has none.
func tensorName(t *Tensor) string {
	for ; t != nil; t = t.node.in[0] {
		if t.name != "" || t.node == nil || t.node.op != opCast {
			return t.name
		}
	}
	return ""
}

// run runs a node's backward in float64; what it gives is in row-major order, nil for inputs that want none.
func (f *gradientTracer) run(n *node, dy []float64) (out [][]float64, err error) {
	out = make([][]float64, len(n.in))
	if n.op == opCast || n.op == opToDevice {
		out[0] = dy
		return out, nil
	}
	s := f.s.derive()
	s.arena, s.gen, s.path = f.s.arena.child(f.s.gen), 0, n.path
	defer s.arena.drop()
	b := &Back{S: s, n: n, d: make([]*Tensor, len(n.in)), exact: true}
	b.DY = alloc("TraceGradients", theCPU, Float64, n.out.shape)
	b.DY.scope = s
	s.arena.own(b.DY)
	copy(elements[float64](b.DY), dy)
	if err = attempt(n.op.Name, func() { n.op.Backward(b) }); err != nil {
		return nil, err
	}
	for i, g := range b.d {
		if g != nil {
			out[i] = g.wide64()
		}
	}
	return out, nil
}

// vanishes says whether any number is zero that the others say is not: only then is it asked whether theirs is more than rounding.
func vanishes(got, unrounded, ref []float64) bool {
	for i, v := range got {
		if v == 0 && (unrounded[i] != 0 || ref[i] != 0) {
			return true
		}
	}
	return false
}

// settle makes numbers zero that are zero but for rounding, such as the sum of a batch norm's gradients over its batch, which comes out of
// statistics that were saved in float32. Backward is linear in dy, so its result from dy with every number multiplied by some 2^-20 is
// 2^-20 of the size of the terms of each sum: what is below it has cancelled to what float32 would not know either, 2^-24 of the
// terms. Without cancellation a number is 2^20 times as large.
func (f *gradientTracer) settle(n *node, input int, dy, values []float64) []float64 {
	small := make([]float64, len(dy))
	for i, v := range dy {
		small[i] = v * jitter(uint64(i))
	}
	noise, err := f.run(n, small)
	if err != nil || noise[input] == nil {
		return values
	}
	out := slices.Clone(values)
	for i, v := range noise[input] {
		if finite(v) && math.Abs(out[i]) <= math.Abs(v) {
			out[i] = 0
		}
	}
	return out
}

// jitter is a factor between 2^-21 and 2^-20 of either sign, the same for the same i (SplitMix64).
func jitter(i uint64) float64 {
	z := (i + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	v := math.Float64frombits((1023-21)<<52 | z>>12)
	if z&1 == 1 {
		return -v
	}
	return v
}

// sum compares the sum of two gradients of one tensor with the exact one. It is noted where a number was lost in it: the sum of two
// numbers of a format is never rounded to zero, but it may overflow.
func (f *gradientTracer) sum(t, a, b, sum *Tensor) {
	x, y, got := a.wide64(), b.wide64(), sum.wide64()
	exact := make([]float64, len(got))
	for i := range exact {
		exact[i] = x[i] + y[i]
	}
	e := GradientEvent{Op: "sum of gradients", Of: tensorName(t), From: -1, DType: sum.dt, Shape: slices.Clone(sum.shape)}
	var pc uintptr
	at := f.ends[t]
	if n := t.node; n != nil {
		e.Module, pc, at = n.path, n.pc, f.pending[n]
		if e.Of == "" {
			e.Of = "the result of " + n.op.Name
		}
	}
	if at == nil || len(at.ref) != len(got) {
		return
	}
	e.From = at.from
	e.compare(got, exact, at.ref)
	if e.Here() == 0 {
		return
	}
	f.t.Events, f.places = append(f.t.Events, e), append(f.places, pc)
	at.from, at.lost = len(f.t.Events)-1, e.Here()+e.Gone+e.Spread
}

// move passes what arrived at a checkpointed part on to the result of its second run.
func (f *gradientTracer) move(n *node, y *Tensor) {
	if at := f.take(n); at != nil && y.needs {
		f.deliver(y, at)
	}
}

// end compares a gradient at its end.
func (f *gradientTracer) end(t, g *Tensor) {
	at := f.ends[t]
	if at == nil || g == nil {
		return
	}
	l := GradientLeaf{Name: t.name, DType: g.dt, Shape: slices.Clone(g.shape), From: at.from, N: len(at.ref)}
	var off, all float64
	for i, v := range g.wide64() {
		r := at.ref[i]
		if !finite(r) {
			l.Born++
			continue
		}
		if r != 0 {
			l.Wanted++
		}
		switch {
		case !finite(v):
			l.Bad++
			continue
		case v == 0 && r != 0:
			l.Zeros++
		}
		off += float64((v - r) * (v - r)) // the squares are far from the limits of float64
		all += float64(r * r)
	}
	if all > 0 {
		l.Error = math.Sqrt(off / all)
	}
	f.t.Leaves = append(f.t.Leaves, l)
}

// done resolves the lines of the program.
func (f *gradientTracer) done() {
	src := newSources()
	for i, pc := range f.places {
		var at Event
		src.place(&at, pc)
		e := &f.t.Events[i]
		e.Func, e.File, e.Line, e.Cell, e.CellLine = at.Func, at.File, at.Line, at.Cell, at.CellLine
	}
	f.s.arena.drop()
}

// compare counts what became of each number; all three are in row-major order.
func (e *GradientEvent) compare(got, unrounded, ref []float64) {
	e.N = len(got)
	normal, c := dtypes[e.DType].minNormal, tally{}
	for i, v := range got {
		r, u := ref[i], unrounded[i]
		if !finite(r) {
			e.Born++
			continue
		}
		if r != 0 {
			e.Wanted++
			c.place(math.Abs(r))
		}
		switch {
		case finite(v) && (v != 0 || r == 0):
			if r != 0 && v != r && math.Abs(v) < normal {
				e.Subnormals++
			}
		case v == 0 && u != 0:
			e.Zeros++
		case v == 0:
			e.Gone++
		case !finite(u):
			e.Spread++
		case v != v:
			e.NaNs++
		default:
			e.Infs++
		}
	}
	h := c.export(e.N)
	e.Amax, e.Amin, e.Low, e.Counts = h.Amax, h.Amin, h.Low, h.Counts
}

// place counts a magnitude by the power of two that it does not exceed: 2^e < a ≤ 2^(e+1).
func (c *tally) place(a float64) {
	c.Amax = max(c.Amax, a)
	if c.Amin == 0 || a < c.Amin {
		c.Amin = a
	}
	m, e := math.Frexp(a) // 2^(e-1) ≤ a < 2^e
	if m == 0.5 {
		e--
	}
	c.bins[max(e-1, lowest)-lowest]++
}

// wide64 returns the elements of t as float64, in row-major order.
func (t *Tensor) wide64() []float64 {
	out := make([]float64, 0, t.Len())
	t.eachChunk("trace", func(values []float64) { out = append(out, values...) })
	return out
}

// exactly returns a saved tensor as the reference takes it: on the CPU, and in float64 where it is a float.
func (b *Back) exactly(t *Tensor) *Tensor {
	if !sameDevice(t.st.dev, b.S.root.dev) {
		t = b.S.toDevice(t)
	}
	if t.dt.IsFloat() {
		t = To(b.S, t, Float64)
	}
	return t
}

// lossScaleName is the name of the tensor that GradScaler.Scale multiplies losses by.
const lossScaleName = "loss scale"
