package amp

import (
	"container/heap"
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/internal/optional"
)

// A BackwardOption configures Backward and Grad.
type BackwardOption func(*backwardConfig)

type backwardConfig struct {
	create, retain, allowUnused bool
	seeds                       []*Tensor
	trace                       *GradientTrace
	watch                       func(n *node, dy *Tensor, grads []*Tensor) // of TraceRounding: told of each node, and leaves get nothing
}

// CreateGraph records the backward pass itself, so that the gradients can be differentiated again. It implies RetainGraph. The Grad that
// Backward leaves is a tensor of its own then too, which later passes may add to.
func CreateGraph() BackwardOption {
	return func(c *backwardConfig) { c.create, c.retain = true, true }
}

// RetainGraph keeps the graph for another backward pass.
func RetainGraph() BackwardOption { return func(c *backwardConfig) { c.retain = true } }

// AllowUnused makes Grad return nil for inputs that the outputs do not depend on, instead of panicking.
func AllowUnused() BackwardOption { return func(c *backwardConfig) { c.allowUnused = true } }

// GradOutputs gives the gradients of the outputs, one each; without it outputs must have one element, and get 1.
func GradOutputs(dy ...*Tensor) BackwardOption {
	return func(c *backwardConfig) { c.seeds = dy }
}

// Backward computes the gradient of t, a tensor of one element unless GradOutputs is given, with respect to every leaf that wants
// one, and adds it to that leaf's Grad. Ops run in the dtypes their forward ran in; where a gradient is a formula of several ops,
// halves are computed in float32 and rounded once. It panics with ErrGrad when t depends on no such leaf, belongs to no scope (as
// a leaf of amp.From's, and what a root scope keeps), or its graph was used up, and with ErrStale when a saved tensor was changed in place.
// Goroutines may run backward passes at the same time, over parameters that they share: each pass adds its gradients when it ends.
func (t *Tensor) Backward(opts ...BackwardOption) {
	t.live("Backward")
	s := t.scope
	switch {
	case !t.needs:
		fail("Backward", ErrGrad, "compute it from parameters outside NoGrad, in a scope", "%v tensor %sof shape %v depends on nothing that wants a gradient", t.dt, quoted(t.name), t.shape)
	case s == nil: // whose memory and device the pass would work in
		fail("Backward", ErrGrad, "call it on what an op makes of the tensor, amp.MulScalar(s, t, 1) at least", "%v tensor %sof shape %v belongs to no scope", t.dt, quoted(t.name), t.shape)
	}
	recorded(s, t, opts)
	s.untended()
}

// Grad returns the gradients of the sum of outputs, each of one element unless GradOutputs is given, with respect to inputs, and leaves
// every Grad alone. It walks what lies between them and no more: the graph above an input that is itself a result is not used up. The
// results belong to scope s. It panics with ErrShape for an output of several elements, whose gradient amp.Sum of it gives, and with
// ErrGrad for an input that the outputs do not depend on, unless AllowUnused. (PyTorch: torch.autograd.grad.)
func Grad(s *Scope, outputs, inputs []*Tensor, opts ...BackwardOption) []*Tensor {
	s.alive("Grad")
	return backward(s, outputs, inputs, opts)
}

// An engine is one backward pass.
type engine struct {
	cfg     backwardConfig
	s       *Scope
	queue   nodeQueue
	pending map[*node]*Tensor   // gradient of each node's result so far
	leaves  map[*Tensor]*Tensor // gradient of each leaf so far
	order   []*Tensor           // leaves in the order they were reached
	parts   map[*Tensor][]part  // gradients of parts of tensors that are still to be put together
	want    map[*Tensor]int     // Grad: inputs and their index, the first of several; nil for Backward
	ways    map[*node]bool      // Grad: what leads found out
	got     []*Tensor
	reruns  []rerunMemory
	others  map[Device]*Scope // of parts of the graph on other devices
	held    map[*Tensor]int   // gradients that are still to be read, with the number of places that hold them
	tracer  *gradientTracer   // of TraceGradients; nil without it
}

func backward(s *Scope, outputs, inputs []*Tensor, opts []BackwardOption) []*Tensor {
	e := engine{pending: map[*node]*Tensor{}, leaves: map[*Tensor]*Tensor{}, held: map[*Tensor]int{}}
	optional.Apply("Backward", opts, &e.cfg, misused)
	e.s = s.derive()
	e.s.phase = backwardPhase
	e.s.auto = autocast{}
	e.s.noGrad = !e.cfg.create
	if e.s.noGrad { // a graph of the gradients may lead to a loss, which TraceRounding then asks about
		e.s.rounding = nil
	}
	if !e.cfg.create { // temporaries live in memory of their own and go as soon as they are read
		e.s.arena, e.s.gen = s.arena.child(s.gen), 0
		defer e.s.arena.drop()
	}
	if inputs != nil {
		e.expect(inputs)
	}
	if e.cfg.trace != nil {
		e.tracer = newGradientTracer(e.s, e.cfg.trace)
		e.tracer.want = e.want
		defer e.tracer.done()
	}
	e.seed(outputs)
	for e.queue.Len() > 0 {
		e.visit(heap.Pop(&e.queue).(*node))
	}
	if e.tracer != nil {
		e.traceEnds(inputs)
	}
	if e.want != nil {
		return e.finishGrad(s, inputs)
	}
	if e.cfg.watch != nil {
		return nil
	}
	mixes := scaled(outputs[0])
	for _, leaf := range e.order {
		e.join(leaf)
		g := e.hooked(leaf, e.leaves[leaf])
		leaf.accumulate(s, e.on(g), g, mixes) // g is on the leaf's device, where the leaf itself may be gone
	}
	return nil
}

