package sample

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
)

// roundingStep is one op of a made-up forward pass, of a block with attention: how large its results are, how much the loss depends on an
// error of all of them, relative to their size, and whether an autocast scope computes it in its lower dtype.
type roundingStep struct {
	op, of, module string
	line, n        int
	size, gain     float64
	low            bool
	sign           float64 // part of the size of its rounding that signs leave
	lost, over     int     // of what it would compute in float16
}

var roundingSteps = []roundingStep{
	{"embedding", "", "gpt/wte", 41, 8192, 0.02, 0.4, false, 0.3, 0, 0},
	{"layer_norm", "", "gpt/h.0/ln_1", 22, 8192, 1, 0.9, false, -0.2, 0, 0},
	{"linear", "h.0.attn.qkv.weight", "gpt/h.0/attn", 24, 24576, 0.41, 1.2, true, 0.5, 0, 0},
	{"matmul", "", "gpt/h.0/attn", 26, 16384, 6.1, 5.1, true, -0.7, 0, 0},
	{"mul_scalar", "", "gpt/h.0/attn", 26, 16384, 0.8, 1.9, true, 0.1, 0, 0},
	{"softmax", "", "gpt/h.0/attn", 27, 16384, 0.06, 3.6, false, 0.4, 61, 0},
	{"matmul", "", "gpt/h.0/attn", 28, 8192, 0.2, 0.5, true, 0.2, 0, 0},
	{"linear", "h.0.attn.proj.weight", "gpt/h.0/attn", 29, 8192, 0.1, 0.3, true, -0.6, 0, 0},
	{"add", "", "gpt/h.0", 31, 8192, 0.5, 1.4, false, 0.3, 0, 0},
	{"layer_norm", "", "gpt/h.0/ln_2", 32, 8192, 1, 0.7, false, 0.2, 0, 0},
	{"linear", "h.0.mlp.fc.weight", "gpt/h.0/mlp", 33, 32768, 0.6, 0.6, true, 0.1, 0, 0},
	{"gelu", "", "gpt/h.0/mlp", 34, 32768, 0.3, 0.4, true, -0.3, 2210, 0},
	{"linear", "h.0.mlp.proj.weight", "gpt/h.0/mlp", 35, 8192, 0.2, 0.5, true, 0.4, 0, 0},
	{"add", "", "gpt/h.0", 36, 8192, 0.7, 1.1, false, -0.1, 0, 0},
	{"linear", "wte.weight", "gpt/head", 44, 32768, 3.2, 14, true, 0.45, 0, 0},
	{"log_softmax", "", "loss", 51, 32768, 5.4, 4, false, -0.2, 0, 0},
	{"nll_loss", "", "loss", 51, 1, 4.1, 1, false, 0.5, 0, 0},
}

// unit is the size of the rounding of results that are equally spread, relative to them.
func unit(dt amp.DType) float64 {
	return math.Ldexp(0.4, map[amp.DType]int{amp.Float16: -11, amp.BFloat16: -8, amp.Float32: -24}[dt])
}

// Rounding is the trace of the rounding of one forward pass of a small language model under autocast in a dtype, or in float32 without: as
// a program would record it, with numbers that are made up and the same everywhere.
func Rounding(dt amp.DType) *amp.RoundingTrace {
	t := &amp.RoundingTrace{Schema: amp.RoundingSchema, Device: "cpu", Step: 7, DType: amp.Float32, Exact: 4.0871}
	before, all := 0.0, 0.0
	add := func(e amp.RoundingEvent, s roundingStep, own, gain float64) {
		e.Module, e.Func, e.Cell, e.CellLine, e.Shape = s.module, "main.main", 3, s.line, []int{s.n}
		e.N, e.Size, e.Own = s.n, s.size, own*s.size
		before = math.Hypot(0.7*before, own)
		e.Total = before * s.size
		e.Spread = own * gain
		e.Share = s.sign * e.Spread
		t.First += e.Share
		all = math.Hypot(all, e.Spread)
		t.Events = append(t.Events, e)
	}
	for _, s := range roundingSteps {
		e := amp.RoundingEvent{Op: s.op, Compute: amp.Float32, DType: amp.Float32, Rule: "listed"}
		if dt != amp.Float32 {
			e.Autocast = dt
		}
		if s.low && dt != amp.Float32 {
			e.Compute, e.DType = dt, dt
			if s.of != "" {
				c := amp.RoundingEvent{Op: "cast", For: s.op, Of: s.of, Compute: amp.Float32, DType: dt, Autocast: dt, Rule: "lower"}
				w := s
				w.size, w.sign = 0.02, -s.sign/2
				after := before
				add(c, w, unit(dt), 0.6*s.gain)
				before = after
			}
		} else if dt != amp.Float32 { // exact
			add(amp.RoundingEvent{Op: "cast", For: s.op, Compute: dt, DType: amp.Float32, Autocast: dt, Rule: "fp32"}, s, 0, 0)
		}
		for _, x := range []amp.DType{amp.Float32, amp.BFloat16, amp.Float16} {
			o := amp.RoundingIf{DType: x, Spread: 1.3 * s.gain * unit(x)}
			if x == amp.Float16 {
				o.Lost, o.Over = s.lost, s.over
			}
			e.If = append(e.If, o)
		}
		if s.op == "linear" {
			e.Recipes = recipes(s.gain)
		}
		add(e, s, unit(e.DType), s.gain)
	}
	t.Spread, t.Loss = all, t.Exact+0.97*t.First
	return t
}

// recipes are what products of 8 and of 4 bits do.
func recipes(gain float64) (all []amp.RoundingRecipe) {
	for i, name := range []string{"fp8", "fp8-row", "fp8-block", "nvfp4", "mxfp4"} {
		all = append(all, amp.RoundingRecipe{Recipe: name, Spread: gain * []float64{0.03, 0.024, 0.018, 0.09, 0.13}[i]})
	}
	return all
}

// RoundingBroken is the trace of a pass in float16 whose scores overflow, so that the loss is not finite.
func RoundingBroken() *amp.RoundingTrace {
	t := Rounding(amp.Float16)
	t.Bad, t.Loss, t.First = true, 0, 0
	for i := range t.Events {
		if e := &t.Events[i]; e.Op == "matmul" && e.CellLine == 26 {
			e.Bad, e.Own, e.Total, e.Spread, e.Share = 212, 0, 0, 0, 0
			e.If[2].Over, e.If[2].Spread = 212, 0
		}
	}
	return t
}

// RoundingOver is the trace of a program in float32 whose scores float16 could not hold.
func RoundingOver() *amp.RoundingTrace {
	t := Rounding(amp.Float32)
	for i := range t.Events {
		if e := &t.Events[i]; e.Op == "matmul" && e.CellLine == 26 {
			e.If[2].Over, e.If[2].Spread = 212, 0
		}
	}
	return t
}

// RoundingDeep is the trace of as many blocks, each under a name as long as given.
func RoundingDeep(blocks int, name func(i int) string) *amp.RoundingTrace {
	one := Rounding(amp.Float16)
	t := *one
	t.Events, t.Spread, t.First = nil, 0, 0
	for i := range blocks {
		for _, e := range one.Events {
			k := 1 / float64(1+(i*7)%blocks)
			e.Module, e.Spread, e.Share = name(i)+e.Module, k*e.Spread, k*e.Share
			if e.Of != "" {
				e.Of = name(i) + e.Of
			}
			t.Spread, t.First = math.Hypot(t.Spread, e.Spread), t.First+e.Share
			t.Events = append(t.Events, e)
		}
	}
	t.Loss = t.Exact + t.First
	return &t
}
