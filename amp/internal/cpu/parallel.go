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

type job struct {
	fn   func(lo, hi int)
	n    int
	step int
	next atomic.Int64
	wg   sync.WaitGroup
}

func (j *job) run() {
	for {
		lo := int(j.next.Add(1)-1) * j.step
		if lo >= j.n {
			return
		}
		j.fn(lo, min(lo+j.step, j.n))
	}
}

var (
	startWorkers sync.Once
	queue        chan *job
)

// Parallel calls fn on consecutive ranges of at most grain items that cover [0,n). The ranges depend on n and grain alone,
// never on the number of threads, so a result that is fixed per range is fixed for every machine. A panic in fn is
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
	startWorkers.Do(func() {
		queue = make(chan *job)
		for range threads() - 1 {
			go func() {
				for j := range queue {
					j.run()
					j.wg.Done()
				}
			}()
		}
	})
	var failed atomic.Value
	j := &job{n: n, step: grain}
	j.fn = func(lo, hi int) {
		defer func() {
			if r := recover(); r != nil {
				failed.CompareAndSwap(nil, &r)
			}
		}()
		fn(lo, hi)
	}
	helpers := min(threads()-1, (n-1)/grain)
	for range helpers {
		j.wg.Add(1)
		select {
		case queue <- j:
		default: // every worker is busy: the caller does the work itself
			j.wg.Done()
		}
	}
	j.run()
	j.wg.Wait()
	if r, ok := failed.Load().(*any); ok {
		panic(*r)
	}
}
