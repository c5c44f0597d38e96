package widgets

import (
	"math"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

func TestCompareNumbers(t *testing.T) {
	f := Compare(
		Run{Name: "a", DType: amp.Float32, Loss: []float64{4, 2, 1}, StepNS: []int64{5, 1, 3}},
		Run{Name: "b", DType: amp.Float16, Loss: []float64{4, 3, 1.5}, Skipped: 2},
		Run{Name: "c", DType: amp.BFloat16, Loss: []float64{4, math.NaN(), 2}},
	)
	a, b, c := f.Runs.Runs[0], f.Runs.Runs[1], f.Runs.Runs[2]
	if a.First != 4 || a.Final != 1 || a.Best != 1 || a.Relative != 0 || a.Diverged != -1 || a.Steps != 3 {
		t.Errorf("a: %+v", a)
	}
	if b.Final != 1.5 || b.Relative != .5 || b.Worst != .5 || b.WorstAt != 1 || b.Skipped != 2 {
		t.Errorf("b: %+v", b)
	}
	if c.Diverged != 1 || c.Final != 2 || c.Best != 2 || c.Relative != 1 || !math.IsNaN(float64(c.Loss[1])) {
		t.Errorf("c: %+v", c)
	}
	if a.Diff != nil || len(b.Diff) != 3 || b.Diff[0] != 0 || b.Diff[1] != .5 || !math.IsNaN(float64(c.Diff[1])) || c.Diff[2] != 1 {
		t.Errorf("differences %v, %v, %v", a.Diff, b.Diff, c.Diff)
	}
	if f.Measured(0) != 3 || f.Measured(1) != 0 || f.Measured(9) != 0 {
		t.Errorf("times %v", f.Volatile)
	}
	if !strings.Contains(f.Text(), "3 ns") || strings.Contains(f.Stable().Text(), "3 ns") {
		t.Error("the step time belongs to the measurements")
	}
}

func TestCompareWithoutNames(t *testing.T) {
	f := Compare(Run{DType: amp.BFloat16, Loss: []float64{1}}, Run{DType: amp.DType(77)})
	if f.Runs.Runs[0].Name != "bfloat16" || f.Runs.Runs[1].Name != "float32" || f.Runs.Missing != "" {
		t.Errorf("%+v", f.Runs)
	}
	if !strings.Contains(f.Text(), "no losses") {
		t.Error(f.Text())
	}
}

func TestRelative(t *testing.T) {
	for _, c := range []struct {
		v, ref float64
		want   string
	}{
		{1.5, 1, "+50.0%"}, {1, 2, "-50.0%"}, {1, 1, "0"}, {0, 0, "0"}, {1, 0, "–"}, {math.NaN(), 1, "–"}, {-1, -2, "+50.0%"}, {51, 1, "+5,000%"},
		{1.0000001, 1, "+1.0e-05%"}, {1.00001, 1, "+0.00100%"}, {1 - 5.8e-5, 1, "-0.00580%"}, {7.73, 1, "+673%"}, {.438, 1, "-56.2%"}, {5.74, 1, "+474%"}, {10.99, 1, "+999%"}, {10.999, 1, "+1,000%"}, {1180, 1, "+118,000%"}, {2e6, 1, "+2.0e+08%"}, {-20, 1, "-2,100%"},
	} {
		if got := RelativeText(relative(c.v, c.ref)); got != c.want {
			t.Errorf("%v against %v: %q, want %q", c.v, c.ref, got, c.want)
		}
	}
}

// TestSkippedStepsExplain: a run that skipped steps is as many behind, which is no change of the result; more than that is.
func TestSkippedStepsExplain(t *testing.T) {
	full := make([]float64, 100)
	for i := range full {
		full[i] = math.Pow(.98, float64(i))
	}
	late := append(append([]float64{}, full[:70]...), full[64:94]...)
	for _, c := range []struct {
		name            string
		skipped         int
		verdict, answer string
	}{
		{"as many as it is behind", 6, RunClose, "No: half ends within 0.01% of where float32 was 6 steps before, and it skipped as many; from step to step the loss itself moves by 1.4%."},
		{"none", 0, RunHigher, "Yes: half ends 13% above float32."},
		{"too few", 2, RunHigher, "Yes: half ends 13% above float32."},
		{"more than there are", 99, RunHigher, "Yes: half ends 13% above float32."},
	} {
		f := Compare(Run{Name: "float32", Loss: full}, Run{Name: "half", DType: amp.Float16, Loss: late, Skipped: c.skipped})
		if r := f.Runs.Runs[1]; r.Verdict != c.verdict || f.Runs.Answer != c.answer || (r.Behind > 0) != (c.verdict == RunClose) || r.End < .1 {
			t.Errorf("%s: %s, behind %d: %s", c.name, r.Verdict, r.Behind, f.Runs.Answer)
		}
	}
}

// TestFarEnds: the sentence and the table have one number for a run that ends far above the reference.
func TestFarEnds(t *testing.T) {
	flat := func(v float64) []float64 { return []float64{1, v, v, v} }
	f := Compare(Run{Name: "a", Loss: flat(1)}, Run{Name: "b", Loss: flat(812)}, Run{Name: "c", Loss: flat(1234)})
	if want := "They differ: b ends at 812 times a; c ends at 1,230 times a."; f.Runs.Answer != want {
		t.Errorf("%q, want %q", f.Runs.Answer, want)
	}
	// A sentence has one unit, that of its largest.
	g := Compare(Run{Name: "a", Loss: flat(1)}, Run{Name: "b", Loss: flat(812)}, Run{Name: "c", Loss: flat(10.54)}, Run{Name: "d", Loss: flat(.5)})
	if want := "They differ: b ends at 812 times a; c ends at 10.5 times a; d ends at 0.5 times a."; g.Runs.Answer != want {
		t.Errorf("%q, want %q", g.Runs.Answer, want)
	}
}

// TestWideLossesStayApart: numbers of the text's table do not run into each other.
func TestWideLossesStayApart(t *testing.T) {
	text := Compare(Run{Name: "a", Loss: []float64{-1234567, -1234444}}).Text()
	if want := "-1.2346e+06  -1.2344e+06  -1.2344e+06 "; !strings.Contains(text, want) {
		t.Errorf("no %q in %s", want, text)
	}
}

// TestDifferencesAreWrittenAlike: the differences of a column are all percentages or all multiples, and there is no multiple of a loss below zero.
func TestDifferencesAreWrittenAlike(t *testing.T) {
	flat := func(v float64) []float64 { return []float64{v, v, v, v} }
	for _, c := range []struct {
		losses []float64
		end    []string // of all but the reference
		answer string
	}{
		{[]float64{1, 1.5, .992, 10.54}, []string{"+50.0%", "-0.800%", "+954%"}, "d ends 954% above a"},
		{[]float64{1, 812, 10.54, 1.0074, .992, 1}, []string{"×812", "×10.5", "×1.007", "×0.992", "×1"}, "b ends at 812 times a"},
		{[]float64{1, 1234, math.NaN()}, []string{"×1,230", "–"}, "b ends at 1,230 times a"},
		{[]float64{-1, 20, -1.5}, []string{"+2,100%", "-50.0%"}, "b ends 2,100% above a"},
	} {
		var runs []Run
		for i, v := range c.losses {
			runs = append(runs, Run{Name: string(rune('a' + i)), Loss: flat(v)})
		}
		d := Compare(runs...).Runs
		for i, want := range c.end {
			if got := d.EndText(i + 1); got != want {
				t.Errorf("%v: run %d ends %q, want %q", c.losses, i+1, got, want)
			}
			if got := d.WorstText(i + 1); got != want { // the losses are flat
				t.Errorf("%v: run %d is at worst %q, want %q", c.losses, i+1, got, want)
			}
		}
		if !strings.Contains(d.Answer, c.answer) {
			t.Errorf("%v: %q", c.losses, d.Answer)
		}
	}
	// What is said of a step on the way is in the form of the ends.
	d := Compare(Run{Name: "a", Loss: flat(1)}, Run{Name: "b", Loss: []float64{1, 90, 1, 1.5}}).Runs
	if end, worst := d.EndText(1), d.WorstText(1); end != "+50.0%" || worst != "+8,900%" {
		t.Errorf("%q at the end, %q at worst", end, worst)
	}
}

// TestEndIsOfTheMeansShown: every face has the numbers that its percentage is of, which the last step alone need not agree with.
func TestEndIsOfTheMeansShown(t *testing.T) {
	a, b := make([]float64, 20), make([]float64, 20)
	for i := range a {
		a[i], b[i] = 1, .9
	}
	b[19] = .8 + .1 // the means of the last two steps
	a[18], a[19] = 1.2, .8
	f := Compare(Run{Name: "a", DType: amp.Float32, Loss: a}, Run{Name: "b", DType: amp.Float16, Loss: b})
	r := f.Runs.Runs
	if r[0].Final != number(.8) || r[0].EndMean != 1 || r[1].EndMean != number(.9) || f.Runs.EndText(1) != "-10.0%" {
		t.Errorf("%+v", r)
	}
	for _, w := range []string{"MEAN AT END", "-10.0%", "Yes: b ends 10% below a."} {
		if !strings.Contains(f.Text(), w) {
			t.Errorf("no %q in %s", w, f.Text())
		}
	}
	if want := "Yes: b ends 10% below a. Mean loss at the end of 20 steps: a 1, b 0.9."; f.Alt != want {
		t.Errorf("%q, want %q", f.Alt, want)
	}
	old := r[1]
	if old.EndMean = 0; old.EndMeanText() != "–" { // as a figure that was stored before is read
		t.Error(old.EndMeanText())
	}
}

// TestRunsWithoutDType: runs without autocast are float32 beside runs under it, and of no dtype where there is none.
func TestRunsWithoutDType(t *testing.T) {
	run := func(name string, d amp.DType) Run { return Run{Name: name, DType: d, Loss: []float64{1, 2}} }
	for _, c := range []struct {
		name string
		runs []Run
		want []amp.DType
		text string
	}{
		{"beside autocast", []Run{run("full", amp.NoDType), run("half", amp.Float16)}, []amp.DType{amp.Float32, amp.Float16}, "  ■ full"},
		{"none", []Run{run("weights in float32", amp.NoDType), run("in bfloat16", amp.NoDType)}, []amp.DType{amp.NoDType, amp.NoDType}, "    in bfloat16"},
	} {
		f := Compare(c.runs...)
		for i, r := range f.Runs.Runs {
			if r.DType != c.want[i] {
				t.Errorf("%s: %s is of %v, want %v", c.name, r.Name, r.DType, c.want[i])
			}
		}
		if !strings.Contains(f.Text(), c.text) {
			t.Errorf("%s: no %q in %s", c.name, c.text, f.Text())
		}
	}
}

// TestThinLossKeepsWhatMatters: both ends, the extremes, and the first value that is not finite.
func TestThinLossKeepsWhatMatters(t *testing.T) {
	v := sample.Loss(10_000, 5, .1, .001, 0)
	v[4321], v[7777] = 99, math.NaN()
	at, loss := thinLoss(v, 100)
	if len(loss) > 100 || len(at) != len(loss) || at[0] != 0 || at[len(at)-1] != 9999 {
		t.Fatalf("%d points from %d to %d", len(loss), at[0], at[len(at)-1])
	}
	var spike, nan bool
	for i, k := range at {
		if i > 0 && k <= at[i-1] {
			t.Fatal("out of order")
		}
		spike = spike || k == 4321 && loss[i] == 99
		nan = nan || k == 7777
	}
	if !spike || !nan {
		t.Errorf("spike kept %v, NaN kept %v", spike, nan)
	}
}

func TestLogarithmic(t *testing.T) {
	for want, runs := range map[bool][]float64{true: {1000, 1}, false: {10, 1}} {
		if got := Compare(Run{Loss: runs}).Runs.Logarithmic(); got != want {
			t.Errorf("%v: %v", runs, got)
		}
	}
	if Compare(Run{Loss: []float64{1000, 0}}).Runs.Logarithmic() {
		t.Error("a loss of 0 has no logarithm")
	}
}

func TestManyRunsAreCounted(t *testing.T) {
	f := Compare(longRuns()...)
	if len(f.Runs.Runs) != maxRuns || f.Runs.More != 8 || !strings.Contains(f.Text(), "and 8 more runs") || !strings.Contains(f.Alt, "And 14 more runs.") {
		t.Errorf("%d runs, %d more, alt %q", len(f.Runs.Runs), f.Runs.More, f.Alt)
	}
}
