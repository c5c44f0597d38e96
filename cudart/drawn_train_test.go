package cudart_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/checkpoint"
	"github.com/halftone-ml/halftone/cudart"
)

// A way is to train a program so that the bits must be those of the plain way.
type way struct {
	name string
	opts []amp.Option
	set  func(p *program)
	eval func(p *program, steps int) []float64 // instead of plain steps: their losses
	gone bool                                  // gradients end with their step
	same bool                                  // for programs whose steps are all the same
}

const programSteps = 4

var ways = []way{
	{name: "traced", opts: []amp.Option{amp.Record(amp.Decisions)}},
	{name: "health", opts: []amp.Option{amp.Record(amp.Health)}},
	{name: "gradients recorded", opts: []amp.Option{amp.RecordGradients(1)}},
	{name: "gradients traced", set: func(p *program) { p.back = append(p.back, amp.TraceGradients(&amp.GradientTrace{})) }},
	{name: "with a graph of gradients", set: func(p *program) { p.back = append(p.back, amp.CreateGraph()) }, gone: true},
	{name: "looked at", set: lookAt(1)},
	{name: "looked at, at times", set: lookAt(6)},
	{name: "held", set: func(p *program) { // no memory is used twice
		p.see = func(ts ...*amp.Tensor) {
			for _, t := range ts {
				p.root.Keep(t)
			}
		}
	}},
	{name: "captured", eval: captured, same: true},
	{name: "saved and resumed", eval: resumed},
	{name: "evaluated between", eval: func(p *program, steps int) (losses []float64) {
		for s := range p.root.Steps(steps) {
			p.batch(s.Step())
			p.forward(s.NoGrad().Eval())
			losses = append(losses, p.step(s).Item())
		}
		return losses[1:]
	}},
	{name: "graph retained", set: func(p *program) { p.back = append(p.back, amp.RetainGraph()) }},
}

// lookAt reads one in n of what a step hands on.
func lookAt(n int) func(p *program) {
	return func(p *program) {
		draw := rand.New(rand.NewPCG(7, 7))
		p.see = func(ts ...*amp.Tensor) {
			for _, t := range ts {
				if draw.IntN(n) == 0 {
					t.Float64s()
				}
			}
		}
	}
}

// batch changes the data between steps: those of step 2 overflow.
func (p *program) batch(step int) {
	v := p.y.Float64s()
	v[0] = float64(step)
	if step == 2 && p.dt == amp.Float32 {
		v[len(v)-1] = math.MaxFloat32
	} else {
		v[len(v)-1] = 1
	}
	amp.Assign(p.y, amp.FromFloat64s(p.dt, v, p.y.Shape()...).To(p.root))
}

// eager takes steps and returns their losses, but for the first.
func eager(p *program, steps int) (losses []float64) {
	for s := range p.root.Steps(steps) {
		p.batch(s.Step())
		losses = append(losses, p.step(s).Item())
	}
	return losses[1:]
}

func captured(p *program, steps int) (losses []float64) {
	var loss *amp.Tensor
	p.batch(0)
	g := p.root.Capture(func(s *amp.Scope) { loss = p.step(s) })
	for i := 1; i < steps; i++ {
		p.batch(i)
		g.Replay()
		losses = append(losses, loss.Item())
	}
	if err := g.Close(); err != nil {
		panic(err)
	}
	return losses
}

// resumed saves after the second step, and goes on as a program that is drawn and loaded.
func resumed(p *program, steps int) []float64 {
	losses := eager(p, 2)
	path := filepath.Join(os.TempDir(), fmt.Sprintf("halftone-program-%d-%d.safetensors", os.Getpid(), p.seed))
	defer os.Remove(path)
	if err := checkpoint.Save(path, p.parts()); err != nil {
		panic(err)
	}
	device := p.root.Device()
	p.root.Close()
	*p = *drawProgram(p.seed, device, p.dt)
	if err := checkpoint.Load(path, p.parts()); err != nil {
		panic(err)
	}
	for s := range p.root.Steps(steps - 2) {
		p.batch(s.Step() + 2)
		losses = append(losses, p.step(s).Item())
	}
	return losses
}

