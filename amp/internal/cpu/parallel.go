package cpu

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// Threads is how many workers a parallel loop may use: HALFTONE_THREADS, or the processors Go may use.
func Threads() int { return threads() }

var threads = sync.OnceValue(func() int {
	n := runtime.GOMAXPROCS(0)
	if v, err := strconv.Atoi(os.Getenv("HALFTONE_THREADS")); err == nil && v > 0 {
		n = v
	}
	return n
})

// A job is a parallel loop on its way. Whoever works on it takes one range after the other.
type job struct {
	fn      func(lo, hi int)
	n, step int
	next    atomic.Int64 // ranges taken
	active  atomic.Int32 // who works on it, the caller included
	waiter  atomic.Pointer[chan struct{}]
	failed  atomic.Pointer[any] // what the first panic said
}

func (j *job) run() {
	for {
		lo := int(j.next.Add(1)-1) * j.step
		if lo >= j.n || j.failed.Load() != nil {
			return
		}
		j.one(lo, min(lo+j.step, j.n))
	}
}

func (j *job) one(lo, hi int) {
	defer func() {
		if r := recover(); r != nil {
			j.failed.CompareAndSwap(nil, &r)
		}
	}()
	j.fn(lo, hi)
}

// leave ends a worker's part in a job.
func (j *job) leave() {
	if j.active.Add(-1) > 0 {
		return
	}
	if w := j.waiter.Load(); w != nil {
		select {
		case *w <- struct{}{}:
		default:
		}
	}
}

// wait returns when no one works on the job any more: soon, since all its ranges are taken.
func (j *job) wait() {
	for s := newSpin(); s.more(); {
		if j.active.Load() == 0 {
			return
		}
	}
	w := make(chan struct{}, 1)
	j.waiter.Store(&w)
	for j.active.Load() > 0 {
		<-w
	}
}

// Parallel calls fn on consecutive ranges of at most grain items that cover [0,n). The ranges depend on n and grain alone,
// never on the number of threads, so a result that is fixed per range is fixed for every machine. A panic in fn ends the loop and is
// raised in the caller.
func Parallel(n, grain int, fn func(lo, hi int)) {
	if n <= 0 {
		return
	}
	grain = max(grain, 1)
	if n <= grain || threads() == 1 {
		for lo := 0; lo < n; lo += grain {
			fn(lo, min(lo+grain, n))
		}
		return
	}
	j := &job{fn: fn, n: n, step: grain}
	j.active.Store(1)
	slot := workers.post(j, min(threads()-1, (n-1)/grain))
	j.run()
	if slot != nil {
		slot.Store(nil)
		if j.active.Add(-1) > 0 {
			j.wait()
		}
	}
	if r := j.failed.Load(); r != nil {
		panic(*r)
	}
}
