package amp

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Custom describes an op of the user's own, for Register: in a notebook cell it becomes a row of the table like any other.
type Custom struct {
	Name string   // name in the trace and for Force; a name of Halftone's own ops is refused
	Doc  string   // one sentence with the formula
	Args []string // names of the inputs, for messages; a call must have as many. None: any number
	// Class is what autocast does with the inputs: Lower, FP32, Promote, or Inherit for an op that follows them. Without one the op
	// follows its inputs too, as an op that is not registered with PyTorch's autocast does, and says so once; Unclassified
	// chooses otherwise. (Popular writing has it that such ops fall back to float32: they do not.)
	Class Class
	Why   string // why that class, for Explain and the trace
	// CastInputs is custom_fwd's cast_inputs: under autocast the inputs are cast to it whatever the class. NoDType: by class.
	CastInputs DType
	// Forward computes the result from ops of this package in scope c.S, and in no other: a result made in a scope around it is refused. Where the class or CastInputs decided the inputs, autocast
	// is off in that scope; otherwise it is as the caller has it.
	Forward func(c *Context, in []*Tensor) *Tensor
	// Backward returns the gradient of each input, nil for those without, given that of the result, which has its dtype. It
	// runs under the autocast state that Forward ran in (custom_bwd), in ops of this package, so that it can be differentiated
	// again. Nil: the gradient follows the ops of Forward.
	Backward func(c *Context, dy *Tensor) []*Tensor
}

// A Context is one call of a custom op: what Forward leaves for Backward.
type Context struct {
	S        *Scope // the scope to call ops in
	Value    any    // anything else that Backward needs
	auto     autocast
	saved    []*Tensor
	versions []uint32
}

// Save keeps tensors for Backward: inputs, the result, or what was computed from them.
func (c *Context) Save(ts ...*Tensor) {
	for _, t := range ts {
		t.live("Save")
		t.keep()
		c.saved = append(c.saved, t)
		c.versions = append(c.versions, t.st.version.Load())
	}
}

// Saved returns tensor i that Save kept. It panics with ErrStale if it was changed in place since.
func (c *Context) Saved(i int) *Tensor {
	if i < 0 || i >= len(c.saved) {
		fail("Saved", ErrArgument, "call c.Save in Forward for each tensor that Backward reads", "tensor %d of %d", i, len(c.saved))
	}
	t := c.saved[i]
	t.live("Saved")
	if now := t.st.version.Load(); now != c.versions[i] {
		fail("Saved", ErrStale, "call Backward before changing it, or run the forward pass again", "%sof shape %v is at version %d, backward needs %d", quoted(t.name), t.shape, now, c.versions[i])
	}
	return t
}

// Register adds an op of the user's own to the table and returns it as a function. Registering a name again replaces the op, so
// that a cell can be run twice. It panics with ErrArgument for a name of a built-in op, a class that makes no sense for it, or a
// missing Forward.
func Register(u Custom) func(s *Scope, in ...*Tensor) *Tensor {
	switch old, ok := LookupOp(u.Name); {
	case u.Name == "":
		fail("Register", ErrArgument, "set Custom.Name", "an op needs a name")
	case ok && old.custom == nil:
		fail("Register", ErrArgument, "use another name; amp.Force changes the class of a built-in op", "%s is an op of the table", u.Name)
	case u.Forward == nil:
		fail("Register", ErrArgument, "set Custom.Forward", "%s has no Forward", u.Name)
	}
	if !slices.Contains([]Class{Unlisted, Lower, FP32, Promote, Inherit}, u.Class) {
		fail("Register", ErrArgument, "use amp.Lower, amp.FP32, amp.Promote or amp.Inherit", "%s has the class %v", u.Name, u.Class)
	}
	o := &Op{Name: u.Name, Doc: u.Doc, Args: u.Args, Class: u.Class, CPUList: u.Class, Why: u.Why, custom: &u}
	if o.Doc == "" {
		o.Doc = "an op of this program"
	}
	switch {
	case o.Why != "":
	case u.Class == Unlisted && u.CastInputs == NoDType:
		o.Why = "it was registered without a class"
	default:
		o.Why = "it was registered so"
	}
	if u.Backward != nil {
		o.Backward = customBackward
	}
	replace(o)
	return func(s *Scope, in ...*Tensor) *Tensor { return s.runCustom(o, in) }
}