// parts are what a program is resumed from.
func (p *program) parts() checkpoint.Parts {
	parts := checkpoint.Parts{Scaler: p.scaler, Random: p.root.Random(), Tensors: map[string]*amp.Tensor{}, Values: map[string]any{"steps": &p.steps}, More: map[string]checkpoint.Parts{}}
	for i, w := range slices.Concat(p.params, p.state) {
		parts.Tensors[fmt.Sprint(i)] = w
	}
	for i, o := range p.opts {
		parts.More[fmt.Sprint(i)] = checkpoint.Parts{Optimizer: o.(checkpoint.Optimizer)}
	}
	return parts
}

// outcome is what training leaves: losses, weights, statistics, gradients and scale.
func (p *program) outcome(eval func(p *program, steps int) []float64, gone bool) map[string][]float64 {
	defer p.root.Close()
	out := map[string][]float64{"losses": eval(p, programSteps)}
	gradients := func(w *amp.Tensor) *amp.Tensor {
		if gone {
			return nil
		}
		return w.Grad()
	}
	for i, w := range p.params {
		out[fmt.Sprintf("parameter %d of shape %v", i, w.Shape())] = w.Float64s()
		if g := gradients(w); g != nil {
			out[fmt.Sprintf("gradient %d of shape %v", i, w.Shape())] = g.Float64s()
		}
	}
	for i, t := range p.state {
		out[fmt.Sprintf("statistics %d", i)] = t.Float64s()
	}
	out["scale"] = []float64{p.scaler.CurrentScale()}
	return out
}

func (p *program) String() string {
	var names []string
	for _, o := range p.ops {
		names = append(names, o.name)
	}
	var opts []string
	for _, o := range p.opts {
		opts = append(opts, strings.Join(strings.Fields(fmt.Sprint(o)), " "))
	}
	return fmt.Sprintf("[%d %d %d] of %v under %v: %s; %s; clip %v, %d passes", p.b, p.t, p.f, p.dt, p.half, strings.Join(names, ", "), strings.Join(opts, ", "), p.clip, p.passes)
}

// sameOutcome compares: bit for bit where eps is 0.
func sameOutcome(want, got map[string][]float64, eps float64) error {
	for name, g := range got {
		w, ok := want[name]
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%s: %d numbers, want %d", name, len(g), len(w))
		}
		for i := range w {
			same := math.Float64bits(w[i]) == math.Float64bits(g[i]) || w[i] != w[i] && g[i] != g[i]
			if !same && !(eps > 0 && math.Abs(w[i]-g[i]) <= eps*(1+math.Abs(w[i]))) {
				return fmt.Errorf("%s: number %d is %v, want %v", name, i, g[i], w[i])
			}
		}
	}
	return nil
}

// programSeeds are those of a run of tests, or HALFTONE_TEST_PROGRAMS=from-to.
func programSeeds(t *testing.T) (from, to uint64) {
	text := os.Getenv("HALFTONE_TEST_PROGRAMS")
	if text == "" {
		return 1, 8
	}
	a, b, _ := strings.Cut(text, "-")
	from, err := strconv.ParseUint(a, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if to, err = strconv.ParseUint(b, 10, 64); err != nil {
		to = from
	}
	return from, to
}

// TestDrawnPrograms trains networks that are drawn: whoever looks on, keeps what is made, or captures the step changes no bit of what comes
// out, on the CPU either, and in float64 the device gives the CPU's numbers.
func TestDrawnPrograms(t *testing.T) {
	from, to := programSeeds(t)
	trainDrawn(t, from, to)
}

func trainDrawn(t *testing.T, from, to uint64) {
	device := gpu(t)
	for seed := from; seed <= to; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			about := trainAllWays(t, seed, device)
			trainAllWays(t, seed, "cpu")
			if waits, buffers := unwatched(seed, device); waits != 0 || buffers != 0 {
				t.Errorf("in steps that nobody looks at the host waited %d times, and %d buffers were taken\nprogram %s", waits, buffers, about)
			}
			exact := drawProgram(seed, "cpu", amp.Float64).outcome(eager, false)
			if err := sameOutcome(exact, drawProgram(seed, device, amp.Float64).outcome(eager, false), 1e-7); err != nil {
				t.Errorf("in float64: %v\nprogram %s", err, about)
			}
		})
	}
}

