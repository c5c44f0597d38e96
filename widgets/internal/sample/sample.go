// Package sample makes traces, scale histories and runs as amp records them, for the tests of the figures.
package sample

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp"
)

// A builder appends events as amp's recorder does.
type builder struct {
	t     *amp.Trace
	step  int
	cache map[string]bool
}

func (b *builder) add(e amp.Event) {
	e.Seq, e.Step = len(b.t.Events), b.step
	e.NS = int64(900 + 37*len(e.Op) + len(b.t.Events)%7)
	if e.Bytes == 0 && (e.Cast == nil || !e.Cast.Hit) {
		n := int64(e.Out.DType.Size())
		for _, d := range e.Out.Shape {
			n *= int64(d)
		}
		e.Bytes = n
	}
	b.t.Events = append(b.t.Events, e)
}

// cast records what autocast does with an input; a named one is a parameter and is cached.
func (b *builder) cast(by, module, name string, operand, line int, shape []int, phase string) {
	n := int64(1)
	for _, d := range shape {
		n *= int64(d)
	}
	c := &amp.Cast{From: amp.Float32, To: amp.Float16, By: by, Operand: operand, Name: name, Cached: name != "input", Bytes: 6 * n}
	rule := "cast for " + by + ": it runs in float16"
	key := fmt.Sprint(b.step, name)
	if c.Cached && b.cache[key] {
		c.Hit, c.Bytes, rule = true, 0, "served from the weight-cast cache for "+by
	}
	b.cache[key] = true
	b.add(amp.Event{Phase: phase, Op: "cast", Module: module, Class: "unlisted", Rule: rule,
		In: []amp.Arg{{DType: amp.Float32, Shape: shape}}, Out: amp.Arg{DType: amp.Float16, Shape: shape},
		Compute: amp.Float16, Autocast: amp.Float16, Cast: c, Cell: 3, CellLine: line})
}

func arg(d amp.DType, shape ...int) amp.Arg { return amp.Arg{DType: d, Shape: shape} }

const (
	lower    = "lower: GEMM: 16-bit operands, 32-bit accumulator"
	unlisted = "unlisted: follows its inputs; max(x, 0) is exact in any dtype"
	full     = "fp32: squares and a sum: float16 ends at 65504"
	backward = "backward: runs in the dtype its forward ran in"
	update   = "optimizer: runs in the dtype of its parameters"
)

// MLP is the trace of an 8-16-16-1 network trained under float16 autocast with two micro-batches a step: the second finds the
// weights' casts in the cache.
func MLP(steps int) *amp.Trace {
	b := &builder{t: &amp.Trace{Schema: amp.TraceSchema, Level: "decisions", Device: "cpu", Steps: steps, WallNS: 41_800_000, OverheadNS: 312_000}, cache: map[string]bool{}}
	sizes := []int{8, 16, 16, 1}
	for b.step = range steps {
		for range 2 {
			b.forward(sizes, 512)
			b.backward(sizes, 512)
		}
		for range 3 {
			b.add(amp.Event{Phase: amp.PhaseOptimizer, Op: "sgd_", Class: "unlisted", Rule: update, In: []amp.Arg{arg(amp.Float32, 16, 16), arg(amp.Float32, 16, 16)},
				Out: arg(amp.Float32, 16, 16), Compute: amp.Float32, Cell: 3, CellLine: 17})
		}
	}
	return b.t
}

func (b *builder) forward(sizes []int, batch int) {
	for i := range len(sizes) - 1 {
		in, out := sizes[i], sizes[i+1]
		m := fmt.Sprintf("net/%d", 2*i)
		from := amp.Float16
		if i == 0 {
			from = amp.Float32
			b.cast("linear", m, "input", 0, 12, []int{batch, in}, amp.PhaseForward)
		}
		b.cast("linear", m, fmt.Sprintf("%d.weight", 2*i), 1, 12, []int{out, in}, amp.PhaseForward)
		b.cast("linear", m, fmt.Sprintf("%d.bias", 2*i), 2, 12, []int{out}, amp.PhaseForward)
		b.add(amp.Event{Phase: amp.PhaseForward, Op: "linear", Module: m, Class: "lower", Rule: lower,
			In:  []amp.Arg{arg(from, batch, in), arg(amp.Float32, out, in), arg(amp.Float32, out)},
			Out: arg(amp.Float16, batch, out), Compute: amp.Float16, Autocast: amp.Float16, Changed: true, Cell: 3, CellLine: 12})
		if i < len(sizes)-2 {
			b.add(amp.Event{Phase: amp.PhaseForward, Op: "relu", Module: fmt.Sprintf("net/%d", 2*i+1), Class: "unlisted", Rule: unlisted,
				In: []amp.Arg{arg(amp.Float16, batch, out)}, Out: arg(amp.Float16, batch, out), Compute: amp.Float16, Autocast: amp.Float16, Cell: 3, CellLine: 12})
		}
	}
	b.add(amp.Event{Phase: amp.PhaseForward, Op: "mse_loss", Module: "loss", Class: "fp32", Rule: full,
		In: []amp.Arg{arg(amp.Float16, batch, 1), arg(amp.Float32, batch, 1)}, Out: arg(amp.Float32), Compute: amp.Float32, Autocast: amp.Float16, Changed: true, Cell: 3, CellLine: 13})
	b.add(amp.Event{Phase: amp.PhaseForward, Op: "mul_scalar", Class: "unlisted", Rule: "autocast is off: runs in the dtype of its inputs",
		In: []amp.Arg{arg(amp.Float32)}, Out: arg(amp.Float32), Compute: amp.Float32, Cell: 3, CellLine: 15})
}