// runCustom is apply for an op of the user's own: decide, cast, Forward, tape, trace.
func (s *Scope) runCustom(o *Op, in []*Tensor) *Tensor {
	defer s.locate(o, in)
	s.alive(o.Name)
	if n := len(o.Args); n > 0 && len(in) != n {
		fail(o.Name, ErrArgument, "pass "+strings.Join(o.Args, ", "), "%d inputs", len(in))
	}
	for i, t := range in {
		if t == nil {
			fail(o.Name, ErrArgument, "pass a tensor for each input", "%s is nil", o.argName(i))
		}
		s.admit(o, i, t)
	}
	rec := s.root.rec
	var pc uintptr
	start, parts := time.Time{}, time.Duration(0)
	if rec != nil {
		pc, start, parts = s.callSite(), time.Now(), rec.kernelTime()
	}
	var at Attrs
	d := s.decideCustom(o, &at, in)
	c := &Call{Op: o, In: slices.Clone(in)}
	s.castInputs(c, &d, in, pc)
	ctx := s.context(o, d)
	inner, drawn := ctx.S, s.rng.State()
	y := o.custom.Forward(ctx, c.In)
	if y == nil {
		fail(o.Name, ErrArgument, "return a tensor", "Forward returned nil")
	}
	y.live(o.Name)
	inner.calling.result(y, slices.Concat(in, c.In)...)
	c.Out = y
	if o.Backward != nil {
		c.Out = y.alias(y.shape, y.strides) // Forward may return an input, which has a place in the graph of its own
		c.Out.scope = s
		s.arena.own(c.Out)
		c.node = s.newNode(c, c.Out.dt)
		s.tape(c, pc)
		if c.Out.node != nil {
			ctx.S = nil
			c.Out.node.custom = ctx
		}
		if s.rounding != nil {
			s.rounding.custom(s, c, in, d.rule, drawn)
		}
	}
	if rec != nil {
		rec.op(s, c, in, d.rule, pc, took{ns: max(0, time.Since(start)-(rec.kernelTime()-parts))})
	}
	s.warnUnclassified(o, c)
	return c.Out
}

// decideCustom is decide with cast_inputs.
func (s *Scope) decideCustom(o *Op, at *Attrs, in []*Tensor) decision {
	if o.custom != nil && o.custom.CastInputs != NoDType && s.auto.on {
		return castOrPass(in, o.custom.CastInputs, ruleCastInputs)
	}
	return s.decide(o, at, in)
}

// context returns what Forward runs in: without autocast where the inputs were decided, as custom_fwd does; without a graph where
// Backward replaces it.
func (s *Scope) context(o *Op, d decision) *Context {
	inner := s.In(o.Name).calls(o.Name)
	if s.auto.on && (d.target != NoDType || d.rule&^ruleForced == ruleUntouched) {
		inner.auto.on, inner.part = false, o
	}
	if o.Backward != nil {
		inner.noGrad, inner.rounding = true, nil // it is followed as a whole
	}
	return &Context{S: inner, auto: inner.auto}
}

// customBackward runs the user's Backward under the autocast state of Forward. Gradients are brought to the dtypes of the inputs.
func customBackward(b *Back) {
	c := *b.n.custom
	c.S = b.S.derive()
	c.S.auto = c.auto
	if b.exact {
		c.widen(b)
	}
	grads := b.n.op.custom.Backward(&c, b.DY)
	if len(grads) != len(b.n.in) {
		fail(b.n.op.Name+" backward", ErrArgument, "return one gradient per input, nil for those without", "%d gradients for %d inputs", len(grads), len(b.n.in))
	}
	for i, g := range grads {
		if g == nil || !b.Needs(i) {
			continue
		}
		if !slices.Equal(g.shape, b.Shape(i)) {
			fail(b.n.op.Name+" backward", ErrShape, "sum it over the dimensions along which the input was repeated", "the gradient of %s is %v, the input %v", b.n.op.argName(i), g.shape, b.Shape(i))
		}
		b.Set(i, To(b.S, g, b.DType(i)))
	}
}

