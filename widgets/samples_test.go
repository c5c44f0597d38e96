package widgets

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// samples are one figure of each kind and state.
var samples = sync.OnceValue(func() map[string]*Figure {
	return map[string]*Figure{
		"decisions":        Decisions(sample.MLP(50)),
		"decisions_once":   Decisions(sample.MLP(1)).Stable(),
		"decisions_large":  Decisions(sample.Large(48)),
		"decisions_health": Decisions(sample.Healthy(5)),
		"decisions_none":   Decisions(nil),
		"decisions_empty":  Decisions(&amp.Trace{Level: "decisions", Device: "cpu"}),
		"decisions_off":    Decisions(&amp.Trace{Level: "off", Device: "cpu"}),
		"steady":           ScaleHistory(sample.Steady()),
		"calibrating":      ScaleHistory(sample.Calibrating()),
		"collapsing":       ScaleHistory(sample.Collapsing()),
		"floor":            ScaleHistory(floored()),
		"disabled":         ScaleHistory(amp.ScaleHistory{Scale: 1}),
		"no_steps":         ScaleHistory(amp.ScaleHistory{Enabled: true, InitScale: 65536, Scale: 65536, GrowthInterval: 2000}),
		"compare":          Compare(threeRuns()...),
		"compare_nothing":  Compare(),
		"exponents":        Exponents(sample.Gradients(3, -18, fixed(65536), "net/4", "net/2", "net/0", "loss"), amp.ScaleHistory{Enabled: true, Scale: 65536, Nominal: 3}),
		"exponents_plain":  Exponents(sample.Gradients(1, -12, fixed(1), "")),
		"exponents_over":   Exponents(sample.Gradients(2, 2, fixed(4096), "net/0", "net/1"), amp.ScaleHistory{Enabled: true, Scale: 8192, Nominal: 2, Steps: []amp.ScaleStep{{Scale: 4096, Next: 4096}, {Step: 1, Scale: 4096, Next: 8192}}}),
		"exponents_none":   Exponents(sample.MLP(2)),
		"flow":             GradientFlow(sample.Flow(0)),
		"flow_scaled":      GradientFlow(sample.Flow(9)),
		"flow_over":        GradientFlow(sample.Flow(22)),
		"flow_none":        GradientFlow(nil),
		"rounding":         Rounding(sample.Rounding(amp.Float16)),
		"rounding_fp32":    Rounding(sample.Rounding(amp.Float32)),
		"rounding_over":    Rounding(sample.RoundingOver()),
		"rounding_bad":     Rounding(sample.RoundingBroken()),
		"rounding_none":    Rounding(nil),
		"rounding_deep":    Rounding(sample.RoundingDeep(6, func(i int) string { return fmt.Sprint("stack", i, "/") })),
		"live_begin":       liveSample(2000, 0),
		"live_running":     liveSample(2000, 412),
		"live_done":        liveSample(500, 500),
		"live_stopped":     liveSample(2000, 412).Stopped(),
		"live_diverged":    diverging(liveSample(0, 60)),
		"compare_ops":      Compare(tracedRuns()...),
		"bits":             Bits(0.1),
		"bits_edges":       Bits(1e-8, 70000, 6e-5, 1, 0, math.Inf(-1), math.NaN(), 65519.99, 2, 3),
		"bits_none":        Bits(),
		"policy":           Policy(),
		"policy_forced":    forcedPolicy(),
		"policy_few":       fewOps(forcedPolicy()),
		"custom":           Own("Dots", dots{3}),
		"custom_nil":       Own("", nil),
		"compare_nan": Compare(Run{Name: "float32", DType: amp.Float32, Loss: []float64{1, .5, .25}},
			Run{Name: "float16, no scaler", DType: amp.Float16, Loss: []float64{1, math.Inf(1), math.NaN()}}),
	}
})

// forcedPolicy is the op table of a bfloat16 scope by the CPU lists with two overrides.
func forcedPolicy() *Figure {
	root := amp.NewScope(amp.On("cpu"))
	defer root.Close()
	return Policy(root.Autocast(amp.BFloat16, amp.UseLists(amp.CPULists), amp.Force("gelu", amp.FP32), amp.Force("softmax", amp.Lower)))
}

