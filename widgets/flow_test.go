package widgets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestGradientFlowScales: the loss scales that a figure names are those that rounding every number at every scale finds.
func TestGradientFlowScales(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name    string
		dt      amp.DType
		f       amp.Format
		numbers func(i int) float64
	}{
		{"one", amp.Float16, amp.FormatFP16, func(int) float64 { return 1 }},
		{"ties at both ends", amp.Float16, amp.FormatFP16, func(i int) float64 { return []float64{0x1p-25, 65520, -0x1p-25, 3}[i%4] }},
		{"a hair off the ties", amp.Float16, amp.FormatFP16, func(i int) float64 { return []float64{0x1.000002p-25, 65519.99, -0x1p-20}[i%3] }},
		{"drawn", amp.Float16, amp.FormatFP16, func(int) float64 { return r.NormFloat64() * math.Exp2(-20-3*r.NormFloat64()) }},
		{"too wide", amp.Float16, amp.FormatFP16, func(int) float64 { return math.Exp2(60 * r.Float64()) }},
		{"bfloat16", amp.BFloat16, amp.FormatBF16, func(int) float64 { return r.NormFloat64() }},
	} {
		for _, n := range []int{1, 7, 999, 1000, 2001} {
			t.Run(fmt.Sprint(c.name, " ", n), func(t *testing.T) {
				values := make([]float32, n)
				for i := range values {
					values[i] = float32(c.numbers(i))
				}
				root := amp.NewScope(amp.On("cpu"))
				defer root.Close()
				x := amp.Ones(root, amp.Float32, n).RequireGrad()
				half := amp.To(root, x, c.dt)
				var trace amp.GradientTrace
				amp.Sum(root, amp.Mul(root, amp.To(root, half, amp.Float32), amp.From(values, n))).Backward(amp.TraceGradients(&trace))
				var e *amp.GradientEvent
				for i := range trace.Events {
					if trace.Events[i].DType == c.dt {
						e = &trace.Events[i]
					}
				}
				f := &scaleFold{}
				f.add(e)
				got := f.fit(1)
				keep, safe, kept := brute(values, c.f)
				if got.Keep != Number(math.Ldexp(1, keep)) || got.Safe != Number(math.Ldexp(1, safe)) || (keep > safe) != (got.Kept != 0) && kept > 0 {
					t.Errorf("%+v, want 2^%d to 2^%d", got, keep, safe)
				}
				if keep > safe && math.Abs(float64(got.Kept)-kept) > 1e-4 { // four digits
					t.Errorf("keeps %v at most, want %v", got.Kept, kept)
				}
			})
		}
	}
}

// brute rounds all numbers at every scale.
func brute(values []float32, f amp.Format) (keep, safe int, kept float64) {
	keep, safe = math.MaxInt, math.MinInt
	for k := -300; k <= 300; k++ {
		lost, over := 0, false
		for _, v := range values {
			r := f.Round(math.Ldexp(float64(v), k))
			lost += b2i(r == 0)
			over = over || math.IsInf(r, 0)
		}
		if lost <= len(values)/1000 {
			keep = min(keep, k)
		}
		if !over {
			safe, kept = k, 1-float64(lost)/float64(len(values))
		}
	}
	return keep, safe, kept
}

// TestGradientFlowScaleHolds: a step at the smallest and the largest scale that the figure of an unscaled step names loses no more than it
// says, and one at twice the largest overflows.
func TestGradientFlowScaleHolds(t *testing.T) {
	step := func(scale float64) *FlowData {
		root := amp.NewScope(amp.On("cpu"), amp.Seed(5), amp.Record(amp.Decisions))
		defer root.Close()
		w := amp.Randn(root, amp.Float32, 0, 0.2, 24, 16).RequireGrad().SetName("w")
		x := amp.Randn(root, amp.Float32, 0, 1e-4, 40, 24)
		half := root.Autocast(amp.Float16)
		loss := amp.Mean(root, amp.Mul(root, amp.ReLU(half, amp.MatMul(half, x, w)), amp.Randn(root, amp.Float32, 0, 1, 40, 16)))
		var trace amp.GradientTrace
		amp.NewGradScaler(amp.InitScale(scale)).Scale(root, loss).Backward(amp.TraceGradients(&trace))
		return GradientFlow(&trace).Flow
	}
	first := step(1)
	if first.Here == 0 || first.Fit.Keep <= 1 || first.Fit.Safe <= first.Fit.Keep {
		t.Fatalf("nothing to save: %+v", first.Fit)
	}
	if !strings.Contains(first.Rows[len(first.Rows)-1].Where, "flow_test.go:") || first.Ends[0].First == "" {
		t.Errorf("no lines: %+v", first.Rows)
	}
	for _, at := range []Number{first.Fit.Keep, first.Fit.Safe} {
		d := step(float64(at))
		for _, r := range d.Rows {
			// What arrives has been rounded, too, so that a number at the edge may fall to the other side: one in a thousand of them.
			if lost := r.Zeros + r.Gone; r.DType.IsHalf() && lost > r.Wanted*2/1000 || r.Infs+r.NaNs > 0 {
				t.Errorf("at %v %s loses %d of %d: %+v", at, r.What(), lost, r.Wanted, r)
			}
		}
		if d.Scale != at || d.Fit != first.Fit {
			t.Errorf("at %v (%v) the scales are %+v, at 1 %+v", at, d.Scale, d.Fit, first.Fit)
		}
	}
	if d := step(2 * float64(first.Fit.Safe)); d.Here == 0 || d.Bad == 0 {
		t.Errorf("twice %v does not overflow", first.Fit.Safe)
	}
}