// expect notes the inputs that Grad was asked about.
func (e *engine) expect(inputs []*Tensor) {
	e.want = map[*Tensor]int{}
	e.got = make([]*Tensor, len(inputs))
	for i, in := range inputs {
		in.live("Grad")
		if !in.needs {
			fail("Grad", ErrGrad, "call RequireGrad on it before the forward pass", "input %d %sof shape %v wants no gradient", i, quoted(in.name), in.shape)
		}
		if _, twice := e.want[in]; !twice {
			e.want[in] = i
		}
	}
}

func (e *engine) seed(outputs []*Tensor) {
	op := "Backward"
	if e.want != nil {
		op = "Grad"
	}
	if e.cfg.seeds != nil && len(e.cfg.seeds) != len(outputs) {
		fail(op, ErrArgument, "give one gradient per output", "%d outputs, %d gradients", len(outputs), len(e.cfg.seeds))
	}
	for i, t := range outputs {
		t.live(op)
		if !t.dt.IsFloat() || !t.needs {
			fail(op, ErrGrad, "compute it from parameters that want gradients, outside NoGrad; only floats have gradients", "output %v %v", t.dt, t.shape)
		}
		var dy *Tensor
		if e.cfg.seeds != nil {
			dy = e.cfg.seeds[i]
			dy.live("GradOutputs")
			if dy.dt != t.dt || !slices.Equal(dy.shape, t.shape) {
				fail(op, ErrShape, "a gradient has the shape and dtype of its output", "output %v %v, gradient %v %v", t.dt, t.shape, dy.dt, dy.shape)
			}
		} else {
			if t.Len() != 1 {
				fail(op, ErrShape, "reduce it with amp.Mean or amp.Sum, or pass amp.GradOutputs", "%v tensor of shape %v has %d elements", t.dt, t.shape, t.Len())
			}
			dy = filled(op, t.st.dev, t.dt, 1, t.shape)
			dy.scope = e.on(dy)
			e.s.arena.own(dy)
		}
		if e.tracer != nil {
			e.tracer.start(t, dy)
		}
		e.deliver(t, dy)
	}
}

// deliver adds a gradient to what t has so far.
func (e *engine) deliver(t, g *Tensor) {
	if i, ok := e.want[t]; ok {
		e.got[i] = e.add(t, e.got[i], g)
	}
	if t.node == nil {
		if e.want == nil {
			old, seen := e.leaves[t]
			if !seen {
				e.order = append(e.order, t)
			}
			e.leaves[t] = e.add(t, old, g)
		}
		return
	}
	if e.wants(t) { // of one that was asked about, for its hooks at least
		e.reach(t.node)
		e.pending[t.node] = e.add(t, e.pending[t.node], g)
	}
}

// reach puts a node that is to be visited into the queue.
func (e *engine) reach(n *node) {
	if _, seen := e.pending[n]; !seen {
		e.pending[n] = nil
		heap.Push(&e.queue, n)
	}
}

// add returns a + b, b where there is no a yet, and holds the result: a gradient of t.
func (e *engine) add(t, a, b *Tensor) *Tensor {
	if a != nil {
		one := b
		b = Add(e.on(b), a, b)
		if e.tracer != nil {
			e.tracer.sum(t, a, one, b)
		}
		e.drop(a)
	}
	e.held[b]++
	return b
}

// soFar is Back's. Gradients are wanted apart by those who look at them: a trace, a record of this step, Grad; and a graph of the backward
// pass shows sums.
func (e *engine) soFar(b *Back) *Tensor {
	t := b.n.in[0]
	if _, asked := e.want[t]; asked || t.node == nil || e.cfg.create || e.tracer != nil || e.cfg.watch != nil || b.S.results != nil || b.n.op.Wide && t.dt.IsHalf() {
		return nil
	}
	if slices.Contains(b.n.in[1:], t) {
		return nil
	}
	if g := e.pending[t.node]; g != nil && g.contiguous() && g.st.dev == b.DY.st.dev {
		return g
	}
	return nil
}

// replace gives t the sum that a row made of what it had.
func (e *engine) replace(t, sum *Tensor) {
	e.drop(e.pending[t.node])
	e.pending[t.node] = sum
	e.held[sum]++
}

// on returns the scope of the backward pass on t's device.
func (e *engine) on(t *Tensor) *Scope {
	t.live("Backward")
	if t.st.dev == e.s.root.dev {
		return e.s
	}
	s := e.others[t.st.dev]
	if s == nil {
		s = e.s.onDevice(t.st.dev)
		if e.others == nil {
			e.others = map[Device]*Scope{}
		}
		e.others[t.st.dev] = s
	}
	return s
}

