package cudart_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// elsewhere calls f in another goroutine and returns the *amp.Error that it panicked with.
func elsewhere(f func()) error {
	done := make(chan error)
	go func() {
		err := errors.New("the goroutine ended")
		defer func() { done <- err }()
		err = amp.Maybe(f)
	}()
	return <-done
}

// TestNobodyElseDuringCapture: what another goroutine does on a device while a step is captured there is refused, and leaves no trace: neither in
// its own tensors nor in the step.
func TestNobodyElseDuringCapture(t *testing.T) {
	device := gpu(t)
	s, o := amp.NewScope(amp.On(device)), amp.NewScope(amp.On(device), amp.Seed(3))
	defer s.Close()
	defer o.Close()
	x, y := amp.Full(s, amp.Float32, 1, 4), amp.Full(o, amp.Float32, 1, 4)
	z := amp.Full(o, amp.Float32, 9, 4)
	graph := o.Capture(func(c *amp.Scope) { amp.Assign(y, amp.Add(c, y, y)) }) // y is 2
	defer graph.Close()
	calls := map[string]func(){
		"op":          func() { amp.Add(o, y, y) },
		"in place":    func() { amp.Assign(y, z) },
		"same root":   func() { amp.AddInPlace(s, y, y) },
		"random":      func() { amp.Randn(o, amp.Float32, 0, 1, 4) },
		"new":         func() { amp.Full(o, amp.Float32, 3, 4) },
		"by a rule":   func() { amp.Arange(o, amp.Float32, 0, 4, 1) },
		"from host":   func() { amp.SetValues(y, []float32{7, 7, 7, 7}) },
		"to host":     func() { y.Float64s() },
		"to device":   func() { amp.From([]float32{1}).To(o) },
		"replay":      graph.Replay,
		"own capture": func() { o.Capture(func(c *amp.Scope) { amp.Add(c, y, y) }) },
		"close": func() {
			if e := (*amp.Error)(nil); errors.As(graph.Close(), &e) {
				panic(e)
			}
		},
	}
	runs := 0
	g := s.Capture(func(c *amp.Scope) {
		runs++
		amp.AddInPlace(c, x, amp.Full(c, amp.Float32, 1, 4))
		for name, call := range calls {
			err := elsewhere(call)
			if name == "close" && err != nil && strings.Contains(err.Error(), "another step is being captured") {
				continue
			}
			if !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), "another goroutine is capturing a step on cuda:0") ||
				!strings.HasSuffix(err.Error(), "; fix: wait until Capture returns") {
				t.Errorf("%s in run %d: %v", name, runs, err)
			}
		}
	})
	defer g.Close()
	g.Replay()
	g.Replay()
	if got := y.Float64s(); !slices.Equal(got, []float64{2, 2, 2, 2}) {
		t.Errorf("the other's tensor is %v", got)
	}
	if got := x.Float64s(); !slices.Equal(got, []float64{4, 4, 4, 4}) {
		t.Errorf("the step's tensor is %v after its run and two replays", got)
	}
	if at := o.Random().State(); at.Counter != 0 {
		t.Errorf("the other's stream is at %+v", at)
	}
	if err := elsewhere(func() { amp.Add(o, y, y).Float64s() }); err != nil {
		t.Errorf("after Capture: %v", err)
	}
}

// TestCaptureWaitsForOthers: a goroutine that computes and reads all the time is refused while steps are captured, and never breaks one.
func TestCaptureWaitsForOthers(t *testing.T) {
	device := gpu(t)
	s, o := amp.NewScope(amp.On(device)), amp.NewScope(amp.On(device))
	defer s.Close()
	defer o.Close()
	x, y := amp.Full(s, amp.Float32, 1, 8), amp.Full(o, amp.Float32, 1, 8)
	var stop atomic.Bool
	var worked atomic.Int32
	other := make(chan error)
	go func() {
		var first error
		for !stop.Load() {
			c := o.Child()
			err := amp.Maybe(func() {
				if got := amp.Sum(c, amp.Add(c, y, y)).Item(); got != 16 {
					first = errors.Join(first, errors.New("a sum is wrong"))
				}
				worked.Add(1)
			})
			c.Close()
			if err != nil && !strings.Contains(err.Error(), "another goroutine is capturing") {
				first = errors.Join(first, err)
			}
		}
		other <- first
	}()
	for n := range int32(20) {
		for worked.Load() < n { // let it come between two captures
		}
		if err := amp.Maybe(func() {
			g := s.Capture(func(c *amp.Scope) { amp.Add(c, x, x) })
			g.Replay()
			_ = g.Close()
		}); err != nil {
			t.Errorf("capture %d: %v", n, err)
		}
	}
	stop.Store(true)
	if err := <-other; err != nil {
		t.Error(err)
	}
}

// TestTimingDuringCapture: a timing that another goroutine ends, and a counting that it asks for, while a step is captured are no part of it.
func TestTimingDuringCapture(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device))
	defer s.Close()
	d, _, err := amp.OpenDevice(device)
	if err != nil {
		t.Fatal(err)
	}
	x := amp.Full(s, amp.Float32, 1, 8)
	clock, runs := d.(amp.Timer).Start(), 0
	var counted amp.Counting
	g := s.Capture(func(c *amp.Scope) {
		amp.AddInPlace(c, x, x)
		if runs++; runs == 2 {
			_ = elsewhere(func() {
				clock.Stop()
				counted = d.(amp.Counter).Count(x)
			})
		}
		amp.AddInPlace(c, x, x)
	})
	defer g.Close()
	g.Replay()
	if !clock.Done() || clock.Duration() != 0 || counted != nil {
		t.Errorf("a timing that was ended during a capture took %v, a counting is %v", clock.Duration(), counted)
	}
	if got := x.Float64s()[0]; got != 16 {
		t.Errorf("the tensor is %v after a run and a replay", got)
	}
}
