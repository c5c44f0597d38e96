package dataset

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/amp"
)

// slow is a dataset that takes its time and may fail.
type slow struct {
	*Images
	wait  time.Duration
	calls atomic.Int64
	fail  func(i int) error
}

func (d *slow) Sample(i int, dst *Sample) error {
	d.calls.Add(1)
	time.Sleep(d.wait)
	if d.fail != nil {
		if err := d.fail(i); err != nil {
			return err
		}
	}
	return d.Images.Sample(i, dst)
}

// settled waits until no more goroutines run than before.
func settled(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func TestPrefetchEndsWithTheLoop(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	d := &slow{Images: numbered(100), wait: time.Millisecond}
	before := runtime.NumGoroutine()
	l := NewLoader(d, 10, Prefetch(5))
	for range l.Epoch(root) {
		break
	}
	calls := d.calls.Load() // the goroutines have ended, or are about to
	settled(t, before)
	time.Sleep(5 * time.Millisecond)
	if d.calls.Load() != calls {
		t.Error("samples are still read after the break")
	}
	func() {
		defer func() { recover() }()
		for range l.Batches(root) {
			panic("out of the loop")
		}
	}()
	settled(t, before)
	for s := range root.Steps(2) {
		l.Next(s)
	}
	settled(t, before) // what Next has begun ends by itself
}

func TestLoopEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	root := amp.NewScope(amp.WithContext(ctx))
	defer root.Close()
	l := NewLoader(&slow{Images: numbered(1000), wait: time.Millisecond}, 10, Prefetch(2))
	n := 0
	for range l.Epoch(root) {
		if n++; n == 2 {
			cancel()
		}
	}
	if n != 2 {
		t.Errorf("%d batches, the context ended during the second", n)
	}
	for range l.Batches(root) {
		t.Error("a loop began after the end of the context")
	}
	if st := l.State(); st.Position != 20 {
		t.Errorf("the position is %d; batches that nobody took must not count", st.Position)
	}

	// While a batch is waited for, too: the sample at work may be finished, not all thousand.
	ctx, cancel = context.WithCancel(context.Background())
	waiting := amp.NewScope(amp.WithContext(ctx))
	defer waiting.Close()
	d := &slow{Images: numbered(1000), wait: 10 * time.Millisecond, fail: func(int) error { cancel(); return nil }}
	for range NewLoader(d, 1000).Epoch(waiting) {
		t.Error("a batch came")
	}
	if n := d.calls.Load(); n == 1000 {
		t.Error("all samples were read after the end of the context")
	}
}

var errBroken = errors.New("broken sector")

func TestErrorsOfWorkersReachTheLoop(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, prefetch := range []int{0, 1, 3} {
		root := amp.NewScope()
		fail := atomic.Bool{}
		fail.Store(true)
		d := &slow{Images: numbered(10), fail: func(i int) error {
			if i == 5 && fail.Load() {
				return errBroken
			}
			return nil
		}}
		l := NewLoader(d, 2, Prefetch(prefetch))
		n := 0
		err := amp.Maybe(func() {
			for range l.Epoch(root) {
				n++
			}
		})
		if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "sample 5") || n != 2 {
			t.Errorf("prefetch %d: after %d batches: %v", prefetch, n, err)
		}
		if st := l.State(); st.Position != 4 {
			t.Errorf("prefetch %d: position %d, the batch at fault begins at 4", prefetch, st.Position)
		}
		fail.Store(false)
		if b := l.Next(root); b.Index[0] != 4 {
			t.Errorf("prefetch %d: the batch after the repair is %v", prefetch, b.Index)
		}
		root.Close()
	}
	settled(t, before)
}

func TestPanicsOfWorkersReachTheLoop(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	bad := Transform{Name: "bad", Apply: func(s *Sample) {
		if s.Index == 3 {
			var none []int
			none[s.Index]++
		}
	}}
	for _, prefetch := range []int{0, 2} {
		l := NewLoader(numbered(10), 2, Prefetch(prefetch), bad)
		l.Next(root)
		func() {
			defer func() {
				p, ok := recover().(*WorkerPanic)
				var re runtime.Error
				if !ok || p.Sample != 3 || !errors.As(p, &re) || !strings.Contains(p.Error(), "loader_end_test.go") {
					t.Errorf("prefetch %d: %v", prefetch, p)
				}
			}()
			l.Next(root)
			t.Error("the batch came")
		}()
	}
	mistake := Transform{Name: "mistake", Apply: func(s *Sample) { s.Rand.IntN(0) }}
	if err := amp.Maybe(func() { NewLoader(numbered(3), 1, mistake).Next(root) }); !errors.Is(err, amp.ErrArgument) {
		t.Errorf("an *amp.Error stays one: %v", err)
	}
	gone := Transform{Name: "gone", Apply: func(*Sample) { runtime.Goexit() }}
	if err := amp.Maybe(func() { NewLoader(numbered(3), 1, gone).Next(root) }); !errors.Is(err, errGone) {
		t.Errorf("%v", err)
	}
}
