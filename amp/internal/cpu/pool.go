package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The workers are goroutines that live as long as the program. One that has nothing to do looks for work for a moment before it sleeps:
// waking a goroutine takes about 8 µs, which is longer than many a kernel, and the next kernel of a training step follows within a few.
// How long it looks depends on how often that has been worth it lately, so that programs which share the machine, several notebooks
// for one, lose next to nothing to idle workers.

// Bounds of the search for work.
const (
	spinMost  = 50 * time.Microsecond
	spinLeast = 2 * time.Microsecond
	// lost is the time between two looks from which it is clear that the system ran someone else meanwhile.
	lost = 100 * time.Microsecond
)

type pool struct {
	start  sync.Once
	open   [16]atomic.Pointer[job] // loops that may have ranges left
	asleep atomic.Int32
	alarm  chan struct{}
	spin   atomic.Int64 // ns that the next search may take
}

var workers = pool{alarm: make(chan struct{}, 1024)}

// post offers a job to so many workers and returns where it is, or nil if there are too many jobs; the caller then works alone.
func (p *pool) post(j *job, helpers int) *atomic.Pointer[job] {
	p.start.Do(func() {
		p.spin.Store(int64(spinMost))
		for range threads() - 1 {
			go p.work()
		}
	})
	for i := range p.open {
		slot := &p.open[i]
		if slot.Load() != nil || !slot.CompareAndSwap(nil, j) {
			continue
		}
		for range min(helpers, int(p.asleep.Load())) {
			select {
			case p.alarm <- struct{}{}:
			default:
			}
		}
		return slot
	}
	return nil
}

// work is the life of a worker.
func (p *pool) work() {
	for {
		if !p.help() && !p.search() {
			p.sleep()
		}
	}
}

// help works on a job, if there is one. A worker counts itself in before it looks a second time: from then on the caller waits for it.
func (p *pool) help() bool {
	for i := range p.open {
		j := p.open[i].Load()
		if j == nil || int(j.next.Load())*j.step >= j.n {
			continue
		}
		j.active.Add(1)
		if p.open[i].Load() == j {
			j.run()
			j.leave()
			return true
		}
		j.leave()
	}
	return false
}

// waiting says that a job has ranges left.
func (p *pool) waiting() bool {
	for i := range p.open {
		if j := p.open[i].Load(); j != nil && int(j.next.Load())*j.step < j.n {
			return true
		}
	}
	return false
}

// search looks for work for a while and says whether there is some.
func (p *pool) search() bool {
	for s := p.newSpin(); s.more(); {
		if p.waiting() {
			p.spin.Store(min(2*p.spin.Load(), int64(spinMost)))
			return true
		}
	}
	p.spin.Store(max(p.spin.Load()/2, int64(spinLeast)))
	return false
}

// sleep returns when there is work. Whoever posts a job after asleep was raised rings; a job posted before is seen here.
func (p *pool) sleep() {
	p.asleep.Add(1)
	if !p.waiting() {
		<-p.alarm
	}
	p.asleep.Add(-1)
}

// A spin is a short wait that keeps the processor.
type spin struct{ last, end time.Time }

func newSpin() spin { return spinFor(spinMost) }

func (p *pool) newSpin() spin { return spinFor(time.Duration(p.spin.Load())) }

func spinFor(d time.Duration) spin {
	if threads() > runtime.GOMAXPROCS(0) {
		return spin{} // someone else needs this processor
	}
	now := time.Now()
	return spin{now, now.Add(d)}
}

// more waits for about half a microsecond and says whether to go on.
func (s *spin) more() bool {
	if s.last.IsZero() {
		return false
	}
	pause(12)
	now := time.Now()
	ok := now.Before(s.end) && now.Sub(s.last) < lost
	s.last = now
	return ok
}
