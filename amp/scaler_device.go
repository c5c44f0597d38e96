package amp

import "fmt"

// A scaler on a device that works behind the host's back. Scale, tracker, inverse and the flags live there, and no call of a step waits.
// The host keeps a list of what it asked for; with the log of what was found it does the same arithmetic again when a report is read.

// logSize is the number of steps whose outcome the device keeps: after so many without a report read, the host waits once.
const logSize = 1024

// A farScaler is the part of a GradScaler that exists on such a device alone.
type farScaler struct {
	s                *Scope // where its ops run
	tracker, inverse *Tensor
	log, count       *Tensor
	flags            map[Optimizer]*farFlags
	events           []farEvent
	logged, read     int           // entries of the log, written and read
	scale            float32       // after the events that are worked out
	found            bool          // since the last update among them
	open             []*StepReport // since then
}

// farFlags are one optimizer's: 1 if a gradient was not finite, and the first that was not.
type farFlags struct{ found, first *Tensor }

// A farEvent is something the host asked for: a look at an optimizer's gradients, with or without a step, an update, or a new scale.
type farEvent struct {
	kind   farKind
	report *StepReport
	params []*Tensor // of the optimizer that was looked at
	update scaleMove
	scale  float32
}

type farKind uint8

const (
	farLook farKind = iota
	farUpdate
	farSet
)

// A scaleMove is the reference's rule: products in float64, rounded once to float32; growth on equality, never to infinity.
type scaleMove struct {
	growth, backoff float64
	interval        int
	floor           float64
}

func (m scaleMove) next(scale float32, tracker int, found bool) (float32, int) {
	if found {
		next := float32(float64(scale) * m.backoff)
		if m.floor > 0 && float64(next) < m.floor {
			next = float32(min(m.floor, float64(scale)))
		}
		return next, 0
	}
	if tracker++; tracker != m.interval {
		return scale, tracker
	}
	if next := float32(float64(scale) * m.growth); finite(float64(next)) {
		scale = next
	}
	return scale, 0
}

// beFar sets the scaler up on a device, with the scale it has.
func (g *GradScaler) beFar(dev Device) {
	s := detachedOn(dev).optimizing()
	f := &farScaler{s: s, scale: float32(g.init), flags: map[Optimizer]*farFlags{}}
	g.far = f
	f.tracker = far(dev, Int64, float64(g.tracker))
	f.inverse = far(dev, Float32, float64(invert(f.scale)))
	f.log = far(dev, Int64, 0, logSize)
	f.count = far(dev, Int64, 0)
}

// far returns a tensor of a scaler's.
func far(dev Device, dt DType, v float64, shape ...int) *Tensor {
	return filled("GradScaler", dev, dt, v, shape)
}

// free gives back what a scaler that could not be set up has made so far.
func (f *farScaler) free() {
	if f == nil {
		return
	}
	for _, t := range []*Tensor{f.tracker, f.inverse, f.log, f.count} {
		if t != nil {
			t.release()
		}
	}
}

func (f *farScaler) flagsOf(opt Optimizer) *farFlags {
	fl := f.flags[opt]
	if fl == nil {
		dev, whole := f.s.root.dev, false
		fl = &farFlags{found: far(dev, Float32, 0)}
		defer fl.found.giveUp(&whole)
		fl.first = alloc("GradScaler", dev, Int64, nil)
		defer fl.first.giveUp(&whole)
		setElements(fl.first, []int64{firstNone})
		f.flags[opt], whole = fl, true
	}
	return fl
}

// check is GradScaler.check without an answer: the flags have it. at says what unscale_ does with the gradients.
func (f *farScaler) check(opt Optimizer, st *optimizerState, at Attrs) {
	fl, spread := f.flagsOf(opt), false
	for i, p := range opt.Parameters() {
		if p.grad == nil {
			continue
		}
		if !sameDevice(p.grad.st.dev, f.s.root.dev) {
			spread = true
			continue
		}
		st.checked = true
		fl.found.st.changing()
		at.Start = min(i, firstScale-1)
		optimizerScope(p).apply(opUnscale, at, p.grad, fl.found, fl.first, f.inverse)
	}
	if spread {
		f.checkElsewhere(opt, st)
	}
}

