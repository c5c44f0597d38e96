package amp

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
)

// A follower looks on while a scope's ops run. It is an interface so that programs that trace no rounding do not link what does.
type follower interface {
	op(s *Scope, c *Call, in []*Tensor, r rule)
	cast(s *Scope, from, to *Tensor, r rule, by *Op, operand int)
	custom(s *Scope, c *Call, in []*Tensor, r rule, from StreamState)
	backward(loss *Tensor)
	stop()
}

// TraceRounding runs f, a forward pass up to its loss of one element, and returns that loss and how much of its error each op's rounding is:
// what [widgets.Rounding] shows. Next to each op the same op runs twice more, in float64 on the CPU: from the operands that it really got,
// which tells what it rounded itself, and from those of a reference, which is in float64 from the parameters and inputs on. The
// derivatives of the reference's loss weigh each op's own rounding: the sum of all Share is Loss - Exact to first order. (This is
// adjoint-based error analysis, as in Menon et al., "ADAPT: algorithmic differentiation applied to floating-point precision tuning", 2018.)
//
// Call every op in the scope that f is given; ErrArgument says where another was used. Loss, gradients, random numbers and what Record notes
// are as without the trace, bit for bit, and Backward of the loss works as ever. Return the loss itself: the numbers of one that a scaler has
// multiplied are multiplied, too.
//
// What has no derivative, such as a comparison, an index, a sign or a drawn number, the reference takes as the pass decided it, and so what
// was changed in place. Conversions to narrower formats, amp.Quantize's among them, count as rounding; operands that a product reads in
// 8 or 4 bits (FP8, FP4) are that product's own, statistics that a batch norm computes are its. ctc_loss gives the derivative by logits, as
// PyTorch's does, so that what is said of its operand is not quite that.
//
// An op of the program's own with a Backward is one op here, and that Backward its derivative. Its Forward runs again, with the random numbers
// of the first time; there c.S.Recomputing() is true, and it must change nothing of the program's. Where it doesn't run in float64 its event
// says why, and the reference goes on from its real result.
//
// The trace is meant for single steps: it holds all results of f in float64, and runs each op five times more, three of them for what it
// would do in other dtypes; what reading 8-bit or 4-bit numbers would do (FP8, FP4) is known of every linear. It panics with ErrShape for a loss of several elements, with ErrArgument for one that no op of f made, and with
// ErrCapture in a captured step.
//
// [widgets.Rounding]: https://pkg.go.dev/github.com/halftone-ml/halftone/widgets#Rounding
func TraceRounding(s *Scope, f func(s *Scope) (loss *Tensor)) (loss *Tensor, trace *RoundingTrace) {
	s.alive("TraceRounding")
	switch {
	case f == nil:
		fail("TraceRounding", ErrArgument, "pass the forward pass", "the function is nil")
	case capturing.Load() != nil:
		fail("TraceRounding", ErrCapture, "trace a step before it is captured", "a trace of rounding reads results back")
	}
	r := newRounding(s)
	defer r.end()
	inner := s.derive().calls("TraceRounding")
	inner.rounding = r
	loss = f(inner)
	if loss == nil {
		fail("TraceRounding", ErrArgument, "return the loss", "the function returned nil")
	}
	loss.live("TraceRounding")
	if loss.Len() != 1 || !loss.dt.IsFloat() {
		fail("TraceRounding", ErrShape, "reduce it with amp.Mean or amp.Sum", "the loss is a %v tensor of shape %v", loss.dt, loss.shape)
	}
	inner.calling.result(loss)
	return loss, r.finish(loss)
}

// A rounding follows one forward pass.
type rounding struct {
	mu      sync.Mutex // ops may run in goroutines
	t       *RoundingTrace
	s       *Scope // the reference's: the CPU's, float64, always with a graph
	shadows map[*storage][]shadow
	events  []*roundingEvent
	of      map[*node]*roundingEvent // by the reference's node
	held    int                      // numbers of the reference so far
	done    bool
	from    *Scope          // that is followed
	record  *roundingRecord // nil of TraceRounding
}

