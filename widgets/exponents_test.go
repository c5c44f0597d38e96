package widgets

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// gradients trains a small net in float32, where nothing is rounded away, and returns its trace and the scaler's history.
func gradients(t *testing.T, opts ...amp.ScalerOption) (*amp.Trace, amp.ScaleHistory) {
	t.Helper()
	s := amp.NewScope(amp.Seed(3), amp.Record(amp.Health))
	defer s.Close()
	net := nn.NewSequential(nn.NewLinear(s, 8, 16), nn.ReLU, nn.NewLinear(s, 16, 1))
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.01))
	scaler := amp.NewGradScaler(opts...)
	x, y := amp.Randn(s, amp.Float32, 0, 1, 32, 8), amp.Randn(s, amp.Float32, 0, 1, 32, 1)
	for step := range s.Steps(6) {
		loss := nn.MSELoss(step, net.Forward(step.In("net"), x), y)
		opt.ZeroGrad()
		scaler.Scale(step, loss).Backward()
		scaler.Step(opt)
		scaler.Update()
	}
	return s.Trace(), scaler.History()
}

// TestExponentsTakeTheScaleOut: scaling by powers of two is exact in float32, so that runs that differ in their scales alone, fixed
// or moving, have the same gradients once the scale is taken out, to the last count.
func TestExponentsTakeTheScaleOut(t *testing.T) {
	plain, h := gradients(t, amp.InitScale(1), amp.GrowthInterval(1000))
	want := Exponents(plain, h).Exponents
	// The gradients of each step: the output, layer 2's input, weight and bias, relu's input, layer 0's weight and bias.
	if each := 32 + 32*16 + 16 + 1 + 32*16 + 16*8 + 16; want.N != 6*each || want.Results != 6*7 || want.Steps != 6 || want.Halves != 0 {
		t.Fatalf("%d numbers in %d gradients, want %d in %d: %+v", want.N, want.Results, 6*each, 6*7, want)
	}
	sum := want.Zeros
	for _, n := range want.Counts {
		sum += n
	}
	if sum != want.N || want.Unscaled.All() != want.N-want.Zeros {
		t.Errorf("%d numbers, %d in bins and zeros, %d with a fate", want.N, sum, want.Unscaled.All())
	}
	for name, opts := range map[string][]amp.ScalerOption{
		"fixed":  {amp.InitScale(4096), amp.GrowthInterval(1000)},
		"moving": {amp.InitScale(16), amp.GrowthInterval(2), amp.GrowthFactor(4)},
	} {
		trace, h := gradients(t, opts...)
		got := Exponents(trace, h).Exponents
		if got.Scale != Number(h.Scale) || got.Note != "" {
			t.Errorf("%s: scale %v, note %q", name, got.Scale, got.Note)
		}
		if !reflect.DeepEqual(got.Counts, want.Counts) || got.Low != want.Low || got.Amax != want.Amax || got.Amin != want.Amin || got.Zeros != want.Zeros {
			t.Errorf("%s: from 2^%d %v, want from 2^%d %v", name, got.Low, got.Counts, want.Low, want.Counts)
		}
		if got.Unscaled != want.Unscaled || got.BFloat16 != want.BFloat16 {
			t.Errorf("%s: fates %+v %+v, want %+v %+v", name, got.Unscaled, got.BFloat16, want.Unscaled, want.BFloat16)
		}
		blind := Exponents(trace).Exponents // the scale left in
		if blind.Scale != 1 || reflect.DeepEqual(blind.Counts, want.Counts) && blind.Low == want.Low {
			t.Errorf("%s: without the history the scale was taken out", name)
		}
	}
}

// TestExponentsFate checks what float16 makes of binades at its ends, and the largest safe scale.
func TestExponentsFate(t *testing.T) {
	for e, want := range map[int]int{-27: FateZero, -26: FateZero, -25: FateSubnormal, -15: FateSubnormal, -14: FateNormal, 15: FateNormal, 16: FateOverflow} {
		if got := FateOf(e, 1); got != want {
			t.Errorf("2^%d: %d, want %d", e, got, want)
		}
		if got := FateOf(e-10, 1024); got != want {
			t.Errorf("2^%d × 1024: %d, want %d", e-10, got, want)
		}
	}
	d := Exponents(sample.Gradients(1, -18, fixed(1024), "a"), amp.ScaleHistory{Enabled: true, Scale: 1024, Nominal: 1}).Exponents
	if top := float64(d.Amax) * float64(d.Best); top > 65504/2 || 4*top < 65504 {
		t.Errorf("largest gradient %v, best scale %v: the largest becomes %v", d.Amax, d.Best, top)
	}
}

