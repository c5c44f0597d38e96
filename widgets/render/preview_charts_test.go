package render

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// chartFigures are figures that charts are hard to draw of.
func chartFigures() map[string]*widgets.Figure {
	return map[string]*widgets.Figure{
		"compare_alike": widgets.Compare(alike()...),
		"compare_none":  widgets.Compare(noDTypes()...),
		"compare_small": widgets.Compare(
			widgets.Run{Name: "float32", DType: amp.Float32, Loss: falling(60, 2.296e-6, .95, 0)},
			widgets.Run{Name: "float16", DType: amp.Float16, Loss: falling(60, 2.296e-6, .95, 1e-4)}),
		"compare_wide": widgets.Compare(widgets.Run{Name: "float32", DType: amp.Float32, Loss: []float64{-1234567, -1234501, -1234444}}),
		"compare_far": widgets.Compare(
			widgets.Run{Name: "float32", DType: amp.Float32, Loss: falling(60, 1, .97, 0)},
			widgets.Run{Name: "float16", DType: amp.Float16, Loss: falling(60, 1, .97, 1e-3)},
			widgets.Run{Name: "float16, no scaler", DType: amp.Float16, Loss: falling(60, 1.7, 1.002, 0)}),
		"exponents_bfloat16": widgets.Exponents(inBFloat16(sample.Gradients(3, -18, fixed(0x1p40), "net/1", "net/0")), amp.ScaleHistory{Enabled: true, Scale: 0x1p40, Nominal: 3}),
		"decisions_full": widgets.Decisions(&amp.Trace{Schema: amp.TraceSchema, Level: "decisions", Device: "cpu", Events: []amp.Event{{
			Step: -1, Phase: amp.PhaseForward, Op: "matmul", Class: "lower", Rule: "autocast is off", Compute: amp.Float32}}}),
		"flow_later":        widgets.GradientFlow(sample.Flow(9), collapsed()),
		"rounding_bfloat16": widgets.Rounding(sample.Rounding(amp.BFloat16)),
		"rounding_few":      widgets.Rounding(few(sample.Rounding(amp.Float16), 3)),
		"rounding_blocks":   widgets.Rounding(sample.RoundingDeep(12, func(i int) string { return fmt.Sprint("h.", i, "/") })),
		"rounding_deep":     widgets.Rounding(sample.RoundingDeep(9, func(i int) string { return fmt.Sprint("transformer/stages.", i, "/blocks/a_rather_long_name/") })),
		"scale_grown":       widgets.ScaleHistory(grown(0)),
		"scale_floor":       widgets.ScaleHistory(grown(1 << 22)),
		"scale_low":         widgets.ScaleHistory(shrunk()),
	}
}

// inBFloat16 makes a trace one of a run under autocast in bfloat16.
func inBFloat16(t *amp.Trace) *amp.Trace {
	for i := range t.Events {
		t.Events[i].Autocast = amp.BFloat16
	}
	return t
}

// shrunk is a history whose scale falls to a floor that is written as a power.
func shrunk() amp.ScaleHistory {
	return sample.Scaler{Steps: 20, Init: 1, Interval: 2000, Min: 0x1p-12, Overflow: func(int, float64) (string, string) { return "2.weight", "+Inf" }}.History()
}

// alike are runs most of which share a dtype.
func alike() []widgets.Run {
	var runs []widgets.Run
	for i, d := range []amp.DType{amp.Float16, amp.Float16, amp.Float16, amp.Float16, amp.BFloat16} {
		runs = append(runs, widgets.Run{Name: fmt.Sprint("run ", i), DType: d, Loss: falling(40, 1, .97, .001*float64(i))})
	}
	return runs
}

// noDTypes are runs that differ in something else than the dtype of a scope.
func noDTypes() []widgets.Run {
	var runs []widgets.Run
	for i, name := range []string{"weights in float32", "in bfloat16", "in float16", "in bfloat16, stochastic"} {
		runs = append(runs, widgets.Run{Name: name, Loss: falling(40, 1, .97, .02*float64(i))})
	}
	return runs
}

// falling is a loss that falls by a factor in every step, and lies above that by a share that grows.
func falling(steps int, first, factor, above float64) []float64 {
	out := make([]float64, steps)
	for i := range out {
		out[i] = first * math.Pow(factor, float64(i)) * (1 + above*float64(i+1))
	}
	return out
}

// grown is a scale that comes down in the first steps, and grows after the last one.
func grown(floor float64) amp.ScaleHistory {
	return sample.Scaler{Steps: 54, Init: 1 << 26, Interval: 50, Min: floor, Overflow: func(i int, _ float64) (string, string) {
		if i < 4 {
			return "2.weight", "+Inf"
		}
		return "", ""
	}}.History()
}

// collapsed is the history of a run whose steps were skipped from the eighth on.
func collapsed() amp.ScaleHistory {
	return sample.Scaler{Steps: 20, Init: 512, Interval: 2000, Overflow: func(i int, _ float64) (string, string) {
		if i >= 8 {
			return "2.weight", "NaN"
		}
		return "", ""
	}}.History()
}

// few keeps the last ops of a pass.
func few(t *amp.RoundingTrace, n int) *amp.RoundingTrace {
	t.Events = t.Events[len(t.Events)-n:]
	return t
}