func (b *builder) backward(sizes []int, batch int) {
	grad := func(m, op string, line int, d amp.DType, out ...int) {
		b.add(amp.Event{Phase: amp.PhaseBackward, Op: op, Module: m, Class: "lower", Rule: backward,
			In: []amp.Arg{arg(d, batch, 1)}, Out: arg(d, out...), Compute: d, Cell: 3, CellLine: line})
	}
	grad("", "mul_scalar", 15, amp.Float32)
	grad("loss", "sub", 13, amp.Float32, batch, 1)
	grad("loss", "mul", 13, amp.Float32, batch, 1)
	for i := len(sizes) - 2; i >= 0; i-- {
		in, out := sizes[i], sizes[i+1]
		if i < len(sizes)-2 {
			grad(fmt.Sprintf("net/%d", 2*i+1), "relu_grad", 12, amp.Float16, batch, out)
		}
		m := fmt.Sprintf("net/%d", 2*i)
		grad(m, "matmul", 12, amp.Float16, batch, in)
		grad(m, "matmul", 12, amp.Float16, out, in)
		grad(m, "sum", 12, amp.Float16, out)
		for range 2 {
			b.add(amp.Event{Phase: amp.PhaseBackward, Op: "cast", Module: m, Class: "unlisted", Rule: "the program asked for this cast",
				In: []amp.Arg{arg(amp.Float16, out, in)}, Out: arg(amp.Float32, out, in), Compute: amp.Float32, Cell: 3, CellLine: 12,
				Cast: &amp.Cast{From: amp.Float16, To: amp.Float32, Bytes: int64(6 * in * out)}})
		}
	}
}

// Healthy is MLP recorded at level Health: forward results around 1, gradients that shrink towards the first layer, and an
// activation whose magnitudes come close to what float16 holds.
func Healthy(steps int) *amp.Trace {
	t := MLP(steps)
	t.Level, t.OverheadNS = "health", 6_900_000
	for i := range t.Events {
		e := &t.Events[i]
		center := map[string]float64{"net/0": 1, "net/1": 0, "net/2": 9, "net/3": 9, "net/4": 3, "loss": -2}[e.Module]
		if e.Phase == amp.PhaseBackward {
			center = map[string]float64{"net/0": -22, "net/1": -19, "net/2": -16, "net/3": -13, "net/4": -9, "loss": -6}[e.Module]
		}
		if e.Cast != nil && e.Cast.Hit {
			continue
		}
		e.Health = magnitudes(center, e.Out.DType)
		if c := e.Cast; c != nil && c.By != "" && e.Module == "net/0" {
			c.Lost = 3
		}
	}
	return t
}

// magnitudes is a histogram around 2^center as a dtype keeps it.
func magnitudes(center float64, d amp.DType) *amp.Exponents {
	h := &amp.Exponents{N: 2048, Zeros: 256}
	for e := int(center) - 12; e <= int(center)+6; e++ {
		z := (float64(e) - center) / 3.5
		n := int(230 * math.Exp(-z*z/2))
		switch {
		case n == 0:
			continue
		case d == amp.Float16 && e < -24:
			h.Zeros += n
			continue
		case d == amp.Float16 && e > 15:
			h.Infs += n
			continue
		case d == amp.Float16 && e < -14:
			h.Subnormals += n
		}
		if h.Counts == nil {
			h.Low, h.Amin = e, math.Ldexp(1, e)
		}
		h.Counts = append(h.Counts, n)
		h.Amax = math.Ldexp(1.5, e)
	}
	return h
}

// Large is the trace of a network of n blocks, one step.
func Large(n int) *amp.Trace {
	b := &builder{t: &amp.Trace{Schema: amp.TraceSchema, Level: "decisions", Device: "cuda:0 NVIDIA H200", Steps: 1, WallNS: 9e9, OverheadNS: 12e6}, cache: map[string]bool{}}
	for i := range n {
		for _, part := range []string{"attention/query", "attention/key", "attention/value", "attention/output", "mlp/up", "mlp/down"} {
			m := fmt.Sprintf("transformer/block_%d/%s", i, part)
			b.cast("linear", m, m+".weight", 1, 7, []int{768, 768}, amp.PhaseForward)
			b.add(amp.Event{Phase: amp.PhaseForward, Op: "linear", Module: m, Class: "lower", Rule: lower,
				In: []amp.Arg{arg(amp.Float16, 8, 128, 768), arg(amp.Float32, 768, 768)}, Out: arg(amp.Float16, 8, 128, 768),
				Compute: amp.Float16, Autocast: amp.Float16, Changed: true, File: "/home/x/model.go", Line: 40 + i})
			for _, op := range []string{"matmul", "transpose", "sum"} {
				b.add(amp.Event{Phase: amp.PhaseBackward, Op: op, Module: m, Class: "lower", Rule: backward, In: []amp.Arg{arg(amp.Float16, 8, 128, 768)},
					Out: arg(amp.Float16, 8, 128, 768), Compute: amp.Float16, File: "/home/x/model.go", Line: 40 + i})
			}
		}
	}
	return b.t
}

