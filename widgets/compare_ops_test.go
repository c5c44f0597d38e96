package widgets

import (
	"math"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// TestOpErrors: results are matched call by call, the loss scale is taken out of gradients, and what a backward pass makes on the way
// to them is left out.
func TestOpErrors(t *testing.T) {
	ops, note := opErrors(sample.Looked(2, 0, 1, amp.Float32), sample.Looked(2, 1e-3, 1024, amp.Float16))
	if note != "" || len(ops) != 9 {
		t.Fatalf("%d ops, %q: %+v", len(ops), note, ops)
	}
	for _, o := range ops {
		if o.Op == "sub" {
			t.Error("sub is no gradient")
		}
		if e := float64(o.Error); !(e > 1e-5 && e < 2e-2) || o.Calls != 1 {
			t.Errorf("%s: error %v of %d calls", o.Name(), e, o.Calls)
		}
	}
	if same, _ := opErrors(sample.Looked(2, 0, 1, amp.Float32), sample.Looked(2, 0, 4096, amp.Float32)); len(same) != 9 || same[0].Error != 0 || same[8].Error > 1e-6 {
		t.Errorf("a run against itself at another scale: %+v", same)
	}
	bad := sample.Looked(2, 0, 1, amp.Float16)
	bad.Events[0].Health.Sample[3] = float32(math.NaN())
	bad.Events[1].Health.N = 7
	ops, note = opErrors(sample.Looked(2, 0, 1, amp.Float32), bad)
	if !math.IsInf(float64(ops[0].Error), 1) || ops[0].ErrorText() != "not finite" || !strings.Contains(note, "1 op of this run has no match") {
		t.Errorf("%+v, %q", ops[0], note)
	}
	plain := &amp.Trace{Level: "decisions"}
	if _, note := opErrors(plain, bad); !strings.Contains(note, "amp.Record(amp.Health)") {
		t.Error(note)
	}
	if _, note := opErrors(&amp.Trace{Level: "health"}, bad); !strings.Contains(note, "no step in common") {
		t.Error(note)
	}
	if ops, note := opErrors(nil, bad); ops != nil || note != "" {
		t.Error(note)
	}
}

// TestOpErrorsOfRealTraces: a linear layer in float16 is off by float16's rounding and not by more, forward and backward.
func TestOpErrorsOfRealTraces(t *testing.T) {
	record := func(d amp.DType) *amp.Trace {
		root := amp.NewScope(amp.Seed(3), amp.On("cpu"), amp.Record(amp.Health))
		defer root.Close()
		x, y := amp.Randn(root, amp.Float32, 0, 1, 32, 16), amp.Randn(root, amp.Float32, 0, 1, 32, 8)
		net := nn.NewLinear(root, 16, 8)
		scaler := amp.NewGradScaler(amp.ScalerEnabled(d == amp.Float16))
		for s := range root.Steps(1) {
			half := s
			if d != amp.Float32 {
				half = s.Autocast(d)
			}
			scaler.Scale(s, nn.MSELoss(half, net.Forward(half.In("net"), x), y)).Backward()
		}
		return root.Trace()
	}
	ref := record(amp.Float32)
	for d, eps := range map[amp.DType]float64{amp.Float16: 0x1p-11, amp.BFloat16: 0x1p-8} {
		ops, note := opErrors(ref, record(d))
		phases := map[string]int{}
		for _, o := range ops {
			phases[o.Phase]++
			if e := float64(o.Error); o.DType == d && !(e > eps/64 && e < 32*eps) {
				t.Errorf("%v %s: error %v, a rounding is %v", d, o.Name(), e, eps)
			}
		}
		if note != "" || phases[amp.PhaseForward] < 2 || phases[amp.PhaseBackward] < 2 {
			t.Errorf("%v: %v, %q", d, phases, note)
		}
	}
}

func TestKeepWorst(t *testing.T) {
	ops := []OpError{{Op: "a", Error: 3}, {Op: "b", Error: 1}, {Op: "c", Error: Number(math.Inf(1))}, {Op: "d", Error: 2}}
	kept, more := keepWorst(ops, 3)
	if more != 1 || len(kept) != 3 || kept[0].Op != "a" || kept[1].Op != "c" || kept[2].Op != "d" {
		t.Errorf("%+v, %d more", kept, more)
	}
}

// TestRunVerdicts: what is said of a run's end, against one that falls from 2 to 1 and moves by 2% from step to step.
func TestRunVerdicts(t *testing.T) {
	ref := make([]float64, 200)
	for i := range ref {
		ref[i] = 2 - float64(i)/200 + .02*float64(i%2)
	}
	scaled := func(k float64, n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = ref[i] * k
		}
		return out
	}
	broken := scaled(1, 200)
	broken[150] = math.Inf(1)
	for _, c := range []struct {
		loss          []float64
		verdict, want string
	}{
		{scaled(1, 200), RunSame, "No: b has the same losses as a, bit for bit."},
		{scaled(1.005, 200), RunClose, "No: b ends within 0.5% of a"},
		{scaled(.99, 200), RunClose, "moves by 1.4%"},
		{scaled(1.1, 200), RunHigher, "Yes: b ends 10% above a."},
		{scaled(.8, 200), RunLower, "Yes: b ends 20% below a."},
		{broken, RunDiverged, "Yes: the loss of b is not finite from step 150 on."},
		{scaled(1.004, 40), RunClose, "No: b ends within 0.4% of a"},
		{nil, RunUnknown, "b has no step in common with a"},
	} {
		f := Compare(Run{Name: "a", DType: amp.Float32, Loss: ref}, Run{Name: "b", DType: amp.Float16, Loss: c.loss})
		if r := f.Runs.Runs[1]; r.Verdict != c.verdict || !strings.Contains(f.Runs.Answer, c.want) || !strings.HasPrefix(f.Alt, f.Runs.Answer) {
			t.Errorf("%s, %q, want %s and %q", r.Verdict, f.Runs.Answer, c.verdict, c.want)
		}
	}
	gone := Compare(Run{Name: "a", DType: amp.Float32, Loss: []float64{1, math.NaN()}}, Run{Name: "b", DType: amp.Float16, Loss: []float64{1, 2}})
	if !strings.HasPrefix(gone.Runs.Answer, "Nobody can tell: b cannot be held against a") {
		t.Error(gone.Runs.Answer)
	}
	if f := Compare(Run{Name: "a", DType: amp.Float16, Loss: []float64{1}}, Run{Name: "b", DType: amp.Float16, Loss: []float64{1}}); !strings.HasPrefix(f.Runs.Answer, "They agree: ") || f.Title == "Did AMP change the result?" {
		t.Error(f.Title, f.Runs.Answer)
	}
	if f := Compare(Run{Name: "a", Loss: ref}); !strings.HasPrefix(f.Runs.Answer, "One run") {
		t.Error(f.Runs.Answer)
	}
}

