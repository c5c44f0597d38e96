package amp

import "time"

// took is the time of a kernel: the host's, and where the device measures itself what will know it.
type took struct {
	ns    time.Duration
	clock Timing
}

// clockUnless gives the clock up where no event will ask it, since a device's error came before.
func (t took) clockUnless(done *bool) {
	if !*done && t.clock != nil {
		t.clock.Drop()
	}
}

// and returns the time of two kernels that make one event.
func (t took) and(u took) took {
	t.ns += u.ns
	switch {
	case t.clock == nil:
		t.clock = u.clock
	case u.clock != nil:
		t.clock = twoTimings{t.clock, u.clock}
	}
	return t
}

// twoTimings are measurements that have ended.
type twoTimings [2]Timing

func (t twoTimings) Stop()                   {}
func (t twoTimings) Done() bool              { return t[0].Done() && t[1].Done() }
func (t twoTimings) Duration() time.Duration { return t[0].Duration() + t[1].Duration() }
func (t twoTimings) Drop()                   { t[0].Drop(); t[1].Drop() }

// timed runs the kernel for a recorder.
func (s *Scope) timed(c *Call) (t took) {
	if d, ok := s.root.dev.(Timer); ok {
		t.clock = d.Start()
	}
	start, ran := s.root.rec.now(), false
	defer t.clockUnless(&ran)
	s.run(c)
	ran = true
	if t.clock != nil {
		t.clock.Stop()
		return t
	}
	t.ns = s.root.rec.now() - start
	return t
}
