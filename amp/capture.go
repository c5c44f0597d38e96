package amp

import (
	"fmt"
	"sync/atomic"
)

// Whole steps as one graph: what the host queues on a device is recorded once and then queued again as a whole, without the host going
// through it (CUDA graphs; torch.cuda.graph).

// A Capturer is a Device that can record what is queued on it.
type Capturer interface {
	// BeginCapture records what the calling goroutine queues from here on, instead of doing it; memory handed out meanwhile belongs
	// to the recording. What must wait for the device fails until EndCapture, which the same goroutine calls.
	BeginCapture() error
	// EndCapture's error is ErrCapture where the step did what can't be recorded.
	EndCapture() (Replayer, error)
}

// A Replayer queues what was recorded.
type Replayer interface {
	Replay() error
	Free() error
}

// A Graph is a captured step.
type Graph struct {
	s       *Scope // of the recording: its tensors are those of every replay
	from    *Scope // that Capture was called on
	fn      func(s *Scope)
	dev     Replayer // nil where the device captures nothing, and fn is run again
	ran     *Scope   // that of its last run then, which stays open
	stage   graphStage
	played  bool // there was a replay: what the recording made holds values
	closed  bool
	before  []func() // what the host does for each replay
	after   []func()
	changed map[*storage]bool
	inputs  map[*storage]graphInput
	streams []*graphStream
	added   []graphGradient

	constants []graphConstant
	made      int // of them, by the recording
}

type graphStage uint8

const (
	graphFirst graphStage = iota + 1 // fn runs as a step like any other
	graphRecord
	graphEnded // what was recorded is not ready yet, and is not if the recording failed
	graphReady
)

// capturing is the graph being made; there is one at a time.
var capturing atomic.Pointer[Graph]

// CapturingOn returns the graph that the caller is making of what is queued on t's device, nil if there is none. Package optim asks: what a
// step reads from the host has to lie on the device then.
func CapturingOn(t *Tensor) *Graph {
	if t.known("CapturingOn").st == nil {
		return nil
	}
	return capturingOn(t.st.dev)
}

func capturingOn(dev Device) *Graph {
	if g := capturing.Load(); g != nil && g.s.root.dev == dev && g.mine() {
		return g
	}
	return nil
}

// Recording says whether ops are recorded now and not done.
func (g *Graph) Recording() bool { return g.stage == graphRecord }

// Before adds what the host does before each replay, such as bringing a learning rate to the device; After what it does behind it, such
// as counting.
func (g *Graph) Before(f func()) { g.before = append(g.before, f) }

// After adds what the host does after each replay has been queued.
func (g *Graph) After(f func()) { g.after = append(g.after, f) }

// Capture runs fn once, as a step like any other, and then records it on the scope's device: Replay does the step again, with what is then in
// the tensors that fn used from outside, and its host does nothing but queue it. Change inputs in place between replays (SetValues, Assign),
// in the same shape; what fn made, a loss that it stored in a variable, holds the last replay's values, none before the first (reading them is
// ErrCapture), and lives until Close. Learning rates, the scaler's scale, the number of steps and the random stream are followed: a replay
// draws the numbers that the step would have drawn, and backward of what it made, in another captured step or none, those of the last replay
// again. Where a schedule has changed an optimizer's momentum, which is recorded, Replay panics. A step that adds to the gradients that it
// finds has to leave the same ones: begin it with ZeroGrad otherwise. Reading values, and ops that run on the host, are refused in fn
// (ErrCapture), as are From and its kin and work on another GPU; random tensors, and those made by a rule, such as Arange's, are not. Nobody
// else may use the device during Capture: calls of other goroutines there panic with ErrCapture, of those that fn starts, too. On a device
// that captures nothing, the CPU, Replay runs fn, which a trace shows like any other step; what it made lives until the next Replay there.
func (s *Scope) Capture(fn func(s *Scope)) *Graph {
	if s.alive("Capture"); fn == nil {
		fail("Capture", ErrArgument, "pass the step to record", "the function is nil")
	}
	notKept("Capture", s.root.dev)
	g := &Graph{from: s, fn: fn, stage: graphFirst, changed: map[*storage]bool{}, inputs: map[*storage]graphInput{}}
	c := s.Child()
	c.root = &root{ctx: s.root.ctx, dev: s.root.dev, note: s.root.note}
	g.s = c
	dev, able := s.root.dev.(Capturer)
	if able {
		defer keep(s.root.dev)()
		if !capturing.CompareAndSwap(nil, g) {
			fail("Capture", ErrCapture, "end the other one first", "another step is being captured")
		}
		defer capturing.Store(nil)
	}
	defer func() {
		if g.stage != graphReady { // fn panicked, or the device can't
			g.abandon(dev)
		}
	}()
	for a := s.arena; a != nil; a = a.parent {
		a.cache.clear() // casts made before would not be renewed
	}
	g.run()
	s.root.run("capture hook", &s.root.captures)
	if !able {
		g.stage = graphReady
		return g
	}
	g.forget()
	if err := dev.BeginCapture(); err != nil {
		deviceFault("Capture", err)
	}
	g.stage = graphRecord
	g.advanceStreams()
	fn(c)
	g.checkGradients()
	r, err := g.end(dev)
	if err != nil {
		deviceFault("Capture", err)
	}
	g.dev = r
	g.measureStreams()
	g.stage = graphReady
	return g
}