// idle says that nothing is followed: the trace is done, its step is over, or one is captured, in which nothing can be read back.
func (r *rounding) idle() bool {
	if r.record != nil && r.held > loose && r.from.step < 0 && !r.done {
		r.drop()
	}
	return r.done || r.s.arena.gen.Load() != r.s.gen || capturing.Load() != nil
}

func newRounding(s *Scope) *rounding {
	r := &rounding{from: s}
	r.begin()
	return r
}

// begin makes an empty trace, and memory for its reference.
func (r *rounding) begin() {
	s := r.from
	o := s.derive()
	o.root = &root{ctx: context.Background(), dev: theCPU, reference: true}
	o.arena, o.gen = s.arena.child(s.gen), 0
	o.rng = NewStream(0)
	o.auto, o.noGrad, o.phase, o.path, o.again = autocast{}, false, forwardPhase, "", true
	o.part, o.casts, o.results, o.inherit, o.calling, o.rounding = nil, nil, nil, nil, nil, nil
	r.t = &RoundingTrace{Schema: RoundingSchema, Device: s.root.dev.Name(), Step: s.step, Events: []RoundingEvent{}}
	r.s, r.shadows, r.of, r.held, r.done = o, map[*storage][]shadow{}, map[*node]*roundingEvent{}, 0, false
}

// op follows a call of a row.
func (r *rounding) op(s *Scope, c *Call, in []*Tensor, rl rule) {
	o := c.Op
	switch {
	case s.phase == optimizerPhase || !c.Out.dt.IsFloat():
		return
	case o.Counted:
		r.part(c)
		return
	case o.InPlace || o.Backward == nil:
		return // what it makes is taken as it is
	case o == opMul && c.In[1].name == lossScaleName: // that of a GradScaler: a power of two
		r.pass(c.Out, c.In[0], c.In[1])
		return
	case o == opToDevice:
		r.pass(c.Out, c.In[0], nil)
		return
	case o == opQuantize || o == opQuantizeScaled: // what is rounded on purpose
		r.cast(s, c.In[0], c.Out, rl, o, 0)
		return
	}
	r.follow(s, c, in, rl, func(s *Scope, at Attrs, in []*Tensor) *Tensor {
		if o == opReshape { // a view of what the reference may have in another order
			return Reshape(s, in[0], at.Shape...)
		}
		return s.apply(o, at, in...)
	})
}

// follow runs a call again with run, from what it got and from the reference's operands.
func (r *rounding) follow(s *Scope, c *Call, in []*Tensor, rl rule, run func(s *Scope, at Attrs, in []*Tensor) *Tensor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle() || !slices.ContainsFunc(c.In, func(t *Tensor) bool { return t != nil && t.dt.IsFloat() }) {
		return
	}
	of := r.s
	at := c.Attrs
	at.Short = nil
	if at.DType.IsFloat() {
		at.DType = Float64
	}
	e := r.event(s, c.Op)
	e.Rule, e.Compute = sentence(rl, c.Op, e.Autocast, ""), c.computes(in, rl)
	again := func(s *Scope, operands func() []*Tensor) (y *Tensor) {
		err := attempt(c.Op.Name, func() { y = To(s, run(s, at, operands()), Float64).like(c.Out.shape) })
		switch {
		case r.s != of || r.idle(): // a Backward elsewhere ended the trace while code of the program's own ran
			return nil
		case err != nil:
			e.fail(c.Out, err)
			r.add(e)
			return nil
		}
		return y
	}
	ref := again(of, func() []*Tensor { return r.operands(c.In) })
	if ref == nil {
		return
	}
	ref = r.put(c.Out, ref)
	if c.Op.View != nil {
		return
	}
	w := of.Child().NoGrad()
	defer w.arena.drop()
	unrounded := again(w, func() []*Tensor { return r.got(w, c.In) })
	if unrounded == nil {
		return
	}
	e.compare(c.Out, unrounded.wide64(), ref.wide64())
	e.recipes = recipesFor(c)
	e.run = func(s *Scope, in []*Tensor) *Tensor { return run(s, at, in).like(e.Shape) }
	for _, t := range in {
		e.operands = append(e.operands, r.hold(t))
	}
	r.of[ref.node] = e
	r.add(e)
}