// widen replaces what Forward saved by what a reference takes.
func (c *Context) widen(b *Back) {
	saved, versions := c.saved, c.versions
	c.saved, c.versions = nil, nil
	for i, t := range saved {
		t.live("Saved")
		wide := b.exactly(t)
		version := versions[i]
		if wide != t { // a copy of what the version check is about
			version = wide.st.version.Load()
		}
		c.saved, c.versions = append(c.saved, wide), append(c.versions, version)
	}
}

// Map returns f of every element of x, worked out in float64 and rounded once to x's dtype: the quick way to write the Forward of a
// custom op. No gradient flows through it.
func Map(s *Scope, x *Tensor, f func(v float64) float64) *Tensor {
	s.alive("Map")
	x.live("Map")
	if f == nil {
		fail("Map", ErrArgument, "pass the function of an element", "the function is nil")
	}
	y := alloc("Map", s.root.dev, x.dt, x.shape)
	y.scope = s
	s.arena.own(y)
	x = x.onHost("Map")
	y.rewrite("Map", func(y *Tensor) {
		unaryOn(y, x, func(dst, v []float64) {
			for i, e := range v {
				dst[i] = f(e)
			}
		})
	})
	return y
}

// Unclassified chooses what autocast does with ops of the user's own that have no class: FP32 runs them in float32, Inherit in the
// dtype of their inputs, as PyTorch does. Without it they follow their inputs and a warning says so once per op. It panics with
// ErrArgument for another class.
func Unclassified(class Class) AutocastOption {
	if class != FP32 && class != Inherit {
		fail("Unclassified", ErrArgument, "use amp.FP32 or amp.Inherit", "class %v", class)
	}
	return func(a *autocast) { a.unclassified = class }
}

var warnings = struct {
	sync.Mutex
	to   io.Writer
	said map[string]bool
}{to: os.Stderr, said: map[string]bool{}}

// SetWarnings sends the package's warnings elsewhere than to standard error; nil silences them. It returns the writer they went to.
func SetWarnings(w io.Writer) io.Writer {
	warnings.Lock()
	defer warnings.Unlock()
	old := warnings.to
	warnings.to = w
	return old
}

// Warn writes a warning where SetWarnings says; the arguments are Printf's.
func Warn(format string, args ...any) {
	warnings.Lock()
	defer warnings.Unlock()
	if warnings.to != nil {
		fmt.Fprintf(warnings.to, "amp: warning: "+format+"\n", args...)
	}
}

// warnOnce writes a warning if key has not been warned of.
func warnOnce(key, format string, args ...any) {
	warnings.Lock()
	defer warnings.Unlock()
	if warnings.said[key] || warnings.to == nil {
		return
	}
	warnings.said[key] = true
	fmt.Fprintf(warnings.to, "amp: warning: "+format+"\n", args...)
}

func (s *Scope) warnUnclassified(o *Op, c *Call) {
	_, forced := s.auto.force[o.Name]
	if !s.auto.on || o.Class != Unlisted || o.custom.CastInputs != NoDType || s.auto.unclassified != Unlisted || forced {
		return
	}
	in := "its inputs"
	if len(c.In) > 0 {
		in = c.In[0].dt.String() + ", the dtype of its inputs"
	}
	warnOnce("class of "+o.Name, "op %q has no autocast class: it ran in %s, as an unregistered op does in PyTorch; set Custom.Class, or choose with amp.Unclassified(amp.FP32) or amp.Unclassified(amp.Inherit)", o.Name, in)
}

// tableMu guards the table, which Register may change while a program runs.
var tableMu sync.RWMutex

// replace puts a row in the place of one of its name, or adds it.
func replace(o *Op) {
	tableMu.Lock()
	defer tableMu.Unlock()
	if old := byName[o.Name]; old != nil {
		table[slices.Index(table, old)] = o
	} else {
		table = append(table, o)
	}
	byName[o.Name] = o
}

// kernelTime returns the time of all events recorded so far.
func (r *recorder) kernelTime() time.Duration { return time.Duration(r.kernels.Load()) }