// stepFar lets the optimizer decide by the flag.
func (g *GradScaler) stepFar(opt Optimizer, st *optimizerState) *StepReport {
	f := g.far
	fl := f.flagsOf(opt)
	if fused, ok := opt.(FusedOptimizer); ok && !g.spread(opt) {
		inv := f.inverse
		if st.stage == unscaled || !fused.Fused() { // the gradients are divided
			inv = nil
		}
		fused.StepFused(inv, fl.found)
	} else if fl.found.Item() == 0 { // it must be told, and can't be on the device
		opt.Step()
	}
	name := g.optimizerName(opt)
	if c := CapturingOn(g.scale); c != nil && c.Recording() {
		latest := &StepReport{far: g} // of the last replay
		g.logFar(opt, func() *StepReport {
			r := g.newReport(name)
			latest.last = r
			return r
		})
		return latest
	}
	r := g.newReport(name)
	g.logFar(opt, func() *StepReport { return r })
	return r
}

// newReport begins a report that is filled in when it is read.
func (g *GradScaler) newReport(name string) *StepReport {
	r := g.history.begin(name)
	r.far = g
	g.history.keep(r)
	return r
}

// happens notes an event, or, while a step is captured, that each replay makes it.
func (g *GradScaler) happens(event func() farEvent) {
	if c := CapturingOn(g.scale); c != nil && c.Recording() {
		c.After(func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.enqueue(event())
		})
		return
	}
	g.enqueue(event())
}

func (g *GradScaler) enqueue(e farEvent) {
	f := g.far
	f.events = append(f.events, e)
	switch e.kind {
	case farUpdate:
		g.history.close()
	case farLook:
		if f.logged++; f.logged-f.read == logSize {
			g.resolve()
		}
	}
}

// logFar queues the logging of what was found in an optimizer's gradients.
func (g *GradScaler) logFar(opt Optimizer, report func() *StepReport) {
	f, params := g.far, opt.Parameters()
	f.s.apply(opLogFound, Attrs{}, f.log, f.count, f.flagsOf(opt).first)
	g.happens(func() farEvent { return farEvent{kind: farLook, report: report(), params: params} })
}

// updateFar moves the scale by what all optimizers found.
func (g *GradScaler) updateFar() {
	f := g.far
	var found *Tensor
	for opt, st := range g.opts {
		if !st.checked {
			continue
		}
		if st.stage != stepped {
			g.logFar(opt, func() *StepReport { return nil })
		}
		fl := f.flagsOf(opt)
		if found == nil {
			found = fl.found
			continue
		}
		f.s.apply(opAddInPlace, Attrs{}, found, fl.found)
		fl.found.fill(0)
	}
	m := g.move()
	f.s.apply(opUpdateScale, Attrs{Pair: [2]float64{m.growth, m.backoff}, Start: m.interval, Scalar: m.floor}, g.scale, f.tracker, f.inverse, found)
	g.happens(func() farEvent { return farEvent{kind: farUpdate, update: m} })
}

// set makes v the scale; what was found since the last update is forgotten.
func (f *farScaler) set(scale *Tensor, v float32) {
	scale.st.changing()
	scale.fill(float64(v))
	f.inverse.fill(float64(invert(v)))
	for _, fl := range f.flags {
		fl.found.fill(0)
		setElements(fl.first, []int64{firstNone})
	}
	f.events = append(f.events, farEvent{kind: farSet, scale: v})
}

// resolve waits for the device and works out what became of the steps since the last time; the lock is held.
func (g *GradScaler) resolve() {
	f := g.far
	if f == nil || len(f.events) == 0 {
		return
	}
	var log []int64
	if f.logged > f.read {
		log = Values[int64](f.log)
	}
	for i, e := range f.events {
		switch e.kind {
		case farLook:
			code := log[f.read%logSize]
			f.read++
			f.found = f.found || code != firstNone
			if e.report != nil {
				g.judge(e, code)
				f.open = append(f.open, e.report)
			}
		case farUpdate:
			f.scale, g.tracker = e.update.next(f.scale, g.tracker, f.found)
			f.close(g.tracker)
		case farSet:
			f.scale = e.scale
			f.close(g.tracker)
		}
		f.events[i] = farEvent{}
	}
	f.events = f.events[:0]
}

// close ends the reports since the last update.
func (f *farScaler) close(tracker int) {
	f.found = false
	for i, r := range f.open {
		r.Next, r.Tracker = float64(f.scale), tracker
		f.open[i] = nil
	}
	f.open = f.open[:0]
}

// judge fills in a step's report.
func (g *GradScaler) judge(e farEvent, code int64) {
	st := optimizerState{found: code != firstNone}
	if st.found {
		i, v := firstValue(code)
		if i == firstScale {
			st.culprit, st.value = "loss scale", fmt.Sprint(g.far.scale)
		} else {
			st.culprit, st.value = paramName(e.params[i], i), fmt.Sprint(v)
		}
	}
	g.history.judge(g, e.report, float64(g.far.scale), &st)
}