// cast follows a conversion, or the use of a cached one.
func (r *rounding) cast(s *Scope, from, to *Tensor, rl rule, by *Op, operand int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle() || s.phase == optimizerPhase || !from.dt.IsFloat() || !to.dt.IsFloat() || r.find(to) != nil {
		return
	}
	ref := r.shadow(from)
	if to.dt.Size() > from.dt.Size() {
		r.put(to, ref)
		return
	}
	e := r.event(s, opCast)
	e.Compute, e.Of = from.dt, tensorName(from)
	switch by {
	case nil:
		e.Rule = sentence(rl, opCast, to.dt, "")
	case opQuantize, opQuantizeScaled:
		e.Op, e.Rule = by.Name, sentence(rl, by, e.Autocast, "")
	default:
		e.For, e.Of, e.Rule = by.Name, cmp.Or(e.Of, by.argName(operand)), sentence(rl, opCast, to.dt, by.Name)
	}
	ref = r.put(to, Reshape(r.s, ref, ref.shape...)) // a node of its own, whose adjoint is that of the uses of the copy
	e.compare(to, from.wide64(), ref.wide64())
	r.of[ref.node] = e
	r.add(e)
}

// end frees the reference. Scopes that f has kept go on without a trace.
func (r *rounding) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop()
}

func (r *rounding) drop() {
	r.s.arena.drop()
	r.done, r.shadows, r.events, r.of = true, nil, nil, nil
}

// event begins that of an op in s.
func (r *rounding) event(s *Scope, o *Op) *roundingEvent {
	e := &roundingEvent{}
	e.Op, e.Module = o.Name, s.path
	if s.auto.on {
		e.Autocast = s.auto.dtype
	}
	if s.inherit != nil {
		e.Module, e.pc = s.inherit.path, s.inherit.pc
	}
	if e.pc != 0 {
		return e
	}
	pc, known := callSites.Program()
	if !known {
		pc = callSites.Learn()
	}
	e.pc = pc
	return e
}

// add notes an event.
func (r *rounding) add(e *roundingEvent) {
	if e.N > 0 {
		r.events = append(r.events, e)
	}
}

// finish weighs every event by what the reference's loss has for a derivative there, and returns the trace; nil if that was done before.
func (r *rounding) finish(loss *Tensor) *RoundingTrace {
	value := loss.Item()
	t, ref := r.last(loss)
	if ref == nil {
		return nil
	}
	t.DType, t.Loss, t.Exact = loss.dt, value, ref.Item()
	if t.Bad = !finite(t.Loss); t.Bad {
		t.Loss = 0
	}
	if t.Born = !finite(t.Exact); t.Born {
		t.Exact = 0
	}
	if err := attempt("TraceRounding", func() {
		backward(r.s, []*Tensor{ref}, nil, []BackwardOption{func(c *backwardConfig) { c.watch = r.weigh }})
	}); err != nil {
		t.Err = err.Error()
	}
	src, sum := newSources(), 0.0
	for _, e := range r.events {
		var at Event
		src.place(&at, e.pc)
		e.Func, e.File, e.Line, e.Cell, e.CellLine = at.Func, at.File, at.Line, at.Cell, at.CellLine
		t.Events = append(t.Events, e.RoundingEvent)
		t.First += e.Share
		sum += float64(e.Spread * e.Spread)
	}
	t.First, t.Spread = plain(t.First), plain(math.Sqrt(sum))
	return t
}

// last returns the trace and the loss of its reference, nil where it is done already. What the program's own code does when it runs once
// more, for a derivative, is not followed, and nobody waits for it.
func (r *rounding) last(loss *Tensor) (t *RoundingTrace, ref *Tensor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return nil, nil
	}
	ref = r.shadow(loss)
	if ref.node == nil {
		fail("TraceRounding", ErrArgument, "compute the loss in the scope that the function is given", "no op of the function made the loss")
	}
	r.done = true
	return r.t, ref
}

// weigh takes the derivative of the loss by a node's result and by its operands.
func (r *rounding) weigh(n *node, dy *Tensor, grads []*Tensor) {
	e := r.of[n]
	if e == nil {
		return
	}
	g := dy.wide64()
	e.weigh(g)
	if e.run == nil {
		return
	}
	for _, dt := range []DType{Float32, BFloat16, Float16} {
		e.what(r.s, dt, g, grads)
	}
}