// unwatched counts how often the host waits, and what memory is taken, in steps that follow three others. The fourth and fifth have and have
// not the gradient of a parameter that comes and goes.
func unwatched(seed uint64, device string) (waits, buffers int64) {
	p := drawProgram(seed, device, amp.Float32)
	defer p.root.Close()
	for s := range p.root.Steps(6) {
		if s.Step() == 3 {
			waits, buffers = cudart.CountsOf(device).Syncs, taken()
		}
		p.step(s)
	}
	return cudart.CountsOf(device).Syncs - waits, taken() - buffers
}

// taken is how many buffers of tensors were made on all devices.
func taken() (n int64) {
	for _, m := range amp.MemStats() {
		n += m.NewBuffers
	}
	return n
}

func trainAllWays(t *testing.T, seed uint64, device string) (about string) {
	plain, about := drawWay(seed, device, way{})
	want := plain.outcome(eager, false)
	for _, w := range ways {
		p, _ := drawWay(seed, device, w)
		if !w.fits(p) {
			p.root.Close()
			continue
		}
		if err := sameOutcome(want, p.outcome(w.train(), w.gone), 0); err != nil {
			t.Errorf("%s on %s: %v\nprogram %s", w.name, device, err, about)
		}
	}
	return about
}

// drawWay draws a program that is to be trained in this way.
func drawWay(seed uint64, device string, w way) (p *program, about string) {
	p = drawProgram(seed, device, amp.Float32, w.opts...)
	if w.set != nil {
		w.set(p)
	}
	return p, p.String()
}

// fits says whether a program can be trained in this way.
func (w way) fits(p *program) bool {
	recurrent := strings.Contains(p.String(), "recurrent") // whose gradient is made of other ops where its graph is asked for
	return !(w.same && p.frozen != nil || w.gone && recurrent)
}

func (w way) train() func(p *program, steps int) []float64 {
	if w.eval == nil {
		return eager
	}
	return w.eval
}

// TestDrawnProgramsTogether trains programs at the same time, each in a goroutine of its own on the same device: none notices the others.
func TestDrawnProgramsTogether(t *testing.T) {
	from, to := programSeeds(t)
	trainDrawnTogether(t, from, to)
}

func trainDrawnTogether(t *testing.T, from, to uint64) {
	t.Helper()
	device := gpu(t)
	for seed := from; seed <= to; seed += 4 {
		for _, on := range []string{device, "cpu"} {
			trainTogether(t, seed, on)
		}
	}
}

// trainTogether trains four programs from seed on, in several ways each.
func trainTogether(t *testing.T, seed uint64, device string) {
	want := make([]map[string][]float64, 4)
	for i := range want {
		want[i] = drawProgram(seed+uint64(i), device, amp.Float32).outcome(eager, false)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range want {
		wg.Go(func() {
			for round := range 4 {
				w := ways[(4*i+round)%len(ways)]
				p, about := drawWay(seed+uint64(i), device, w)
				if w.name == "captured" || !w.fits(p) { // nobody else may use the device then
					p.root.Close()
					w = way{name: "plain"}
					p, about = drawWay(seed+uint64(i), device, w)
				}
				if err := sameOutcome(want[i], p.outcome(w.train(), w.gone), 0); err != nil {
					t.Errorf("seed %d, %s on %s: %v\nprogram %s", seed+uint64(i), w.name, device, err, about)
				}
			}
		})
	}
}
