package amp

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halftone-ml/halftone/amp/internal/frames"
)

// Level says how much a recorder keeps.
type Level uint8

// The recorder's levels.
const (
	Off       Level = iota // nothing; costs one nil check per op
	Decisions              // which op ran where in which precision and why, casts, times; nothing is read from tensors
	Health                 // Decisions, and what the results hold: magnitudes, zeros, overflows, exponents; reads every result, on a GPU there and without waiting
)

var levelNames = [...]string{"off", "decisions", "health"}

// String returns "off", "decisions" or "health".
func (l Level) String() string {
	if int(l) >= len(levelNames) {
		return fmt.Sprintf("level(%d)", uint8(l))
	}
	return levelNames[l]
}

// rawArg is an Arg without heap memory for the usual shapes.
type rawArg struct {
	dt   DType
	rank int8
	dims [5]uint32
	more *Arg // of shapes that dims does not hold
}

// set fills in an arg that is clear.
func (a *rawArg) set(t *Tensor) {
	a.dt = t.dt
	if len(t.shape) > len(a.dims) {
		a.more = &Arg{t.dt, slices.Clone(t.shape)}
		return
	}
	a.rank = int8(len(t.shape))
	for i, d := range t.shape {
		if d > math.MaxUint32 {
			a.more = &Arg{t.dt, slices.Clone(t.shape)}
			return
		}
		a.dims[i] = uint32(d)
	}
}

func (a *rawArg) arg() Arg {
	if a.more != nil {
		return *a.more
	}
	shape := make([]int, a.rank)
	for i := range shape {
		shape[i] = int(a.dims[i])
	}
	return Arg{a.dt, shape}
}

// rawEvent is an event as it is recorded: fixed size, names and lines unresolved.
type rawEvent struct {
	seq      int
	step     int
	op       *Op
	by       *Op // for casts: who asked
	path     string
	name     string
	pc       uintptr
	ns       int64
	clock    Timing // that knows better than ns; nil once it was asked
	in       [3]rawArg
	out      rawArg
	nin      uint8
	operand  uint8
	rule     rule
	phase    phase
	autocast DType
	compute  DType
	cast     bool
	cached   bool
	changed  bool
	health   Counting // at level Health
	before   Counting // of a cast: what it was given
	gradient bool
	format   Format // of a cast to one shorter than its dtype (rule.casts)
}

// chunkSize is the number of events in a block; blocks are reused in a ring.
const chunkSize = 256

// A recorder keeps the newest events in blocks, so that a long training run costs constant memory.
type recorder struct {
	level Level
	every int // Health looks at every so many steps
	start time.Time

	mu      sync.Mutex
	limit   int
	chunks  [][]rawEvent // oldest first; all full but the last
	seq     int
	dropped int
	spent   atomic.Int64 // ns
	ticks   atomic.Uint32
	kernels atomic.Int64 // ns of all events, so that an op made of others can tell its own time from theirs
}

func newRecorder(level Level, limit, every int) *recorder {
	return &recorder{level: level, every: max(every, 1), start: time.Now(), limit: max(limit, chunkSize)}
}

// askClocks replaces what clocks would say by what they say; those of work that is not done only if it is waited for.
func askClocks(events []rawEvent, wait bool) {
	for i := range events {
		if e := &events[i]; e.clock != nil && (wait || e.clock.Done()) {
			e.ns, e.clock = int64(e.clock.Duration()), nil
		}
	}
}

// settle asks the clocks of work that is done, which then have no need of the device's any more: a trace that nobody reads keeps few.
func (r *recorder) settle() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.chunks {
		askClocks(c, false)
	}
}

// dropClocks gives up the clocks of events that nobody will read.
func dropClocks(events []rawEvent) {
	for i := range events {
		if e := &events[i]; e.clock != nil {
			e.clock.Drop()
			e.clock = nil
		}
	}
}

// next returns a cleared event to fill in; the caller holds the lock.
func (r *recorder) next() *rawEvent {
	last := len(r.chunks) - 1
	if last < 0 || len(r.chunks[last]) == chunkSize {
		if last > 0 {
			askClocks(r.chunks[last-1], false) // long done
		}
		if (last+1)*chunkSize >= r.limit {
			oldest := r.chunks[0]
			dropClocks(oldest)
			r.dropped += len(oldest)
			copy(r.chunks, r.chunks[1:])
			clear(oldest)
			r.chunks[last] = oldest[:0]
		} else {
			r.chunks = append(r.chunks, make([]rawEvent, 0, chunkSize))
			last++
		}
	}
	c := r.chunks[last]
	r.chunks[last] = c[:len(c)+1]
	e := &r.chunks[last][len(c)]
	e.seq = r.seq // the rest is clear
	r.seq++
	return e
}

// fill sets what op and cast events share.
func (e *rawEvent) fill(s *Scope, rl rule, pc uintptr, t took) {
	s.root.rec.kernels.Add(int64(t.ns))
	e.step, e.phase, e.rule, e.pc, e.ns, e.clock, e.path = s.step, s.phase, rl, pc, int64(t.ns), t.clock, s.path
	if s.inherit != nil {
		e.path = s.inherit.path
	}
	if s.auto.on {
		e.autocast = s.auto.dtype
	}
}