// Gradients is a trace at level health: one backward result for each module and step, in float16, whose magnitudes are spread around
// 2^center like those of a net whose deeper layers have smaller gradients, and were multiplied by the scale of the step.
func Gradients(steps int, center float64, scale func(step int) float64, modules ...string) *amp.Trace {
	t := &amp.Trace{Schema: amp.TraceSchema, Level: "health", Device: "cpu", Steps: steps}
	for step := range steps {
		for m, name := range modules {
			shift := int(math.Round(math.Log2(scale(step))))
			mid := center - 6*float64(m) + float64(shift)
			h := &amp.Exponents{N: 4096, Zeros: 1024}
			for e := int(mid) - 12; e <= int(mid)+8; e++ {
				z := (float64(e) - mid) / 4
				n := int(600 * math.Exp(-z*z/2))
				if e < -24 { // float16 has rounded them away
					h.Zeros += n
					continue
				}
				if e > 15 { // and made these infinite
					h.Infs += n
					continue
				}
				if n == 0 {
					continue
				}
				if h.Counts == nil {
					h.Low, h.Amin = e, math.Ldexp(1, e)
				}
				h.Counts = append(h.Counts, n)
				h.Amax = math.Ldexp(1.5, e)
			}
			t.Events = append(t.Events, amp.Event{Seq: len(t.Events), Step: step, Phase: amp.PhaseBackward, Op: "matmul", Module: name, Class: "lower",
				Rule: backward, Out: arg(amp.Float16, 64, 64), Compute: amp.Float16, Health: h, Gradient: true, Bytes: 8192})
		}
	}
	return t
}

// A Scaler replays the scaler's arithmetic over made-up overflows.
type Scaler struct {
	Steps    int
	Init     float64
	Interval int
	Min      float64
	Overflow func(step int, scale float64) (culprit, value string) // "" for a clean step
}

// History runs the scaler.
func (s Scaler) History() amp.ScaleHistory {
	h := amp.ScaleHistory{Schema: amp.ScaleHistorySchema, Enabled: true, InitScale: s.Init, GrowthFactor: 2, BackoffFactor: .5,
		GrowthInterval: s.Interval, MinScale: s.Min, Scale: s.Init}
	for i := range s.Steps {
		x := amp.ScaleStep{Step: i, Scale: h.Scale, Applied: true}
		x.Culprit, x.Value = s.Overflow(i, h.Scale)
		h.GrowthTracker++
		switch {
		case x.Culprit != "":
			x.Applied = false
			h.Skipped++
			h.Scale, h.GrowthTracker = max(h.Scale/2, s.Min), 0
		case h.GrowthTracker == s.Interval:
			h.Scale, h.GrowthTracker = h.Scale*2, 0
		}
		x.Next, x.Tracker = h.Scale, h.GrowthTracker
		h.Nominal++
		h.Steps = append(h.Steps, x)
	}
	return h
}

// Steady is a run whose scale is found after four skips and overflows once more after it grew.
func Steady() amp.ScaleHistory {
	return Scaler{Steps: 2000, Init: 1 << 20, Interval: 700, Overflow: func(i int, scale float64) (string, string) {
		switch {
		case scale > 1<<17:
			return "2.weight", "+Inf"
		case scale > 1<<16:
			return "4.bias", "-Inf"
		}
		return "", ""
	}}.History()
}

// Calibrating is a run of few steps with one skip.
func Calibrating() amp.ScaleHistory {
	return Scaler{Steps: 12, Init: 65536, Interval: 2000, Overflow: func(i int, _ float64) (string, string) {
		if i == 3 {
			return "0.weight", "+Inf"
		}
		return "", ""
	}}.History()
}

// Collapsing is a run that goes well for a while and then overflows at every step.
func Collapsing() amp.ScaleHistory {
	return Scaler{Steps: 140, Init: 65536, Interval: 60, Overflow: func(i int, _ float64) (string, string) {
		if i >= 120 {
			return "4.weight", "NaN"
		}
		return "", ""
	}}.History()
}

// Loss is a smooth loss curve with some noise.
func Loss(n int, from, to, rate, noise float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = to + (from-to)*math.Exp(-rate*float64(i)) + noise*math.Sin(float64(i*i%97))*math.Exp(-rate*float64(i))
	}
	return out
}
