package cpu

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// Threads is how many workers a parallel loop may use: HALFTONE_THREADS, or the processors Go may use.
func Threads() int { return threads() }

func threads() int {
	if n := chosenThreads.Load(); n > 0 {
		return int(n)
	}
	return defaultThreads()
}

var defaultThreads = sync.OnceValue(func() int {
	n, _ := parseThreads(os.Getenv("HALFTONE_THREADS"), runtime.GOMAXPROCS(0))
	return n
})

func init() {
	if _, err := parseThreads(os.Getenv("HALFTONE_THREADS"), runtime.GOMAXPROCS(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// parseThreads reads HALFTONE_THREADS. What is no number of threads is reported and has no effect.
func parseThreads(s string, have int) (int, error) {
	if s == "" {
		return have, nil
	}
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return n, nil
	}
	return have, fmt.Errorf("halftone: HALFTONE_THREADS=%s: ignored, it is no number of threads, using %d; use a whole number above 0", s, have)
}

var chosenThreads atomic.Int32

// SetThreads makes n workers, or as many as by default if n is 0, share the loops that begin from now on. It is for tests.
func SetThreads(n int) { chosenThreads.Store(int32(n)) }

// mostParts is into how many parts a loop is cut at most.
const mostParts = 16

// A loop is a parallel loop on its way. Its ranges are cut into a part for each worker, who takes those of its own part first and helps with
// the others' then: in the next loop over the same memory each finds in its cache what it had there.
type loop struct {
	taken  atomic.Bool  // a caller has this place
	open   atomic.Bool  // workers may come
	active atomic.Int32 // who works on it, the caller included, or looks whether there is something to do
	waits  atomic.Bool  // the caller sleeps until no one is active
	done   chan struct{}

	fn     func(lo, hi int)       // or
	partFn func(part, lo, hi int) // with the part whose worker it is
	n      int                    // items
	step   int                    // items of a range
	ranges int
	parts  int
	failed atomic.Pointer[any] // what the first panic said
	part   [mostParts]part
}

// A part has a cache line of its own.
type part struct {
	next, end atomic.Int64 // ranges
	_         [48]byte
}

// set prepares a loop that no one works on.
func (l *loop) set(n, step int) {
	l.n, l.step = n, step
	l.ranges = (n + step - 1) / step
	l.parts = min(l.ranges, threads(), mostParts)
	for q := range l.parts {
		l.part[q].next.Store(int64(q * l.ranges / l.parts))
		l.part[q].end.Store(int64((q + 1) * l.ranges / l.parts))
	}
}

// work takes ranges until all are taken, those of the part at first.
func (l *loop) work(first int) {
	for q := range l.parts {
		p := &l.part[(first+q)%l.parts]
		for {
			r := p.next.Load()
			if r >= p.end.Load() {
				break
			}
			if r = p.next.Add(1) - 1; r >= p.end.Load() {
				break
			}
			if l.failed.Load() != nil {
				return
			}
			lo := int(r) * l.step
			l.one(first, lo, min(lo+l.step, l.n))
		}
	}
}

// left says that there are ranges that no one has taken.
func (l *loop) left() bool {
	for q := range l.parts {
		if p := &l.part[q]; p.next.Load() < p.end.Load() {
			return true
		}
	}
	return false
}

func (l *loop) one(part, lo, hi int) {
	defer func() {
		if r := recover(); r != nil {
			said := r // on the heap only now
			l.failed.CompareAndSwap(nil, &said)
		}
	}()
	if l.partFn != nil {
		l.partFn(part, lo, hi)
		return
	}
	l.fn(lo, hi)
}

// help lets a worker work on the loop, if it is open. It counts itself in before it looks: from then on the caller waits for it.
func (l *loop) help(first int) bool {
	if !l.open.Load() {
		return false
	}
	l.active.Add(1)
	some := l.open.Load() && l.left()
	if some {
		l.work(first)
	}
	if l.active.Add(-1) == 0 && l.waits.Load() {
		select {
		case l.done <- struct{}{}:
		default:
		}
	}
	return some
}

// wait returns when no one works on the loop any more: soon, since all its ranges are taken.
func (l *loop) wait() {
	for s := newSpin(spinMost); s.more(); {
		if l.active.Load() == 0 {
			return
		}
	}
	l.waits.Store(true)
	for l.active.Load() > 0 {
		<-l.done
	}
	l.waits.Store(false)
}

// Parallel calls fn on consecutive ranges of at most grain items that cover [0,n). The ranges depend on n and grain alone,
// never on the number of threads, so a result that is fixed per range is fixed for every machine. A panic in fn ends the loop and is
// raised in the caller.
func Parallel(n, grain int, fn func(lo, hi int)) { parallel(n, grain, fn, nil) }

// parallel is Parallel with one of two functions. The second one is told whose part of the loop it works on: no two calls at the same time
// have the same one, unless there are more loops.
func parallel(n, grain int, fn func(lo, hi int), partFn func(part, lo, hi int)) {
	if n <= 0 {
		return
	}
	grain = max(grain, 1)
	var l *loop
	if n > grain && threads() > 1 {
		l = workers.place()
	}
	if l == nil {
		for lo := 0; lo < n; lo += grain {
			if partFn != nil {
				partFn(0, lo, min(lo+grain, n))
			} else {
				fn(lo, min(lo+grain, n))
			}
		}
		return
	}
	l.fn, l.partFn = fn, partFn
	l.set(n, grain)
	workers.post(l)
	l.work(0)
	l.open.Store(false)
	if l.active.Add(-1) > 0 {
		l.wait()
	}
	failed := l.failed.Swap(nil)
	l.fn, l.partFn = nil, nil
	l.taken.Store(false)
	if failed != nil {
		panic(*failed)
	}
}
