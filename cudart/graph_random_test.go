package cudart_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
)

// dropping is a small model with every kind of random op that has a kernel: dropout of elements and channels, of SELU's kind, rrelu, and
// attention's; a part of it is checkpointed, so that its numbers are drawn twice.
type dropping struct {
	in, q, out *nn.Linear
}

func (d *dropping) Parameters() []*amp.Tensor {
	return slices.Concat(d.in.Parameters(), d.q.Parameters(), d.out.Parameters())
}

func (d *dropping) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	h := amp.Checkpoint(s, func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor {
		return amp.Dropout(s, amp.RReLU(s, d.in.Forward(s, in[0]), 0.1, 0.3), 0.2)
	}, x)
	h = amp.AlphaDropout(s, h, 0.1)
	heads := amp.Reshape(s, d.q.Forward(s, h), 2, 8, 16)
	a := amp.ScaledDotProductAttention(s, heads, heads, heads, nil, amp.Attention{Dropout: 0.25})
	a = amp.Dropout1d(s, a, 0.3)
	return d.out.Forward(s, amp.Reshape(s, a, 16, 16))
}

// droppingStep makes the model and its step on a device; the batch is drawn from the same stream, between steps.
func droppingStep(device string) (m *step, sched *optim.Schedule, batch func(step int)) {
	root := amp.NewScope(amp.On(device), amp.Seed(7))
	net := &dropping{nn.NewLinear(root, 8, 16), nn.NewLinear(root, 16, 16), nn.NewLinear(root, 16, 1)}
	m = &step{root: root, net: net, scaler: amp.NewGradScaler(amp.InitScale(1024), amp.GrowthInterval(20))}
	m.opt = optim.NewAdamW(net.Parameters(), optim.LR(0.01))
	sched = optim.NewStepLR(m.opt, 10, 0.7)
	x, y := amp.Randn(root, amp.Float32, 0, 1, 16, 8), amp.Randn(root, amp.Float32, 0, 1, 16, 1)
	m.loss = func(s *amp.Scope) *amp.Tensor { return nn.MSELoss(s, net.Forward(s, x), y) }
	batch = func(step int) {
		if step%7 == 3 { // the stream is used between steps, and sometimes not
			fresh := amp.Randn(root, amp.Float32, 0, 1, 16, 8)
			amp.Assign(x, fresh)
			fresh.Free()
		}
		v := amp.Values[float32](x)
		if v[0] = float32(step) / 100; step == 37 {
			v[5] = 1e30
		}
		amp.SetValues(x, v)
	}
	return m, sched, batch
}

// TestReplaysDraw: a replay draws the random numbers that the step would have drawn: 100 steps with a skipped one and a schedule, eager
// and captured, leave the same bits, the same losses and the same stream.
func TestReplaysDraw(t *testing.T) {
	device := gpu(t)
	const steps = 100
	run := func(captured bool) (weights [][]float32, losses []float64, m *step) {
		m, sched, batch := droppingStep(device)
		var loss *amp.Tensor
		one := func(s *amp.Scope) { loss = m.run(s) }
		after := func() {
			losses = append(losses, loss.Item())
			sched.Step()
		}
		batch(0)
		if captured {
			g := m.root.Capture(one)
			sched.Step()
			for i := 1; i < steps; i++ {
				batch(i)
				g.Replay()
				after()
			}
			weights = bits(m.net)
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			return weights, losses, m
		}
		for s := range m.root.Steps(steps) {
			batch(s.Step())
			one(s)
			after()
		}
		return bits(m.net), losses[1:], m
	}
	want, losses, eager := run(false)
	got, replayed, captured := run(true)
	defer eager.root.Close()
	defer captured.root.Close()
	for i, a := range losses {
		if b := replayed[i]; a != b && (a == a || b == b) {
			t.Fatalf("step %d: loss %v, captured %v", i+1, a, b)
		}
	}
	for i := range want {
		if !slices.Equal(want[i], got[i]) {
			t.Errorf("parameter %d differs", i)
		}
	}
	if a, b := eager.root.Random().State(), captured.root.Random().State(); a != b {
		t.Errorf("the stream is at %+v, captured %+v", a, b)
	}
	if a, b := eager.opt.LearningRate(), captured.opt.LearningRate(); a != b || a > 0.001 {
		t.Errorf("learning rates %v and %v", a, b)
	}
	h := captured.scaler.History()
	if h.Skipped != 1 || h.Steps[37].Applied || captured.opt.Steps() != steps-1 {
		t.Errorf("%d steps skipped, %d taken", h.Skipped, captured.opt.Steps())
	}
}