// fewOps keeps some ops of the table, so that the text stays the same when ops are added.
func fewOps(f *Figure) *Figure {
	d := f.Policy
	d.Ops = slices.DeleteFunc(d.Ops, func(o PolicyOp) bool {
		return !slices.Contains([]string{"add", "argmax", "binary_cross_entropy", "cat", "conv2d", "exp", "gelu", "linear", "relu", "relu_backward", "softmax", "sum"}, o.Name)
	})
	for i := range d.Classes {
		d.Classes[i].Ops = 0
		for _, g := range d.Grouped(d.Classes[i].Class, false) {
			d.Classes[i].Ops += len(g.Ops)
		}
	}
	d.Sentence = d.finding()
	f.Alt = d.Sentence
	return f
}

// dots is a figure of a user's own, with every face.
type dots struct{ n int }

func (d dots) Text() string { return strings.Repeat("● ", d.n) + "\n" + fmt.Sprint(d.n, " dots") }
func (d dots) SVG() string {
	return `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20">` + strings.Repeat(`<circle cx="10" cy="10" r="8"/>`, d.n) + `</svg>`
}
func (d dots) HTML() string { return "<b>" + strings.Repeat("●", d.n) + "</b>" }
func (d dots) Data() any    { return map[string]int{"dots": d.n} }
func (d dots) Alt() string  { return fmt.Sprintf("There are %d dots.", d.n) }

// fixed is a loss scale that stays.
func fixed(scale float64) func(int) float64 { return func(int) float64 { return scale } }

// tracedRuns bring their traces and their memory, and one of them is shorter.
func tracedRuns() []Run {
	return []Run{
		{Name: "float32", DType: amp.Float32, Loss: sample.Loss(400, 2.31, .08, .02, .05), StepNS: []int64{812_000}, Bytes: 158_900_000, Trace: sample.Looked(3, 0, 1, amp.Float32)},
		{Name: "float16 + scaler", DType: amp.Float16, Loss: sample.Loss(400, 2.3105, .0801, .02, .0502), StepNS: []int64{930_000}, Bytes: 98_500_000, Skipped: 1, Trace: sample.Looked(3, 3e-4, 65536, amp.Float16)},
		{Name: "bfloat16", DType: amp.BFloat16, Loss: sample.Loss(320, 2.312, .0803, .0199, .051), StepNS: []int64{921_000}, Bytes: 99_100_000, Trace: sample.Looked(3, 2.5e-3, 1, amp.BFloat16)},
	}
}

func threeRuns() []Run {
	return []Run{
		{Name: "float32", DType: amp.Float32, Loss: sample.Loss(50, 1.31, .08, .12, .02), StepNS: []int64{900_000, 812_000, 790_000}},
		{Name: "float16 + scaler", DType: amp.Float16, Loss: sample.Loss(50, 1.312, .0802, .118, .021), StepNS: []int64{930_000}, Skipped: 1},
		{Name: "bfloat16", DType: amp.BFloat16, Loss: sample.Loss(50, 1.33, .083, .11, .03)},
	}
}

// liveSample is a live figure in the middle of a loop, with measurements that are always the same.
func liveSample(total, steps int) *Figure {
	l := newLive(total, "Training in float16")
	losses := sample.Loss(max(steps, 1), 2.31, .01, .002, .05)
	for i := range steps {
		r := &amp.StepReport{ScaleStep: amp.ScaleStep{Step: i, Scale: 65536, Next: 65536, Applied: i%150 != 7, Culprit: "fc2.weight"}}
		if i%150 == 7 {
			r.Next = 32768
		}
		l.count("cpu", &losses[i], r)
	}
	if steps == total {
		l.state.State = LiveDone
	}
	f := l.Figure()
	f.Volatile = &Volatile{WallNS: 2_700_000_000, Rate: number(152.6), Bytes: 12_300_000, PeakBytes: 15_100_000}
	if total > steps {
		f.Volatile.LeftNS = 10_400_000_000
	}
	return f
}

// diverging ends a live figure with losses that are not finite.
func diverging(f *Figure) *Figure {
	d := f.Live
	d.Step, d.Diverged, d.Loss = d.Step+3, d.Step, Number(math.NaN())
	for i := range 3 {
		d.Points = append(d.Points, LossPoint{d.Diverged + i, Number(math.NaN())})
	}
	d.describe(f)
	return f
}

// floored is a run whose scale fell to its floor.
func floored() amp.ScaleHistory {
	return sample.Scaler{Steps: 90, Init: 1024, Interval: 500, Min: 256, Overflow: func(i int, _ float64) (string, string) {
		if i > 60 && i%9 > 6 {
			return "0.weight", "+Inf"
		}
		return "", ""
	}}.History()
}
