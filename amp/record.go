package amp

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Level says how much a recorder keeps.
type Level uint8

// The recorder's levels.
const (
	Off       Level = iota // nothing; costs one nil check per op
	Decisions              // which op ran where in which precision and why, casts, times; nothing is read from tensors
	Health                 // Decisions, and what the results hold: magnitudes, zeros, overflows, exponents; reads every result
)

var levelNames = [...]string{"off", "decisions", "health"}

// String returns "off", "decisions" or "health".
func (l Level) String() string { return levelNames[l] }

// rawArg is an Arg without heap memory up to five dimensions.
type rawArg struct {
	dt   DType
	rank int8
	dims [5]int
	more []int
}

func (a *rawArg) set(t *Tensor) {
	a.dt, a.rank, a.more = t.dt, int8(min(len(t.shape), 127)), nil
	if copy(a.dims[:], t.shape) < len(t.shape) {
		a.more = append([]int(nil), t.shape...)
	}
}

func (a *rawArg) arg() Arg {
	if a.more != nil {
		return Arg{a.dt, a.more}
	}
	return Arg{a.dt, append([]int{}, a.dims[:a.rank]...)}
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
	health   *Exponents
	gradient bool
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
	spent   time.Duration
	kernels atomic.Int64     // ns of all events, so that an op made of others can tell its own time from theirs
	own     map[uintptr]bool // program counters inside this package and its layers
}

func newRecorder(level Level, limit, every int) *recorder {
	return &recorder{level: level, every: max(every, 1), start: time.Now(), limit: max(limit, chunkSize), own: map[uintptr]bool{}}
}

// askClocks replaces what clocks would say by what they say; those of work that is not done only if it is waited for.
func askClocks(events []rawEvent, wait bool) {
	for i := range events {
		if e := &events[i]; e.clock != nil && (wait || e.clock.Done()) {
			e.ns, e.clock = int64(e.clock.Duration()), nil
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
			askClocks(oldest, true) // which frees the clocks
			r.dropped += len(oldest)
			copy(r.chunks, r.chunks[1:])
			r.chunks[last] = oldest[:0]
		} else {
			r.chunks = append(r.chunks, make([]rawEvent, 0, chunkSize))
			last++
		}
	}
	c := r.chunks[last]
	r.chunks[last] = c[:len(c)+1]
	e := &r.chunks[last][len(c)]
	*e = rawEvent{seq: r.seq}
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
	begin := time.Now()
	health := r.look(s, c)
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.next()
	e.fill(s, rl, pc, t)
	e.op, e.health = c.Op, health
	e.out.set(c.Out)
	e.compute = c.Out.dt
	for i, t := range in {
		if t == nil || int(e.nin) == len(e.in) {
			continue
		}
		e.in[e.nin].set(t)
		e.nin++
		if used := c.In[i]; used.dt.IsFloat() {
			e.compute = used.dt
			e.changed = e.changed || used.dt != t.dt && e.autocast != NoDType
		}
	}
	if rl&^ruleForced == ruleOutput && c.Out.dt != in[0].dt {
		e.compute, e.changed = Float32, true
	}
	s.remember(c.Out, e)
	r.spent += time.Since(begin)
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
	begin := time.Now()
	for _, m := range *s.results {
		if !slices.Contains(grads, m.t) {
			continue
		}
		var health *Exponents
		if m.e.health == nil && r.sampled(s) && m.t.dt.IsFloat() {
			h := CountExponents(m.t)
			health = &h
		}
		r.mu.Lock()
		m.e.gradient = true
		if health != nil {
			m.e.health = health
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	r.spent += time.Since(begin)
	r.mu.Unlock()
}

// sampled says whether Health looks at the step of s.
func (r *recorder) sampled(s *Scope) bool {
	return r.level >= Health && (s.step < 0 || s.step%r.every == 0)
}

// look counts the result's exponents where the level and the step ask for it; views hold what was counted before.
func (r *recorder) look(s *Scope, c *Call) *Exponents {
	if !r.sampled(s) || c.Op.View != nil || !c.Out.dt.IsFloat() {
		return nil
	}
	h := CountExponents(c.Out)
	return &h
}

// castEvent records a cast, or a use of a cached one.
func (r *recorder) castEvent(s *Scope, from, to *Tensor, rl rule, by *Op, operand int, pc uintptr, t took) {
	begin := time.Now()
	var health *Exponents
	if rl != ruleCastHit {
		health = r.look(s, &Call{Op: opCast, Out: to})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.next()
	e.fill(s, rl, pc, t)
	e.health = health
	e.op, e.by, e.operand, e.cast = opCast, by, uint8(operand), true
	e.name = from.name
	e.nin = 1
	e.in[0].set(from)
	e.out.set(to)
	e.compute = to.dt
	e.cached = rl == ruleCast && s.cacheable(from, to.dt)
	s.remember(to, e)
	r.spent += time.Since(begin)
}

// callSite returns the program counter of the program's call that led here: the first frame outside this module's amp
// packages. One counter is kept; its line is looked up when the trace is exported.
func (s *Scope) callSite() uintptr {
	if s.inherit != nil {
		return s.inherit.pc
	}
	begin := time.Now()
	r := s.root.rec
	// Most calls come from a few frames up, and walking the stack is what recording costs; the rest is walked if need be.
	var pcs [32]uintptr
	found := uintptr(0)
	for from, to := 0, 5; found == 0 && from < len(pcs); from, to = to, len(pcs) {
		n := runtime.Callers(3+from, pcs[from:to])
		found = r.program(pcs[from : from+n])
		if n < to-from {
			break
		}
	}
	r.mu.Lock()
	r.spent += time.Since(begin)
	r.mu.Unlock()
	return found
}

// program returns the first program counter that is not this module's own, 0 if there is none.
func (r *recorder) program(pcs []uintptr) uintptr {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pc := range pcs {
		own, known := r.own[pc]
		if !known {
			own = ownFrame(pc)
			r.own[pc] = own
		}
		if !own {
			return pc
		}
	}
	return 0
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
