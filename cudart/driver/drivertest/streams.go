package drivertest

import (
	"math"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// spinRounds keep a device busy for a few milliseconds at least.
const spinRounds = 1 << 22

// tries are how often a launch is looked at or timed, on hosts that other programs interrupt.
const tries = 10

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

	s.underWay(t, func() (bool, error) {
		s.spin(t, spin, st, other, spinRounds)
		return s.d.StreamDone(st)
	})
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

// underWay fails the test where work that was just launched is done without anybody having waited for it, or, on an
// immediate driver, where it is not. A host that is interrupted after the launch may find its end: several are tried.
func (s *suite) underWay(t *testing.T, launch func() (done bool, err error)) {
	t.Helper()
	for range tries {
		done, err := launch()
		check(t, err)
		if s.Immediate && !done {
			t.Fatal("a launch returned before its work was done")
		}
		if !s.Immediate && !done {
			return
		}
	}
	if !s.Immediate {
		t.Errorf("just after each of %d long launches all was done", tries)
	}
}

func events(t *testing.T, s *suite) {
	s.bind(t)
	var e [3]driver.Event
	for i := range e {
		var err error
		e[i], err = s.d.NewEvent(true)
		check(t, err)
	}
	st, spin, out := s.stream(t), s.kernel(t, "drivertest_spin"), s.alloc(t, 4)
	s.spin(t, spin, st, out, 1) // the first launch of a kernel may load it
	check(t, s.d.SyncStream(st))
	s.underWay(t, func() (bool, error) {
		check(t, s.d.RecordEvent(e[0], st))
		s.spin(t, spin, st, out, spinRounds)
		check(t, s.d.RecordEvent(e[0], st))
		return s.d.EventDone(e[0])
	})
	check(t, s.d.SyncEvent(e[0]))
	if done, err := s.d.EventDone(e[0]); err != nil || !done {
		t.Errorf("after waiting, done is %v, %v", done, err)
	}
	s.timed(t, st, e, func(rounds int64) { s.spin(t, spin, st, out, rounds) })
	plain, err := s.d.NewEvent(false)
	check(t, err, s.d.RecordEvent(plain, st), s.d.SyncStream(st))
	if _, err := s.d.Elapsed(plain, e[2]); err == nil {
		t.Error("an event without timing was timed")
	}
	for _, ev := range append(e[:], plain) {
		check(t, s.d.DestroyEvent(ev))
	}
}

// timed compares the times between events with each other and with the host's clock, and the least of several: of two
// launches on a machine that does other work too the shorter may well take longer once.
func (s *suite) timed(t *testing.T, st driver.Stream, e [3]driver.Event, spin func(rounds int64)) {
	t.Helper()
	least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	for range tries {
		began := time.Now()
		spin(spinRounds / 4) // until the stream has what follows: it shall not wait for the host in between
		check(t, s.d.RecordEvent(e[0], st))
		spin(spinRounds / 4)
		check(t, s.d.RecordEvent(e[1], st))
		spin(spinRounds)
		check(t, s.d.RecordEvent(e[2], st), s.d.SyncEvent(e[2]))
		wall := time.Since(began)
		short, err := s.d.Elapsed(e[0], e[1])
		check(t, err)
		long, err := s.d.Elapsed(e[1], e[2])
		check(t, err)
		all, err := s.d.Elapsed(e[0], e[2])
		check(t, err)
		t.Logf("%d rounds in %v, %d in %v; %v on the host's clock", spinRounds/4, short, spinRounds, long, wall)
		if short <= 0 || long <= 0 || !near(float64(all), float64(short+long), 0.05) || all > wall+time.Millisecond {
			t.Errorf("%v and %v make %v, on the host's clock %v", short, long, all, wall)
		}
		least = [2]time.Duration{min(least[0], short), min(least[1], long)}
	}
	if least[1] < least[0] {
		t.Errorf("%d rounds took %v at least, %d only %v", spinRounds/4, least[0], spinRounds, least[1])
	}
}
