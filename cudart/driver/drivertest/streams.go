package drivertest

import (
	"testing"
	"time"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// spinRounds keep a device busy for a few milliseconds at least.
const spinRounds = 1 << 22

// spin queues one thread's busy loop, whose result lands in out.
func (s *suite) spin(t *testing.T, f driver.Function, st driver.Stream, out driver.DevicePtr, rounds int64) {
	t.Helper()
	a := driver.GetArgs("spin").Ptr(out).Int64(rounds).Int32(7)
	defer a.Put()
	check(t, s.d.Launch(f, one, one, 0, st, a))
}

// spun is what the busy loop comes to.
func spun(rounds int64) uint32 {
	x := uint32(7)
	for range rounds {
		x = x*1664525 + 1013904223
	}
	return x
}

func streams(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	step, spin := s.kernel(t, "drivertest_step"), s.kernel(t, "drivertest_spin")
	out, other := s.alloc(t, 4), s.alloc(t, 4)
	check(t, s.d.Memset32(out, 1, 1, st))
	want := uint32(1)
	for i := range int32(200) {
		s.step(t, step, st, out, i|1, i)
		want = want*uint32(i|1) + uint32(i)
	}
	check(t, s.d.SyncStream(st))
	if got := s.word(t, out); got != want {
		t.Errorf("launches ran in another order: %d, want %d", got, want)
	}

	s.spin(t, spin, st, other, spinRounds)
	if done, err := s.d.StreamDone(st); err != nil || done != s.Immediate {
		t.Errorf("just after a long launch, done is %v, %v", done, err)
	}
	check(t, s.d.SyncStream(st))
	if done, err := s.d.StreamDone(st); err != nil || !done {
		t.Errorf("after waiting, done is %v, %v", done, err)
	}
	if got := s.word(t, other); got != spun(spinRounds) {
		t.Errorf("the busy loop came to %d", got)
	}
	check(t, s.d.Sync())
}

// dependencies between streams hold through events, in both directions, over many rounds.
func dependencies(t *testing.T, s *suite) {
	s.bind(t)
	a, b := s.stream(t), s.stream(t)
	step, spin := s.kernel(t, "drivertest_step"), s.kernel(t, "drivertest_spin")
	out, scratch := s.alloc(t, 4), s.alloc(t, 4)
	ab, err := s.d.NewEvent(false)
	check(t, err)
	ba, err := s.d.NewEvent(false)
	check(t, err, s.d.Memset32(out, 1, 1, a))
	want := uint32(1)
	for i := range int32(30) {
		s.spin(t, spin, a, scratch, 1<<14)
		s.step(t, step, a, out, 3, i)
		check(t, s.d.RecordEvent(ab, a), s.d.StreamWait(b, ab))
		s.step(t, step, b, out, 5, i)
		check(t, s.d.RecordEvent(ba, b), s.d.StreamWait(a, ba))
		want = (want*3+uint32(i))*5 + uint32(i)
	}
	check(t, s.d.SyncStream(a), s.d.SyncStream(b))
	if got := s.word(t, out); got != want {
		t.Errorf("%d, want %d: a stream did not wait for the other", got, want)
	}
	check(t, s.d.DestroyEvent(ab), s.d.DestroyEvent(ba))
}

func events(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	spin := s.kernel(t, "drivertest_spin")
	out := s.alloc(t, 4)
	var e [3]driver.Event
	for i := range e {
		var err error
		e[i], err = s.d.NewEvent(true)
		check(t, err)
	}
	s.spin(t, spin, st, out, 1) // the first launch of a kernel may load it
	check(t, s.d.SyncStream(st))
	began := time.Now()
	check(t, s.d.RecordEvent(e[0], st))
	s.spin(t, spin, st, out, spinRounds/4)
	check(t, s.d.RecordEvent(e[1], st))
	s.spin(t, spin, st, out, spinRounds)
	check(t, s.d.RecordEvent(e[2], st))
	if done, err := s.d.EventDone(e[2]); err != nil || done != s.Immediate {
		t.Errorf("just after a long launch, done is %v, %v", done, err)
	}
	check(t, s.d.SyncEvent(e[2]))
	wall := time.Since(began)
	if done, err := s.d.EventDone(e[2]); err != nil || !done {
		t.Errorf("after waiting, done is %v, %v", done, err)
	}
	short, err := s.d.Elapsed(e[0], e[1])
	check(t, err)
	long, err := s.d.Elapsed(e[1], e[2])
	check(t, err)
	all, err := s.d.Elapsed(e[0], e[2])
	check(t, err)
	t.Logf("%d rounds in %v, %d in %v; %v on the host's clock", spinRounds/4, short, spinRounds, long, wall)
	if short <= 0 || long < short || !near(float64(all), float64(short+long), 0.05) || all > wall+time.Millisecond {
		t.Errorf("%v and %v make %v, on the host's clock %v", short, long, all, wall)
	}
	plain, err := s.d.NewEvent(false)
	check(t, err, s.d.RecordEvent(plain, st), s.d.SyncStream(st))
	if _, err := s.d.Elapsed(plain, e[2]); err == nil {
		t.Error("an event without timing was timed")
	}
	for _, ev := range append(e[:], plain) {
		check(t, s.d.DestroyEvent(ev))
	}
}