// op records one call; in are the inputs as the caller gave them.
func (r *recorder) op(s *Scope, c *Call, in []*Tensor, rl rule, pc uintptr, t took) {
	noted := false
	defer t.clockUnless(&noted)
	health := r.look(s, c)
	begin, sample := r.sample()
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.next()
	e.fill(s, rl, pc, t)
	noted = true
	e.op, e.health = c.Op, health
	e.out.set(c.Out)
	e.compute = c.computes(in, rl)
	for i, t := range in {
		if t == nil || int(e.nin) == len(e.in) {
			continue
		}
		e.in[e.nin].set(t)
		e.nin++
		if used := c.In[i]; used.dt.IsFloat() {
			e.changed = e.changed || used.dt != t.dt && e.autocast != NoDType
		}
	}
	e.changed = e.changed || rl.widens(c, in)
	s.remember(c.Out, e)
	if sample {
		r.spend(begin, sampledEvery)
	}
}

// computes returns the dtype that the kernel works in: of in, the inputs as the caller gave them, the first few decide.
func (c *Call) computes(in []*Tensor, rl rule) DType {
	if rl.widens(c, in) {
		return Float32
	}
	dt, seen := c.Out.dt, 0
	for i, t := range in {
		if t == nil || seen == len(rawEvent{}.in) {
			continue
		}
		seen++
		if used := c.In[i]; used.dt.IsFloat() {
			dt = used.dt
		}
	}
	return dt
}

// widens says whether the list of ops with a float32 result made a call's wider than its inputs.
func (r rule) widens(c *Call, in []*Tensor) bool {
	return r&^ruleForced == ruleOutput && c.Out.dt != in[0].dt
}

// A produced is a result of one op's backward and its event.
type produced struct {
	t *Tensor
	e *rawEvent
}

// remember notes the event of a result, in case that it turns out to be a gradient.
func (s *Scope) remember(t *Tensor, e *rawEvent) {
	if s.results != nil {
		*s.results = append(*s.results, produced{t, e})
	}
}

// gradients marks the events whose results a backward gave as gradients. Those that are views are counted here: of other results
// a view repeats the numbers.
func (r *recorder) gradients(s *Scope, grads []*Tensor) {
	begin := r.now()
	for _, m := range *s.results {
		if !slices.Contains(grads, m.t) {
			continue
		}
		var health Counting
		if m.e.health == nil && r.sampled(s) && m.t.dt.IsFloat() {
			health = m.t.count()
		}
		r.mu.Lock()
		m.e.gradient = true
		if health != nil {
			m.e.health = health
		}
		r.mu.Unlock()
	}
	r.spend(begin, 1)
}

// sampled says whether Health looks at the step of s.
func (r *recorder) sampled(s *Scope) bool {
	return r.level >= Health && (s.step < 0 || s.step%r.every == 0)
}

// look counts the result's exponents where the level and the step ask for it; views hold what was counted before.
func (r *recorder) look(s *Scope, c *Call) Counting {
	if !r.sampled(s) || c.Op.View != nil || !c.Out.dt.IsFloat() {
		return nil
	}
	begin := r.now()
	h := c.Out.count()
	r.spend(begin, 1)
	return h
}

// castEvent records a cast, or a use of a cached one.
func (r *recorder) castEvent(s *Scope, from, to *Tensor, as casting, pc uintptr, t took) {
	var health, before Counting
	noted := false
	defer t.clockUnless(&noted)
	if as.rule != ruleCastHit {
		health = r.look(s, &Call{Op: opCast, Out: to})
	}
	if health != nil && from.dt.IsFloat() { // what was zero or infinite before is not the cast's doing
		begin := r.now()
		before = from.count()
		r.spend(begin, 1)
	}
	begin, sample := r.sample()
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.next()
	e.fill(s, as.rule, pc, t)
	noted = true
	e.health, e.before = health, before
	e.op, e.by, e.operand, e.cast = opCast, as.by, uint8(as.operand), true
	e.name = cmp.Or(as.name, from.name)
	e.nin = 1
	e.in[0].set(from)
	e.out.set(to)
	e.compute = to.dt
	e.cached = as.rule == ruleCast && s.cacheable(from, to.dt)
	e.format = as.format
	s.remember(to, e)
	if sample {
		r.spend(begin, sampledEvery)
	}
}

// callSites remembers the program counters of calls into this module's amp packages.
var callSites = frames.Cache{Own: ownFrame}

// callSite returns the program counter of the program's call that led here: the first frame outside this module's amp
// packages. One counter is kept; its line is looked up when the trace is exported.
func (s *Scope) callSite() uintptr {
	if s.inherit != nil {
		return s.inherit.pc
	}
	r := s.root.rec
	begin, sample := r.sample()
	pc, known := callSites.Program()
	if sample {
		r.spend(begin, sampledEvery)
	}
	if !known {
		begin = r.now()
		pc = callSites.Learn()
		r.spend(begin, 1)
	}
	return pc
}

// The cost of recording is taken from one event of so many, for to look at the clock costs as much as the rest, and is exact where it is
// large. The number shares no factor with chunkSize, so that making a new block is counted as often as it happens.
const sampledEvery = 15

// now returns the time since the recorder was made.
func (r *recorder) now() time.Duration { return time.Since(r.start) }

// sample says whether this event stands for sampledEvery of them, and if so what time it is.
func (r *recorder) sample() (begin time.Duration, yes bool) {
	if r.ticks.Add(1)%sampledEvery != 0 {
		return 0, false
	}
	return r.now(), true
}

// spend adds the time since begin, for so many events, to the cost of recording.
func (r *recorder) spend(begin time.Duration, events int64) {
	r.spent.Add(int64(r.now()-begin) * events)
}

// ownFrame says whether a program counter lies in package amp or a package below it, tests aside.
func ownFrame(pc uintptr) bool {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	rest, ok := strings.CutPrefix(f.Function, "github.com/halftone-ml/halftone/amp")
	return ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/"))
}