// TestExponentsSaysWhatItCannotKnow checks the notes: a scale that moved otherwise than the steps of the trace, numbers that were
// rounded before, nothing recorded, nothing but zeros.
func TestExponentsSaysWhatItCannotKnow(t *testing.T) {
	moved := amp.ScaleHistory{Enabled: true, Scale: 512, Nominal: 9, Steps: []amp.ScaleStep{{Scale: 1024}, {Step: 8, Scale: 512}}}
	zero := &amp.Trace{Level: "health", Events: []amp.Event{{Phase: amp.PhaseBackward, Gradient: true, Health: &amp.Exponents{N: 7, Zeros: 7}}}}
	forward := &amp.Trace{Level: "health", Events: []amp.Event{{Phase: amp.PhaseForward, Health: &amp.Exponents{N: 7, Low: 0, Counts: []int{7}, Amax: 1, Amin: 1}}}}
	for _, c := range []struct {
		f    *Figure
		want string
	}{
		{Exponents(sample.Gradients(2, -18, fixed(1024), "a"), moved), "do not match the 2 steps of the trace"},
		{Exponents(sample.Gradients(2, -18, fixed(1024), "a")), "were 16 bits wide"},
		{Exponents(nil), "holds no magnitudes"},
		{Exponents(sample.MLP(1)), "amp.Record(amp.Health)"},
		{Exponents(forward), "No backward pass was recorded"},
		{Exponents(zero), "All 7 gradients counted are zero"},
		{Exponents(sample.Gradients(1, -18, fixed(1), "a"), amp.ScaleHistory{Enabled: true, Scale: math.NaN()}), "Without a loss scale"},
	} {
		if text := strings.Join(strings.Fields(c.f.Text()), " "); !strings.Contains(text, c.want) {
			t.Errorf("no %q in\n%s", c.want, c.f.Text())
		}
	}
}

// TestFatesAtEveryScale: what the sweep and the table of formats show is what the figure says at scale 1 and at the present one, and
// a larger scale loses no more to zero and lets no less overflow.
func TestFatesAtEveryScale(t *testing.T) {
	trace, h := gradients(t, amp.InitScale(4096), amp.GrowthInterval(1000))
	d := Exponents(trace, h).Exponents
	if d.FateAt(0) != d.Unscaled || d.FateAt(12) != d.Scaled {
		t.Errorf("%+v and %+v, want %+v and %+v", d.FateAt(0), d.FateAt(12), d.Unscaled, d.Scaled)
	}
	if f := d.Formats[0]; f.Plain != d.Unscaled || f.Scaled != d.Scaled || f.Best != d.Best || d.Formats[1].Plain != d.BFloat16 {
		t.Errorf("%+v", d.Formats)
	}
	for k := -30; k < 60; k++ {
		a, b := d.FateAt(k), d.FateAt(k+1)
		if b.Zero > a.Zero || b.Overflow < a.Overflow || a.All() != d.N-d.Zeros {
			t.Errorf("2^%d: %+v, then %+v", k, a, b)
		}
	}
	if best := Power(d.Best); d.FateAt(best+1).Overflow > 0 || d.FateAt(best+3).Overflow == 0 {
		t.Errorf("largest safe scale 2^%d", best)
	}
	// By op they add up to what there is by module.
	sum := map[string]int{}
	for _, o := range d.Ops {
		sum[o.Module] += o.N
	}
	for _, m := range d.Modules {
		if sum[m.Module] != m.N {
			t.Errorf("%q: %d numbers by op, %d in all", m.Module, sum[m.Module], m.N)
		}
	}
}

// TestExponentsAreInTheRunsFormat: a run under autocast in bfloat16 is held against that, with every word and number of the figure.
func TestExponentsAreInTheRunsFormat(t *testing.T) {
	for _, c := range []struct {
		autocast []amp.DType // of the ops, in turn
		want     string
	}{
		{[]amp.DType{amp.NoDType}, "float16"}, {[]amp.DType{amp.Float16}, "float16"},
		{[]amp.DType{amp.BFloat16, amp.NoDType}, "bfloat16"}, {[]amp.DType{amp.BFloat16, amp.Float16}, "float16"},
	} {
		trace := sample.Gradients(2, -18, func(int) float64 { return 1 }, "net/0", "net/1")
		for i := range trace.Events {
			trace.Events[i].Autocast = c.autocast[i%len(c.autocast)]
		}
		f := Exponents(trace)
		d := f.Exponents
		other := map[string]string{"float16": "in bfloat16", "bfloat16": "float16 keeps"}[c.want]
		if face := f.Text() + f.Alt; f.Title != "Gradient exponents in "+c.want+", unscaled" || d.Formats[0].Name != c.want || strings.Contains(face, " "+other) || !strings.Contains(face, "in "+c.want) {
			t.Errorf("%v: %s\n%s", c.autocast, f.Title, face)
		}
		if d.Unscaled != d.Formats[0].Plain || d.FateAt(0) != d.Unscaled || d.Best != d.Formats[0].Best || len(d.Formats) != len(whatIf) {
			t.Errorf("%v: %+v", c.autocast, d)
		}
	}
}