// TestRunsOfDifferentLengths are compared at the last step that both have.
func TestRunsOfDifferentLengths(t *testing.T) {
	f := Compare(Run{Name: "a", Loss: []float64{4, 2, 1}}, Run{Name: "b", DType: amp.Float16, Loss: []float64{4, 3}}, Run{Name: "c", DType: amp.Float16, Loss: []float64{4, 2, 1, 8}})
	b, c := f.Runs.Runs[1], f.Runs.Runs[2]
	if b.Common != 2 || b.Relative != .5 || b.Final != 3 || c.Common != 3 || c.Relative != 0 || c.Final != 8 {
		t.Errorf("%+v\n%+v", b, c)
	}
	if want := "a has 3 steps, b has 2 steps, c has 4 steps: each is compared over the steps that both have."; f.Runs.Lengths() != want || !strings.Contains(f.Text(), "each is compared over") {
		t.Errorf("%q\n%s", f.Runs.Lengths(), f.Text())
	}
}

func TestCost(t *testing.T) {
	f := Compare(Run{Name: "a", Loss: []float64{1}, StepNS: []int64{1000}, Bytes: 100}, Run{Name: "b", DType: amp.Float16, Loss: []float64{1}, StepNS: []int64{1500}, Bytes: 60}, Run{Name: "c", DType: amp.Float16, Loss: []float64{1}})
	if want := "b takes 1.5× the time of a step and 0.6× the memory."; f.Cost() != want || f.Stable().Cost() != "" {
		t.Errorf("%q, %q", f.Cost(), f.Stable().Cost())
	}
}