// drop lets go of one hold on g.
func (e *engine) drop(g *Tensor) {
	if e.held[g]--; e.held[g] == 0 {
		delete(e.held, g)
	}
}

// visit runs one node's Backward and passes its gradients on.
func (e *engine) visit(n *node) {
	e.join(n.out)
	dy := e.pending[n]
	delete(e.pending, n)
	e.drop(dy)
	if n.consumed && e.leads(n) {
		panic(&Error{Op: "Backward", Kind: ErrGrad, Module: n.path, Detail: "the graph of " + n.op.Name + " was used up by an earlier Backward",
			Fix: "pass amp.RetainGraph() to the earlier one, or run the forward pass again"})
	}
	dy = e.passed(n, dy)
	if !e.leads(n) {
		return
	}
	if n.replay != nil {
		e.rerun(n, dy)
		n.consumed = !e.cfg.retain
		return
	}
	s := e.on(dy).derive()
	s.inherit, s.path = n, n.path
	b := &Back{S: s, n: n, e: e, d: make([]*Tensor, len(n.in))}
	b.DY = b.widen(dy)
	rec := s.root.rec
	if rec != nil && rec.sampled(s) && n.op.View == nil && n.op != opCast && n.op != opToDevice { // those pass numbers on
		s.results = new([]produced)
	}
	if n.op.Part != nil && b.Needs(0) && e.gathers(n.in[0]) {
		g, dim, start := n.op.Part(b)
		e.deliverPart(n.in[0], part{g: g, dim: dim, start: start, from: n})
	} else {
		n.op.Backward(b)
	}
	if s.results != nil {
		rec.gradients(s, b.d)
	}
	for i, g := range b.d {
		if g != nil {
			e.check(n, i, g)
		}
	}
	if e.tracer != nil {
		e.tracer.visit(n, dy, b.d)
	}
	if e.cfg.watch != nil {
		e.cfg.watch(n, dy, b.d)
	}
	if b.sum {
		e.replace(n.in[0], b.d[0])
		b.d[0] = nil
	}
	e.passOn(n, b.d)
	// The graph of a cached cast lives as long as the cache; it saves nothing, so it can be walked again.
	if !e.cfg.retain && n.op != opCast {
		n.consumed = true
	}
	if !e.cfg.create {
		e.s.arena.sweep(e.held)
		e.freeReruns()
	}
}

// passOn delivers the gradients of a node's inputs.
func (e *engine) passOn(n *node, grads []*Tensor) {
	for i, g := range grads {
		switch {
		case g == nil:
		case n.op.Part != nil && i == 0 && e.waits(n.in[0]):
			e.deliverPart(n.in[0], part{g: g, from: n, among: true})
		default:
			e.deliver(n.in[i], g)
		}
	}
}

// traceEnds compares the gradients of leaves, or of the inputs that Grad was asked about.
func (e *engine) traceEnds(inputs []*Tensor) {
	for i, t := range inputs {
		if e.want[t] == i {
			e.tracer.end(t, e.got[i])
		}
	}
	for _, leaf := range e.order {
		e.tracer.end(leaf, e.leaves[leaf])
	}
}

// check holds a row to its contract; a wrong gradient would surface far from its cause.
func (e *engine) check(n *node, i int, g *Tensor) {
	if in := n.in[i]; g.dt != in.dt || !slices.Equal(g.shape, in.shape) {
		panic(&Error{Op: n.op.Name + " backward", Kind: ErrShape, Module: n.path,
			Detail: fmt.Sprintf("gradient of %s is %v %v, the input %v %v", n.op.argName(i), g.dt, g.shape, in.dt, in.shape)})
	}
}

// finishGrad moves the results to the memory of the caller's scope.
func (e *engine) finishGrad(s *Scope, inputs []*Tensor) []*Tensor {
	for i, g := range e.got {
		if first := e.want[inputs[i]]; first != i { // asked about twice
			e.got[i] = e.got[first]
			continue
		}
		if g != nil && inputs[i].node == nil {
			e.got[i] = e.hooked(inputs[i], g)
		}
		if g == nil && !e.cfg.allowUnused {
			fail("Grad", ErrGrad, "pass amp.AllowUnused() to get nil for it", "the outputs do not depend on input %d %sof shape %v", i, quoted(inputs[i].name), inputs[i].shape)
		}
	}
	for _, g := range e.got {
		if g != nil && e.s.arena != s.arena && e.s.arena.disown(g) {
			g.scope = s
			s.arena.own(g)
		}
	}
	return e.got
}

// nodeQueue pops the node that ran last first.
type nodeQueue []*node

func (q nodeQueue) Len() int           { return len(q) }
func (q nodeQueue) Less(i, j int) bool { return q[i].seq > q[j].seq }
func (q nodeQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *nodeQueue) Push(x any)        { *q = append(*q, x.(*node)) }
func (q *nodeQueue) Pop() any {
	old := *q
	n := old[len(old)-1]
	*q = old[:len(old)-1]
	return n
}