// TestReplayNeedsItsInputs: memory that a replay would use and that is another's now is a clear error, not another tensor's content.
func TestReplayNeedsItsInputs(t *testing.T) {
	device := gpu(t)
	cpu := amp.NewScope(amp.On("cpu"))
	defer cpu.Close()
	for name, c := range map[string]struct {
		spoil func(w, x *amp.Tensor)
		want  string
	}{
		"freed":          {func(w, x *amp.Tensor) { x.Free() }, `float32 "x" of shape [4] that the step uses was freed`},
		"moved":          {func(w, x *amp.Tensor) { x.Move(cpu) }, "was freed, or moved"},
		"another shape":  {func(w, x *amp.Tensor) { amp.SetValues(x, make([]float32, 8)) }, "4"},
		"freed gradient": {func(w, x *amp.Tensor) { w.ZeroGrad() }, "ZeroGrad in the step"},
	} {
		t.Run(name, func(t *testing.T) {
			root := amp.NewScope(amp.On(device))
			defer root.Close()
			x, w := amp.Full(root, amp.Float32, 2, 4).SetName("x"), amp.Full(root, amp.Float32, 1, 4).SetName("w").RequireGrad()
			g := root.Capture(func(s *amp.Scope) { amp.Sum(s, amp.Mul(s, x, w)).Backward() }) // gradients add up
			defer g.Close()
			g.Replay()
			if v := w.Grad().Float64s(); v[0] != 4 {
				t.Errorf("gradient %v after two steps", v)
			}
			err := amp.Maybe(func() {
				c.spoil(w, x)
				g.Replay()
			})
			if err == nil || !strings.Contains(err.Error(), c.want) || name != "another shape" && !errors.Is(err, amp.ErrCapture) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if v := amp.Sum(root, w).Item(); v != 4 {
				t.Errorf("the device computes %v afterwards", v)
			}
		})
	}
}

// TestGraphMemory: what a captured step allocates is its own until Close, and the device's again then.
func TestGraphMemory(t *testing.T) {
	device := gpu(t)
	root := amp.NewScope(amp.On(device))
	defer root.Close()
	x := amp.Full(root, amp.Float32, 2, 1<<20)
	step := func(s *amp.Scope) {
		amp.Sum(s, amp.Mul(s, amp.Exp(s, x), amp.Add(s, x, amp.Linspace(s, amp.Float32, 0, 1, 1<<20))))
	}
	root.Capture(step).Close() // what the first run takes
	before := cudart.ReservedOf(device)
	g := root.Capture(step)
	held := cudart.ReservedOf(device)
	if held < before+16<<20 {
		t.Errorf("%d bytes before, %d with a graph of 16 MB", before, held)
	}
	for range 3 {
		g.Replay()
	}
	if now := cudart.ReservedOf(device); now != held {
		t.Errorf("%d bytes before three replays, %d after", held, now)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if after := cudart.ReservedOf(device); after != before {
		t.Errorf("%d bytes before the graph, %d after its Close", before, after)
	}
}

// TestConstantsOfACapturedStep: what a step makes by a rule is there in every replay, whole again if the step changes it, and is the device's
// memory again after Close; a step that makes other ones when it is recorded is refused.
func TestConstantsOfACapturedStep(t *testing.T) {
	root := amp.NewScope(amp.On(gpu(t)))
	defer root.Close()
	x := amp.Full(root, amp.Float32, 2, 4)
	var y *amp.Tensor
	step := func(s *amp.Scope) {
		places, eye := amp.Arange(s, amp.Float32, 0, 4, 1), amp.Eye(s, amp.Float32, 4, 4)
		amp.AddInPlace(s, places, x)
		y = amp.Add(s, amp.MatMul(s, eye, places), amp.Linspace(s, amp.Float32, 0, 3, 4))
	}
	want := func(when string, values ...float64) {
		t.Helper()
		if got := y.Float64s(); !slices.Equal(got, values) {
			t.Errorf("%s: %v, want %v", when, got, values)
		}
	}
	g := root.Capture(step)
	defer g.Close()
	g.Replay()
	want("first replay", 2, 4, 6, 8)
	amp.SetValues(x, []float32{1, 0, 0, -1})
	g.Replay()
	want("with another x", 1, 2, 4, 5)

	n := 0.0
	err := amp.Maybe(func() {
		root.Capture(func(s *amp.Scope) {
			n++
			amp.Arange(s, amp.Float32, n, n+4, 1)
		})
	})
	if !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), "Arange makes a float32 tensor of shape [4]") {
		t.Errorf("a step that counts: %v", err)
	}
	g.Replay()
	want("after that", 1, 2, 4, 5)
}

// TestCapturedStepDoesNotMoveItsStream: a replay goes on in the random stream, whatever the recorded step said of it.
func TestCapturedStepDoesNotMoveItsStream(t *testing.T) {
	root := amp.NewScope(amp.On(gpu(t)))
	defer root.Close()
	x := amp.Full(root, amp.Float32, 2, 4)
	err := amp.Maybe(func() {
		root.Capture(func(s *amp.Scope) {
			s.Random().Load(amp.StreamState{Seed: 1})
			amp.Dropout(s, x, 0.5)
		})
	})
	if !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), "Stream.Load") {
		t.Errorf("%v", err)
	}
	if v := amp.Sum(root, amp.Dropout(root, x, 0)).Item(); v != 8 {
		t.Errorf("the device computes %v afterwards", v)
	}
}
