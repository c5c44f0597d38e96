package amp

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/halftone-ml/halftone/internal/optional"
)

// A Scope is the first argument of every op. It says how the op runs: the autocast dtype, whether gradients are recorded,
// the device, the recorder, the random stream and the context that can cancel a loop. Scopes are immutable and safe across
// goroutines; never store one in a layer.
type Scope struct {
	root      *root
	arena     *arena
	gen       uint32 // arena generation this scope belongs to
	auto      autocast
	noGrad    bool
	eval      bool
	noInit    bool // SkipInit
	again     bool // a checkpointed part runs for the second time
	rng       *Stream
	phase     phase
	path      string
	step      int
	part      *Op         // the composite whose parts run
	casts     *Scope      // where casts of weights are kept: of CastsIn, and of a checkpointed part
	remembers *memories   // of a checkpointed part's first run
	recalls   *recalling  // of its second
	calling   *calling    // of a function that was handed over, which is to use this scope alone
	rounding  follower    // of TraceRounding; nil without it
	values    *scopeValue // of WithValue
	results   *[]produced // in backward at level Health: the results of the op that runs
	inherit   *node       // in backward: the forward op whose place in the program and model the ops inherit
}

// A root is what all scopes derived from one NewScope share.
type root struct {
	ctx   context.Context
	dev   Device
	note  string
	rec   *recorder
	steps int // training steps begun
	mu    sync.Mutex
	hooks []func(step int) error
	loops []func() error
	close []func() error

	captures []func() error

	scalers []*GradScaler // that scaled a loss, in the order of their first

	gradients *gradientRecord // of RecordGradients; nil without it
	rounding  *roundingRecord // of RecordRounding; nil without it
	reference bool            // of what TraceRounding runs again
}

// An Option configures NewScope.
type Option func(*config)

type config struct {
	ctx      context.Context
	device   string
	seed     uint64
	level    Level
	levelSet bool
	events   int
	every    int

	gradients *gradientRecord
	rounding  *roundingRecord
}

// On chooses the device by name: "cpu" (the default, unless SetDefaultDevice), "cuda:0", or "auto" for the best one that is registered
// and opens; the trace says which. NewScope panics with ErrDevice when it can't be opened.
func On(device string) Option { return func(c *config) { c.device = device } }

// Seed starts the scope's random stream; the default is 0. The same seed gives the same numbers on every machine.
func Seed(seed uint64) Option { return func(c *config) { c.seed = seed } }

// Record turns the recorder on at a level; see Scope.Trace.
func Record(level Level) Option { return func(c *config) { c.level, c.levelSet = level, true } }

// RecordLimit bounds the events that are kept (default 65,536); older ones are dropped and counted.
func RecordLimit(events int) Option { return func(c *config) { c.events = events } }

// HealthEvery makes Record(Health) look at the results of every n-th training step alone; the default is each.
func HealthEvery(n int) Option { return func(c *config) { c.every = n } }

// WithContext lets ctx end the loops of Steps: the step that runs is finished, so that nothing is left half done, and no other
// begins. Loops of your own ask s.Context(). In a notebook the default is a context that interrupting the cell ends.
func WithContext(ctx context.Context) Option { return func(c *config) { c.ctx = ctx } }

// NewScope returns a root scope with autocast off. Close it when done. What the options leave open is taken from the settings of
// a notebook's %amp, where there are some (see [Defaults]); the trace then says so.
func NewScope(opts ...Option) *Scope {
	c := config{ctx: defaultContext(), events: 1 << 16}
	optional.Apply("NewScope", opts, &c, misused)
	d := settings("NewScope")
	force, set := d.complete(&c)
	dev, note := defaultDevice(), ""
	switch {
	case c.device != "":
		dev, note = mustOpen("NewScope", c.device)
	case standard.Load() == nil && d.Device != "":
		_, note = chosen()
		set = append([]string{"device " + d.Device}, set...)
	}
	if set := d.note(set); set != "" {
		note = strings.TrimPrefix(note+"; "+set, "; ")
	}
	r := &root{ctx: c.ctx, dev: dev, note: note, gradients: c.gradients, rounding: c.rounding}
	if c.level != Off {
		r.rec = newRecorder(c.level, c.events, c.every)
	}
	s := newScope(r, c.seed)
	s.auto.force = force
	r.rounding.begin(s)
	return s
}

func newScope(r *root, seed uint64) *Scope {
	settleHeap()
	return &Scope{root: r, arena: &arena{}, rng: NewStream(seed), step: -1}
}

// derive returns a copy to change.
func (s *Scope) derive() *Scope {
	c := *s.known("Scope")
	return &c
}

// In returns a scope whose ops are recorded under name, below the present path: s.In("net").In("0") is "net/0".
func (s *Scope) In(name string) *Scope {
	c := s.derive()
	if c.path != "" {
		name = c.path + "/" + name
	}
	c.path = name
	return c
}

// NoGrad returns a scope that records no graph: for evaluation.
func (s *Scope) NoGrad() *Scope { c := s.derive(); c.noGrad = true; return c }

// EnableGrad returns a scope that records the graph again within a NoGrad one.
func (s *Scope) EnableGrad() *Scope { c := s.derive(); c.noGrad = false; return c }

