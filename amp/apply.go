package amp

import (
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
)

// phase is the part of a training step that a scope runs.
type phase uint8

const (
	forwardPhase phase = iota
	backwardPhase
	optimizerPhase
)

// A node is one recorded op call: the tape. Sequence numbers grow with execution, so that backward visits in their order.
type node struct {
	op       *Op
	seq      uint64
	attrs    *Attrs // nil: none were given, as most ops have none
	in       []*Tensor
	out      *Tensor
	versions [savable + 1]uint32 // of the saved inputs and of the output
	path     string
	pc       uintptr
	consumed bool
	custom   *Context   // of an op of the user's own
	replay   *replay    // of a checkpointed part
	few      [3]*Tensor // in, where it fits
}

var nodeSeq atomic.Uint64

// apply is the only way an op runs: decide the dtype, cast (cached), check shapes, run the kernel, record it on the tape and in
// the trace.
func (s *Scope) apply(o *Op, at Attrs, in ...*Tensor) *Tensor {
	defer s.locate(o, in)
	s.alive(o.Name)
	notKept(o.Name, s.root.dev) // before anything is changed
	in = s.bring(o, in)
	if s.calling != nil {
		s.calling.inspect(in)
	}
	if o.Line != NoLine && slices.ContainsFunc(in, (*Tensor).lone) {
		return s.onLines(o, at, in)
	}
	if o.Whole != nil && in[0].isWhole() {
		if y := o.Whole(s, at, slices.Clone(in)); y != nil { // a clone: callers' lists stay off the heap
			return y
		}
	}
	if o.InPlace {
		s.guardInPlace(o, in[0])
	}
	rec := s.root.rec
	var pc uintptr
	if rec != nil {
		pc = s.callSite()
	}
	d := s.decide(o, &at, in)
	c := newCall(o, &at, in)
	s.castInputs(c, &d, in, pc)
	if d.output != NoDType {
		c.DType = d.output
	}
	if s.auto.short != nil {
		s.chooseShort(c, &d)
		s.readShort(c, in)
	}
	time := s.execute(c)
	c.dropShort()
	if s.rounding != nil {
		s.rounding.op(s, c, in, d.rule)
	}
	if rec != nil {
		rec.op(s, c, in, d.rule, pc, time)
	}
	s.tape(c, pc)
	s.dropCasts(c, in)
	out := c.Out
	c.free()
	return out
}

// execute makes the result and runs the kernel; it returns the kernel's time where a recorder wants it.
func (s *Scope) execute(c *Call) took {
	c.Out, c.Module = s.output(c), s.path
	if c.Op.View != nil {
		return took{}
	}
	if s.root.rec != nil {
		return s.timed(c)
	}
	s.run(c)
	return took{}
}

// run runs the kernel, or the copy that a device alone can't make.
func (s *Scope) run(c *Call) {
	if c.Op == opToDevice && !sameDevice(c.In[0].st.dev, s.root.dev) {
		c.Out.copyOf(c.Op.Name, c.In[0])
		return
	}
	kept := c.In
	if c.reads != nil {
		c.In = c.reads
	}
	if g := capturingOn(s.root.dev); g != nil {
		g.Uses(c.In...)
		g.Uses(c.Draw.Origin) // of another graph, for backward of what that made
	}
	err := s.root.dev.Run(c)
	c.In = kept
	if err != nil {
		deviceFault(c.Op.Name, err)
	}
}

// cast runs the cast row for an operand of another op (by), or for the program (by nil), and records it as a cast event.
func (s *Scope) cast(t *Tensor, to DType, r rule, by *Op, operand int, pc uintptr) *Tensor {
	c := spareCalls.Get().(*Call)
	c.Op, c.DType = opCast, to
	c.In = append(c.few[:0], t)
	var time took
	if r == ruleCast {
		c.Out = s.sharedCast(t, to)
	}
	if c.Out != nil {
		c.node = s.newNode(c, to)
	} else {
		time = s.execute(c)
		c.Out.copiedAt = t.st.version.Load()
	}
	if s.rounding != nil {
		s.rounding.cast(s, t, c.Out, r, by, operand)
	}
	if rec := s.root.rec; rec != nil {
		rec.castEvent(s, t, c.Out, casting{rule: r, by: by, operand: operand}, pc, time)
	}
	s.tape(c, pc)
	out := c.Out
	c.free()
	return out
}

// locate adds the module path to a panic that passes through, and turns one over an input that is nil into an *Error.
func (s *Scope) locate(o *Op, in []*Tensor) {
	if s == nil || s.path == "" && !slices.Contains(in, nil) {
		return // nothing to add; Go marks a panic that was recovered on the way
	}
	r := recover()
	if r == nil {
		return
	}
	e, ok := r.(*Error)
	if k := slices.Index(in, nil); k >= 0 && (readsNil(r) || ok && e.Detail == noTensor) {
		e, ok = o.missing(k), true
		r = e
	}
	if ok && e.Module == "" {
		e.Module = s.path
	}
	panic(r)
}

// readsNil says whether a panic is that of a nil pointer: any other fault of the runtime is not the doing of an input that is left out.
func readsNil(r any) bool {
	e, ok := r.(runtime.Error)
	return ok && strings.Contains(e.Error(), "nil pointer")
}

// need panics if one of the op's first inputs is nil; functions that look at shapes before apply begin with it.
func (o *Op) need(in ...*Tensor) {
	if k := slices.Index(in, nil); k >= 0 {
		panic(o.missing(k))
	}
}

func (o *Op) missing(k int) *Error {
	return &Error{Op: o.Name, Kind: ErrArgument, Detail: o.argName(k) + " is nil", Fix: "pass a tensor"}
}