// end ends the recording.
func (g *Graph) end(dev Capturer) (Replayer, error) {
	g.stage = graphEnded
	g.endStreams()
	return dev.EndCapture()
}

// abandon frees what a capture that failed has made.
func (g *Graph) abandon(dev Capturer) {
	if g.stage == graphRecord {
		if r, err := g.end(dev); err == nil {
			g.dev = r
		}
	}
	_ = g.free() // the panic says what happened
}

// Replay queues the step again. It panics with ErrClosed after Close, its own or that of the scope that Capture was called on, with ErrCapture
// if a tensor that the step reads or changes was freed or moved since Capture, or an optimizer's settings other than its learning rate have
// changed, and with ErrFault for an error of the device.
func (g *Graph) Replay() {
	if g.closed {
		fail("Graph.Replay", ErrClosed, "capture the step again", "the graph is closed")
	}
	if g.dev == nil {
		g.run()
		return
	}
	if g.s.arena.gen.Load() != g.s.gen {
		fail("Graph.Replay", ErrClosed, "capture in a scope that is open as long as the graph, such as the root", "the scope that the step was captured in is closed, and with it what the step makes")
	}
	notKept("Graph.Replay", g.s.root.dev)
	if other := capturingOn(g.s.root.dev); other != nil { // the host's part of a replay can't be recorded
		fail("Graph.Replay", ErrCapture, "replay the one before or behind the other", "another step is being captured, of which this one can't be a part")
	}
	g.checkInputs()
	for _, f := range g.before {
		f()
	}
	for _, r := range g.streams {
		r.locate()
	}
	for st := range g.changed {
		st.changing()
	}
	if err := g.dev.Replay(); err != nil {
		deviceFault("Graph.Replay", err)
	}
	g.played = true
	for _, r := range g.streams {
		r.advance()
	}
	for _, f := range g.after {
		f()
	}
}

// run does the step as any other, before there is something to replay or where there never is. What it makes lives until the next time.
func (g *Graph) run() {
	g.forget()
	g.ran = g.from.Child()
	g.fn(g.ran)
}

// forget frees what run left.
func (g *Graph) forget() {
	if g.ran != nil {
		g.ran.Close()
		g.ran = nil
	}
}

// Close frees the graph and the tensors that fn made; gradients it left on parameters stay valid until they are replaced. It waits for the
// device, and so returns ErrCapture, and frees nothing, while another step is captured there.
func (g *Graph) Close() error {
	if g.closed {
		return nil
	}
	if other := capturingOn(g.s.root.dev); g.dev != nil && (other != nil && other.Recording() || keptFrom(g.s.root.dev)) {
		return &Error{Op: "Graph.Close", Kind: ErrCapture, Detail: "another step is being captured, and nothing can be waited for", Fix: "close the graph after Capture has returned"}
	}
	return g.free()
}

// free gives back all that the graph holds, which is closed then.
func (g *Graph) free() error {
	g.closed = true
	g.freeStreams()
	g.freeConstants()
	g.forget()
	g.s.Close()
	if g.dev == nil {
		return nil
	}
	return g.dev.Free()
}

// noteChange remembers what a replay changes.
func (g *Graph) noteChange(st *storage) {
	if st.dev == g.s.root.dev && g.mine() && g.stage == graphRecord {
		g.changed[st], st.pinned = true, true
		if _, known := g.inputs[st]; !known {
			g.input(st, graphInput{st.buf, fmt.Sprintf("%v of %d bytes", st.dt, st.bytes), true})
		}
	}
}
