package cpu

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestParallelFromManyGoroutines: more loops at a time than the pool has places for, nested and not, each covering its range once.
func TestParallelFromManyGoroutines(t *testing.T) {
	var all sync.WaitGroup
	for g := range 40 {
		all.Go(func() {
			for range 50 {
				seen := make([]atomic.Int32, 200+g)
				Parallel(len(seen), 7, func(lo, hi int) {
					Parallel(hi-lo, 2, func(a, b int) {
						for i := lo + a; i < lo+b; i++ {
							seen[i].Add(1)
						}
					})
				})
				for i := range seen {
					if seen[i].Load() != 1 {
						t.Errorf("item %d done %d times", i, seen[i].Load())
						return
					}
				}
			}
		})
	}
	all.Wait()
	for i := range workers.loops {
		if workers.loops[i].open.Load() || workers.loops[i].taken.Load() {
			t.Error("a finished loop is still open")
		}
	}
}

// TestParallelUsesWorkers: ranges that wait for each other end only if several workers take them.
func TestParallelUsesWorkers(t *testing.T) {
	if threads() < 2 {
		t.Skip("one thread")
	}
	for range 100 {
		var both sync.WaitGroup
		both.Add(2)
		Parallel(2, 1, func(lo, hi int) {
			both.Done()
			both.Wait()
		})
	}
}

// TestPanicsEverywhere: a panic in any range reaches the caller, the rest is not begun, and the workers live on.
func TestPanicsEverywhere(t *testing.T) {
	for at := range 60 {
		func() {
			defer func() {
				if r := recover(); r != at {
					t.Errorf("recovered %v, want %d", r, at)
				}
			}()
			Parallel(60, 1, func(lo, hi int) {
				if lo == at {
					panic(at)
				}
			})
			t.Error("returned")
		}()
	}
	TestParallelUsesWorkers(t)
}

func BenchmarkParallelEmpty(b *testing.B) {
	for b.Loop() {
		Parallel(2, 1, func(lo, hi int) {})
	}
}

// BenchmarkParallelPair is a loop of two ranges of some microseconds, and the same ranges one after the other.
func BenchmarkParallelPair(b *testing.B) {
	work := func(lo, hi int) { pause(50) }
	b.Run("parallel", func(b *testing.B) {
		for b.Loop() {
			Parallel(2, 1, work)
		}
	})
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			work(0, 1)
		}
	})
	b.Run("rests", func(b *testing.B) { // as parallel, after a time in which only the caller works
		for b.Loop() {
			pause(2500)
			Parallel(2, 1, work)
		}
	})
	b.Run("rest", func(b *testing.B) {
		for b.Loop() {
			pause(2500)
		}
	})
}