// TestNoScaleIsSafeWhereGradientsOverflowed: what is not finite has no size, so the largest safe scale is known only to be below the scale
// at which that was seen, however small the gradients are that are left.
func TestNoScaleIsSafeWhereGradientsOverflowed(t *testing.T) {
	at := func(step int) float64 { return math.Ldexp(1, 44-step) }
	h := amp.ScaleHistory{Enabled: true, Scale: math.Ldexp(1, 40), Nominal: 3, Steps: []amp.ScaleStep{{Step: 0, Scale: at(0)}, {Step: 1, Scale: at(1)}, {Step: 2, Scale: at(2)}}}
	trace := sample.Gradients(3, -30, at, "net")
	for i := range trace.Events {
		trace.Events[i].Health.Infs, trace.Events[i].Health.NaNs = 0, 0
	}
	clean := Exponents(trace, h).Exponents
	if clean.Below != 0 || clean.BestText() != powerText(clean.Best) {
		t.Fatalf("all are finite, and below is %v", clean.Below)
	}
	trace.Events[0].Health.Infs, trace.Events[1].Health.NaNs = 5, 2
	f := Exponents(trace, h)
	d := f.Exponents
	if want := Number(at(1)); d.Below != want || d.Best > want/2 || d.Best > clean.Best {
		t.Errorf("below %v, best %v; want below %v", d.Below, d.Best, want)
	}
	for _, r := range d.Formats {
		if got, want := d.BestIn(&r), map[string]string{"float16": "≤ 2^41", "e5m2": "≤ 2^41", "e4m3": "≤ 2^34", "bfloat16": "not known"}[r.Name]; got != want {
			t.Errorf("%s: largest safe scale %q (%v)", r.Name, got, r.Best)
		}
	}
	tiny := sample.Gradients(1, -60, func(int) float64 { return 1 << 30 }, "net")
	tiny.Events[0].Health.Infs = 1
	if d := Exponents(tiny, amp.ScaleHistory{Enabled: true, Scale: 1 << 30, Nominal: 1}).Exponents; d.Best != 1<<29 || d.BestText() != "≤ 2^29" {
		t.Errorf("what is left is tiny, one overflowed at 2^30, and the largest safe scale is %q", d.BestText())
	}
	for _, face := range []string{f.Text(), f.Alt} {
		if flat := strings.Join(strings.Fields(face), " "); !strings.Contains(flat, "7 numbers (under 0.1%) were not finite at loss scales from 2^43 to 2^44") || !strings.Contains(flat, "are not safe, and smaller ones may not be either") || strings.Contains(flat, "are safe.") {
			t.Errorf("it does not say so: %s", face)
		}
	}
}

// TestAScaleIsNotBlamedForOthers: a scale that came down has no overflow of its own, and grew back to where others were.
func TestAScaleIsNotBlamedForOthers(t *testing.T) {
	scales := []float64{1 << 30, 1 << 16, 1 << 15, 1 << 16, 1 << 17}
	history := amp.ScaleHistory{Enabled: true, Scale: 1 << 17, Nominal: 5}
	for i, s := range scales {
		history.Steps = append(history.Steps, amp.ScaleStep{Step: i, Scale: s})
	}
	figure := func(bad ...int) *ExponentsData {
		trace := sample.Gradients(5, -30, func(i int) float64 { return scales[i] }, "net")
		for i := range trace.Events {
			h := trace.Events[i].Health
			h.Infs, h.NaNs = 0, 0
			if slices.Contains(bad, trace.Events[i].Step) {
				h.Infs = 5
			}
		}
		return Exponents(trace, history).Exponents
	}
	before := figure(0, 1)
	if before.TooLarge() || strings.Contains(before.Sentence, "too large") || before.Above != 1<<30 || before.Below != 1<<16 || before.BadNow != 0 || before.Now == 0 {
		t.Errorf("it is blamed for earlier scales: %s", before.Sentence)
	}
	if rest := before.Rest(); !strings.Contains(rest, "at loss scales from 65,536 to 1,073,741,824, and none at the present one") || !strings.Contains(rest, "No loss scale above 32,768 was safe in every step") {
		t.Error(rest)
	}
	if now := figure(0, 4); !now.TooLarge() || !strings.Contains(now.Sentence, "Loss scale 131,072 is too large") || !strings.Contains(now.Sentence, "of the gradients counted at it are infinite") {
		t.Error(now.Sentence)
	}
}