// admit refuses an input that is freed or lives on another device.
func (s *Scope) admit(o *Op, i int, t *Tensor) {
	t.live(o.Name)
	if !sameDevice(t.st.dev, s.root.dev) {
		in := make([]*Tensor, i+1)
		in[i] = t
		s.refuseMixture(o, i, in)
	}
}

// castInputs brings c.In to the dtypes that autocast and type promotion ask for.
func (s *Scope) castInputs(c *Call, d *decision, in []*Tensor, pc uintptr) {
	if d.target != NoDType {
		for i, t := range in {
			if eligible(t) && t.dt != d.target {
				c.In[i] = s.castFor(c.Op, i, t, d.target, pc)
			}
		}
	}
	if !c.Op.Widens && !c.Op.Floats {
		return
	}
	common, why := c.Op.common(c.In), ruleCastPromotion
	if c.Op.Floats && !common.IsFloat() {
		common, why = Float32, ruleCastWhole
	}
	for i, t := range c.In {
		if t != nil && t.dt != common {
			c.In[i] = s.cast(t, common, why, c.Op, i, pc)
			if why == ruleCastPromotion {
				d.widen()
			}
		}
	}
}

// castFor casts one input for autocast, through the weight-cast cache where it applies.
func (s *Scope) castFor(o *Op, i int, t *Tensor, to DType, pc uintptr) *Tensor {
	if !s.cacheable(t, to) {
		return s.cast(t, to, ruleCast, o, i, pc)
	}
	if hit := s.arena.lookup(t, to); hit != nil {
		if s.rounding != nil { // it may be older than the trace
			s.rounding.cast(s, t, hit, ruleCastHit, o, i)
		}
		if rec := s.root.rec; rec != nil {
			rec.castEvent(s, t, hit, casting{rule: ruleCastHit, by: o, operand: i}, pc, took{})
		}
		return hit
	}
	// The copy is made with gradients on even under NoGrad: it may serve a later use that needs its edge to the weight.
	grad := s
	if s.noGrad || s.casts != nil {
		grad = s.derive()
		grad.noGrad = false
	}
	if s.casts != nil { // of CastsIn, or a checkpointed part: its memory goes, the copies stay as they would without it
		grad.arena, grad.gen = s.casts.arena, s.casts.gen
	}
	cast := grad.cast(t, to, ruleCast, o, i, pc)
	grad.arena.cache.put(t, cast)
	return cast
}

// output makes the result: a view, the first input itself for an in-place op, or a new tensor of the scope's memory.
func (s *Scope) output(c *Call) *Tensor {
	shape := c.Op.Check(c)
	if c.Op.InPlace {
		in := c.In[0]
		in.st.changing()
		return in
	}
	var out *Tensor
	if c.Op.View != nil {
		count(c.Op.Name, shape) // of results with memory of their own alloc counts the elements
		out = c.Op.View(c)
		c.node = s.newNode(c, out.dt)
	} else if dt := c.Op.result(c); s.tapes(c, dt) {
		both := new(struct {
			t Tensor
			n node
		})
		out, c.node = &both.t, &both.n
		out.alloc(c.Op.Name, s.root.dev, dt, shape)
	} else {
		out = alloc(c.Op.Name, s.root.dev, dt, shape)
	}
	if c.Op.Order != nil {
		out.arrange(c.Op.Order(c, shape))
	}
	out.scope = s
	s.arena.own(out)
	return out
}

// result returns the dtype of the row's result.
func (o *Op) result(c *Call) DType {
	if o.Result != nil {
		return o.Result(c)
	}
	return c.In[0].dt
}

// tapes says whether a gradient may be asked for of a result of this dtype.
func (s *Scope) tapes(c *Call, dt DType) bool {
	if s.noGrad || c.Op.Backward == nil || !dt.IsFloat() || c.Op.InPlace {
		return false
	}
	for _, t := range c.In {
		if t != nil && t.needs {
			return true
		}
	}
	return false
}

// newNode returns the node of a result that output did not make; nil where tapes says no.
func (s *Scope) newNode(c *Call, dt DType) *node {
	if !s.tapes(c, dt) {
		return nil
	}
	return new(node)
}

// tape records the call if it has a node.
func (s *Scope) tape(c *Call, pc uintptr) {
	n := c.node
	if n == nil {
		return
	}
	n.op, n.seq, n.out, n.path, n.pc = c.Op, nodeSeq.Add(1), c.Out, s.path, pc
	n.in = append(n.few[:0], c.In...)
	if !c.Attrs.none() {
		at := c.Attrs
		n.attrs = &at
	}
	if s.inherit != nil {
		n.path, n.pc = s.inherit.path, s.inherit.pc
	}
	for i := range min(savable, len(c.In)) {
		if c.Op.Saves&(SaveIn0<<i) != 0 && c.In[i] != nil {
			n.versions[i] = c.In[i].st.version.Load()
			c.In[i].keep()
		}
	}
	if c.Op.Saves&SaveOut != 0 {
		n.versions[savable] = c.Out.st.version.Load()
		c.Out.keep()
	}
	c.Out.node, c.Out.needs = n, true
}

// dropCasts frees the casts that only the kernel needed: those that backward does not read and no cache holds.
func (s *Scope) dropCasts(c *Call, in []*Tensor) {
	for i, t := range c.In {
		if t == nil || t == in[i] || t.st == nil || t.st == c.Out.st {
			continue
		}
		if c.Out.node != nil && i < savable && c.Op.Saves&(SaveIn0<<i) != 0 {
			in[i].share(t)
			continue
		}
		if s.arena.lookup(in[i], t.dt) == t {
			continue
		}
		t.release()
	}
}