// Eval returns a scope for evaluation: dropout passes its input on, and batch norm uses its running statistics. Gradients are
// recorded as before, as in PyTorch's module.eval(); s.Eval().NoGrad() turns both off.
func (s *Scope) Eval() *Scope { c := s.derive(); c.eval = true; return c }

// Train returns a scope for training within an Eval one.
func (s *Scope) Train() *Scope { c := s.derive(); c.eval = false; return c }

// Training says whether layers that differ between training and evaluation train: true unless Eval.
func (s *Scope) Training() bool { return !s.known("Training").eval }

// Child returns a scope with its own memory: what is born in it is freed by its Close.
func (s *Scope) Child() *Scope {
	s.alive("Child")
	c := s.derive()
	c.arena = s.arena.child(s.gen)
	c.gen = 0
	return c
}

// Steps yields n scopes, one per training step: each is a child whose temporaries are freed at the end of the step, after which
// the OnStepEnd hooks run. It ends early when the scope's context is done. Parameters, gradients and optimizer state
// belong to no step.
func (s *Scope) Steps(n int) iter.Seq[*Scope] {
	s.known("Steps")
	return func(yield func(*Scope) bool) {
		if s.rounding != nil {
			s.rounding.stop()
		}
		a := s.arena.child(s.gen)
		defer a.drop()
		defer watch(s.root.ctx)()
		for range n {
			s.alive("Steps")
			if s.root.ctx.Err() != nil {
				break
			}
			c := s.derive()
			c.arena, c.gen = a, a.gen.Load()
			s.root.mu.Lock()
			c.step = s.root.steps
			s.root.steps++
			s.root.mu.Unlock()
			s.root.rounding.begin(c)
			more := yield(c)
			a.close()
			s.root.endStep(c.step)
			if !more {
				break
			}
		}
		s.root.run("loop-end hook", &s.root.loops)
	}
}

// Step returns the number of the training step this scope belongs to, from 0; -1 outside Steps.
func (s *Scope) Step() int { return s.known("Step").step }

// Close frees every tensor born in the scope or its children: results of ops, what Own handed over, and in a Child or a step what Rand, Zeros
// and their like made. What these make in a root scope may be parameters; it belongs to none and lives until Free. Scopes made by Autocast,
// NoGrad and In share their parent's memory; closing one of them closes the parent's too.
func (s *Scope) Close() {
	s.known("Close")
	if s.arena.gen.Load() != s.gen {
		return
	}
	if s.arena.parent == nil {
		s.root.run("closing hook", &s.root.close)
		s.root.rec.settle()
	}
	s.arena.drop()
}

// Keep moves a tensor born in this scope to its parent's memory, so that it outlives the scope; in a root scope it then
// lives until Free. It returns t.
func (s *Scope) Keep(t *Tensor) *Tensor {
	s.known("Keep")
	t.live("Keep")
	if t.scope == nil || !s.arena.disown(t) {
		return t
	}
	t.scope = nil
	if p := s.arena.parent; p != nil && p.gen.Load() == s.arena.parentGen {
		k := s.derive()
		k.arena, k.gen = p, s.arena.parentGen
		t.scope = k
		p.own(t)
	}
	return t
}

// Own hands t, a tensor of no scope such as amp.From makes, over to s, which frees it when it closes, and returns it: data of one
// training step. A tensor that a scope owns stays where it is.
func (s *Scope) Own(t *Tensor) *Tensor {
	s.alive("Own")
	t.live("Own")
	if t.scope == nil && t.node == nil {
		t.scope = s
		s.arena.own(t)
	}
	return t
}

// born gives a tensor that no op made to the scope of a step or a Child. In a root scope it stays without one: it may be a parameter.
func (s *Scope) born(t *Tensor) *Tensor {
	if s.arena.parent != nil {
		t.scope = s
		s.arena.own(t)
	}
	return t
}

// Device returns the name of the scope's device.
func (s *Scope) Device() string { return s.known("Device").root.dev.Name() }

// Random returns the scope's random stream, shared with every scope derived from the same root.
func (s *Scope) Random() *Stream { return s.known("Random").rng }

// Context returns the context given by WithContext, or else one that is done once the cell of a notebook is interrupted; outside
// notebooks that never happens.
func (s *Scope) Context() context.Context {
	ask(s.known("Context").root.ctx)
	return s.root.ctx
}

// Scalers returns the scalers that scaled a loss in this scope or one of the same root, in the order of their first: whose histories
// a notebook shows after a cell.
func (s *Scope) Scalers() []*GradScaler {
	s.known("Scalers")
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	return slices.Clone(s.root.scalers)
}

// scaledBy notes that a scaler scaled a loss.
func (r *root) scaledBy(g *GradScaler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.scalers, g) {
		r.scalers = append(r.scalers, g)
	}
}

// Trace returns what was recorded so far. It is empty, with level "off", when NewScope was not asked to Record.
func (s *Scope) Trace() *Trace { return s.known("Trace").root.trace() }

// alive panics when the scope is closed.
func (s *Scope) alive(op string) {
	s.known(op)
	if s.arena.gen.Load() != s.gen {
		fail(op, ErrClosed, "use a scope that is open: the root, or the one Steps gives in this iteration", "%s is closed", s.label())
	}
}

func (s *Scope) label() string {
	l := "scope"
	if s.path != "" {
		l += " " + s.path
	}
	if s.step >= 0 {
		l += fmt.Sprintf(" of step %d", s.step)
	}
	return l
}
