package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The workers are goroutines that live as long as the program. One that has nothing to do looks for work for a moment before it sleeps:
// waking a goroutine takes 8 to 60 µs, which is longer than many a kernel, and the next kernel of a training step follows within a few.
// How long it looks depends on how soon there was work lately, so that programs which share the machine, several notebooks for one, lose
// next to nothing to idle workers.

// Bounds of the search for work.
const (
	spinMost  = 500 * time.Microsecond
	spinLeast = 2 * time.Microsecond
	// lost is the time between two looks at the clock from which it is clear that the system ran someone else meanwhile.
	lost = 100 * time.Microsecond
)

type pool struct {
	start  sync.Mutex
	live   atomic.Int32 // workers, callers apart
	loops  [16]loop
	posts  atomic.Uint32 // loops begun
	asleep atomic.Int32
	alarm  chan struct{}
}

var workers pool

// place returns one for a loop, or nil if there are too many: the caller then works alone.
func (p *pool) place() *loop {
	if n := threads() - 1; int(p.live.Load()) < n {
		p.begin(n)
	}
	for i := range p.loops {
		if l := &p.loops[i]; !l.taken.Load() && l.taken.CompareAndSwap(false, true) {
			return l
		}
	}
	return nil
}

// begin makes workers until there are n.
func (p *pool) begin(n int) {
	p.start.Lock()
	defer p.start.Unlock()
	if p.alarm == nil {
		p.alarm = make(chan struct{}, n+1) // more would only wake workers for loops long done
		for i := range p.loops {
			p.loops[i].done = make(chan struct{}, 1)
		}
	}
	for i := int(p.live.Load()); i < n; i++ {
		go (&worker{pool: p, part: i + 1, spin: spinMost}).live()
		p.live.Store(int32(i + 1))
	}
}

// post offers a loop to the workers.
func (p *pool) post(l *loop) {
	l.active.Add(1)
	l.open.Store(true)
	p.posts.Add(1)
	for range min(l.parts-1, int(p.asleep.Load())) {
		select {
		case p.alarm <- struct{}{}:
		default:
		}
	}
}

// A worker is one of the pool.
type worker struct {
	pool *pool
	part int           // of a loop, which it takes first
	seen uint32        // of pool.posts: all those loops have been looked at
	spin time.Duration // that the next search may take
}

func (w *worker) live() {
	for {
		w.seen = w.pool.posts.Load()
		if w.help() {
			continue
		}
		idle := time.Now()
		if w.search() {
			w.spin = min(2*w.spin, spinMost)
			continue
		}
		w.sleep()
		if time.Since(idle) < spinMost { // a longer search would have been worth it
			w.spin = min(2*w.spin, spinMost)
		} else {
			w.spin = max(w.spin/2, spinLeast)
		}
	}
}

// help works on a loop, if there is one.
func (w *worker) help() bool {
	for i := range w.pool.loops {
		if w.pool.loops[i].help(w.part) {
			return true
		}
	}
	return false
}

// search waits for the next loop for a while and says whether one came.
func (w *worker) search() bool {
	for s := newSpin(w.spin); s.more(); {
		if w.pool.posts.Load() != w.seen {
			return true
		}
	}
	return false
}

// sleep returns when there may be work. Whoever posts a loop after asleep was raised rings; a loop posted before is seen here.
func (w *worker) sleep() {
	w.pool.asleep.Add(1)
	if w.pool.posts.Load() == w.seen {
		<-w.pool.alarm
	}
	w.pool.asleep.Add(-1)
}

// A spin is a short wait that keeps the processor, but lets goroutines run that wait for it.
type spin struct {
	looks             int
	last, yields, end time.Time
}

func newSpin(d time.Duration) spin {
	if threads() > runtime.GOMAXPROCS(0) {
		return spin{looks: -1} // someone else needs this processor
	}
	now := time.Now()
	return spin{last: now, yields: now.Add(yieldEvery), end: now.Add(d)}
}

const (
	looksPerTime = 8
	yieldEvery   = 25 * time.Microsecond
)

// more waits for a few cycles and says whether to go on.
func (s *spin) more() bool {
	if s.looks < 0 {
		return false
	}
	pause(1)
	if s.looks++; s.looks%looksPerTime > 0 {
		return true
	}
	now := time.Now()
	ok := now.Before(s.end) && now.Sub(s.last) < lost
	if s.last = now; ok && now.After(s.yields) {
		runtime.Gosched()
		s.last = time.Now()
		s.yields = s.last.Add(yieldEvery)
	}
	return ok
}