// TestGradientFlowFits: of a large model the rows that lost most are kept, in their order, and the figure says how many are left out.
func TestGradientFlowFits(t *testing.T) {
	trace := &amp.GradientTrace{Schema: amp.GradientSchema, Step: -1, Scale: 1}
	name := strings.Repeat("block", 30)
	for i := range 3000 {
		trace.Events = append(trace.Events, amp.GradientEvent{Op: "linear", Of: "x", Module: fmt.Sprint(name, i), From: i - 1, DType: amp.Float16, N: 9, Wanted: 9, Zeros: b2i(i%100 == 50) * (1 + i/1000),
			Amax: 1, Amin: 1e-9, Low: -30, Counts: []int{9}, File: "model.go", Line: i})
		trace.Leaves = append(trace.Leaves, amp.GradientLeaf{Name: fmt.Sprint(i, name), From: i, N: 9, Wanted: 9, Zeros: i % 7})
	}
	f := GradientFlow(trace)
	b, err := f.MarshalJSON()
	if err != nil || len(b) > MaxJSON {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	d, losing, last := f.Flow, 0, -1
	for _, r := range d.Rows {
		var line int
		if _, err := fmt.Sscanf(r.Where, "model.go:%d", &line); err != nil && r.Where != "" || line < last {
			t.Errorf("%q behind line %d", r.Where, last)
		}
		last = line
		losing += b2i(r.Here() > 0)
	}
	if len(d.Rows)+d.More != 3000 || len(d.Ends)+d.Rest != 3000 || losing != 30 || d.Ends[0].Zeros != 6 {
		t.Errorf("%d rows and %d more, %d leaves and %d more", len(d.Rows), d.More, len(d.Ends), d.Rest)
	}
}

// TestFlowOfUpdates: what is said of later steps counts as scalers do, whatever a loop's steps are: several optimizers in one update, several
// passes in one, and loops that began before.
func TestFlowOfUpdates(t *testing.T) {
	for _, c := range []struct {
		name       string
		optimizers int
		every      int // steps of the loop for each update
		traced     int // step of the loop
		note, says string
	}{
		{"one", 1, 1, 2, "Of the 8 steps of the run the figure is about step 2 alone.", "But of the 5 steps after it 4 were skipped, since gradients were not finite, first step 4"},
		{"two optimizers", 2, 1, 2, "Of the 8 steps of the run the figure is about step 2 alone.", "But of the 5 steps after it 4 were skipped, since gradients were not finite, first step 4"},
		{"accumulation", 1, 2, 5, "Of the 4 updates of the run the figure is about update 2 alone.", "But of the 1 update after it 1 was skipped, since gradients were not finite, first update 3"},
		{"the first pass", 1, 2, 0, "Of the 8 steps of the run the figure is about step 0 alone.", "But of the 7 steps after it 2 were skipped"},
	} {
		root := amp.NewScope(amp.On("cpu"))
		w := amp.From([]float32{1, 2}).To(root).RequireGrad()
		scaler := amp.NewGradScaler(amp.InitScale(4))
		var opts []*optimizer
		for range c.optimizers {
			opts = append(opts, &optimizer{w})
		}
		var trace amp.GradientTrace
		for s := range root.Steps(8) {
			x := 1.0
			if s.Step() >= 4 {
				x = math.Inf(1)
			}
			var how []amp.BackwardOption
			if s.Step() == c.traced {
				how = append(how, amp.TraceGradients(&trace))
			}
			scaler.Scale(s, amp.Sum(s, amp.MulScalar(s, w, x))).Backward(how...)
			if (s.Step()+1)%c.every > 0 {
				continue
			}
			for _, o := range opts {
				scaler.Step(o)
			}
			scaler.Update()
			w.ZeroGrad()
		}
		f := GradientFlow(&trace, scaler.History(), amp.ScaleHistory{Nominal: 8})
		if f.Flow.Note != c.note || !strings.Contains(f.Flow.Sentence, c.says) {
			t.Errorf("%s: %q, and %q", c.name, f.Flow.Note, f.Flow.Sentence)
		}
		root.Close()
	}
}

// optimizer is one that changes nothing.
type optimizer struct{ w *amp.Tensor }

func (o *optimizer) Parameters() []*amp.Tensor { return []*amp.Tensor{o.w} }
func (o *optimizer) ZeroGrad()                 { o.w.ZeroGrad() }
func (o *optimizer) Step()                     {}
