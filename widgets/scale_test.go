package widgets

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

func TestVerdicts(t *testing.T) {
	run := func(steps int, skip func(i int) bool) amp.ScaleHistory {
		return sample.Scaler{Steps: steps, Init: 65536, Interval: 2000, Overflow: func(i int, _ float64) (string, string) {
			if skip(i) {
				return "fc.weight", "+Inf"
			}
			return "", ""
		}}.History()
	}
	never := func(int) bool { return false }
	for _, c := range []struct {
		name     string
		h        amp.ScaleHistory
		verdict  string
		sentence []string
	}{
		{"disabled", amp.ScaleHistory{}, VerdictDisabled, []string{"No scaling needed", "bfloat16"}},
		{"no step", amp.ScaleHistory{Enabled: true, InitScale: 4096}, VerdictEmpty, []string{"4,096"}},
		{"one clean step", run(1, never), VerdictCalibrating, []string{"65,536 unchanged", "0 of 1 step skipped"}},
		{"49 clean", run(49, never), VerdictCalibrating, []string{"50 clean steps"}},
		{"50 clean", run(50, never), VerdictSteady, []string{"Steady at 65,536 since step 0", "0 of 50 steps skipped (0%)", "next growth in 1,950 clean steps"}},
		{"a skip every 40", run(400, func(i int) bool { return i%40 == 39 }), VerdictCalibrating, []string{"10 of 400"}},
		{"skips at first", run(60, func(i int) bool { return i < 5 }), VerdictSteady, []string{"since step 5", "5 of 60"}},
		{"one late skip", run(400, func(i int) bool { return i == 399 }), VerdictSteady, []string{"Steady, but the last step was skipped, and the scale went down to 32,768;", "1 of 400"}},
		{"grown after the last step", run(2000, never), VerdictSteady, []string{"Steady, and after the last step the scale grew to 131,072;", "0 of 2,000"}},
		{"two skips long ago", run(400, func(i int) bool { return i == 100 || i == 300 }), VerdictSteady, []string{"Steady at 16,384 since step 301", "2 of 400"}},
		{"two skips at the end", run(400, func(i int) bool { return i == 360 || i == 390 }), VerdictCalibrating, []string{"Calibrating again", "2 of the last 50 steps skipped, 2 of 400 in all"}},
		{"7 skips at the end", run(100, func(i int) bool { return i >= 93 }), VerdictCalibrating, []string{"512", "7 of the last 50"}},
		{"8 skips at the end", run(100, func(i int) bool { return i >= 92 }), VerdictCollapsing, []string{"Collapsing: scale 256", "last 8 steps were all skipped", "fc.weight overflowed first in 8 of 8 skips"}},
		{"only skips", run(20, func(int) bool { return true }), VerdictCollapsing, []string{"0.0625", "20"}},
		{"recovered", run(200, func(i int) bool { return i >= 80 && i < 96 }), VerdictSteady, []string{"Steady at 1 "}},
		{"under one", run(200, func(i int) bool { return i >= 80 && i < 97 }), VerdictCollapsing, []string{"0.5", "17 of 200"}},
		{"far too large at first", sample.Scaler{Steps: 12, Init: 1 << 40, Interval: 2000, Overflow: func(int, float64) (string, string) { return "fc.weight", "+Inf" }}.History(),
			VerdictCalibrating, []string{"scale now 268,435,456", "12 of 12"}},
		{"at the floor", floored(), VerdictCollapsing, []string{"at its floor 256"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := ScaleHistory(c.h).Scale
			if d.Verdict != c.verdict {
				t.Errorf("verdict %s, want %s: %s", d.Verdict, c.verdict, d.Sentence)
			}
			for _, w := range c.sentence {
				if !strings.Contains(d.Sentence, w) {
					t.Errorf("%q lacks %q", d.Sentence, w)
				}
			}
			if (len(d.Fixes) == 3) != (c.verdict == VerdictCollapsing) {
				t.Errorf("%d ways out", len(d.Fixes))
			}
		})
	}
}

// TestEverySkipIsKept in histories of any length: merged maybe, lost never.
func TestEverySkipIsKept(t *testing.T) {
	for name, h := range map[string]amp.ScaleHistory{
		"steady": sample.Steady(), "collapsing": sample.Collapsing(), "100k noisy": noisy(100_000),
		"100k skips": sample.Scaler{Steps: 100_000, Init: 65536, Interval: 9, Overflow: func(int, float64) (string, string) { return "w", "NaN" }}.History(),
		"alternating": sample.Scaler{Steps: 9_999, Init: 65536, Interval: 9, Overflow: func(i int, _ float64) (string, string) {
			if i%2 == 0 {
				return strings.Repeat("w", i%5+1), "+Inf"
			}
			return "", ""
		}}.History(),
	} {
		d := ScaleHistory(h).Scale
		count := 0
		last := -1
		for _, r := range d.Skips {
			count += r.Count
			if r.First <= last || r.Last < r.First || r.Count > r.Last-r.First+1 {
				t.Errorf("%s: run %+v after step %d", name, r, last)
			}
			last = r.Last
		}
		if count != h.Skipped || d.Skipped != h.Skipped || d.Effective != h.Nominal-h.Skipped {
			t.Errorf("%s: %d skips in runs, %d in all, want %d", name, count, d.Skipped, h.Skipped)
		}
		if len(d.Points) > maxPoints || len(d.Skips) > maxSkips {
			t.Errorf("%s: %d points, %d runs", name, len(d.Points), len(d.Skips))
		}
		inRuns := func(step int) bool {
			for _, r := range d.Skips {
				if r.First <= step && step <= r.Last {
					return true
				}
			}
			return false
		}
		for i := 0; i < len(h.Steps); i += 1 + len(h.Steps)/997 {
			if s := h.Steps[i]; !s.Applied && !inRuns(s.Step) {
				t.Errorf("%s: skipped step %d is in no run", name, s.Step)
				break
			}
		}
	}
}

// TestPointsFollowTheScale: between its points the figure's line has the scale that the history has.
func TestPointsFollowTheScale(t *testing.T) {
	h := sample.Steady()
	d := ScaleHistory(h).Scale
	at := func(step int) (v Number) {
		for _, p := range d.Points {
			if p.Step <= step {
				v = p.Scale
			}
		}
		return v
	}
	for _, s := range h.Steps {
		if at(s.Step) != Number(s.Scale) {
			t.Fatalf("step %d: %v, want %v", s.Step, at(s.Step), s.Scale)
		}
	}
	if last := d.Points[len(d.Points)-1]; last.Step != h.Nominal-1 {
		t.Errorf("the line ends at step %d", last.Step)
	}
}

func TestThinPointsKeepsExtremes(t *testing.T) {
	var in []ScalePoint
	for i := range 10_000 {
		in = append(in, ScalePoint{i, Number(1000 + i%7)})
	}
	in[5000].Scale, in[7000].Scale = 1, 1e6
	out := ThinPoints(in, 100)
	if len(out) > 100 || out[0] != in[0] || out[len(out)-1] != in[len(in)-1] {
		t.Fatalf("%d points", len(out))
	}
	found := map[Number]bool{}
	for i, p := range out {
		found[p.Scale] = true
		if i > 0 && p.Step <= out[i-1].Step {
			t.Fatal("out of order")
		}
	}
	if !found[1] || !found[1e6] {
		t.Error("an extreme was thinned away")
	}
	if same := ThinPoints(in[:50], 100); len(same) != 50 {
		t.Error("a short history was thinned")
	}
}

func TestFixes(t *testing.T) {
	if x := ScaleHistory(sample.Collapsing()).Scale.Fixes[0]; !strings.Contains(x.Do+x.Why, "No smaller scale heals a NaN") || !strings.HasSuffix(x.Why, "Decisions shows which.") || !strings.Contains(x.Code, "amp.Health") {
		t.Errorf("%+v", x)
	}
	// NaN at a large scale: of infinities that cancel, perhaps.
	early := sample.Scaler{Steps: 10, Init: 1 << 22, Overflow: func(int, float64) (string, string) { return "0.weight", "NaN" }}.History()
	if x := ScaleHistory(early).Scale.Fixes[0]; strings.Contains(x.Why, "heals") || !strings.Contains(x.Why, "If it is finite, gradients overflow") || !strings.HasSuffix(x.Why, "Decisions shows which.") {
		t.Errorf("%+v", x)
	}
	if x := ScaleHistory(floored()).Scale.Fixes[0]; !strings.Contains(x.Code, `amp.Force("linear", amp.FP32)`) || !strings.Contains(x.Do, "0.weight") {
		t.Errorf("%+v", x)
	}
	// A guess names an op that there is.
	for _, name := range []string{"fc1.weight", "stem.conv1.bias", "blocks.3.norm.weight", "scale"} {
		if op := opOf(name); op != "" {
			if _, ok := amp.LookupOp(op); !ok {
				t.Errorf("%s: %q", name, op)
			}
		}
	}
}

func TestWarningsAreShownOnce(t *testing.T) {
	h := sample.Collapsing()
	for i := range h.Steps {
		if !h.Steps[i].Applied {
			h.Steps[i].Warning = "the scale collapses"
		}
	}
	f := ScaleHistory(h)
	if len(f.Scale.Warnings) != 1 || strings.Count(f.Text(), "the scale collapses") != 1 {
		t.Errorf("%q", f.Scale.Warnings)
	}
}

func TestScaleText(t *testing.T) {
	for v, want := range map[Number]string{
		65536: "65,536", 1: "1", .5: "0.5", .0625: "0.0625", 0x1p-20: "2^-20", 0x1p24: "16,777,216", 0x1p31: "2^31", 0: "0", 3: "3", 1e12: "1e+12", 1234.5: "1234.5",
		Number(math.Inf(1)): "+Inf",
	} {
		if got := ScaleText(v); got != want {
			t.Errorf("%v: %q, want %q", float64(v), got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for got, want := range map[string]string{
		Bytes(0): "0 B", Bytes(999): "999 B", Bytes(1000): "1.00 KB", Bytes(16_384): "16.4 KB", Bytes(4_194_304): "4.19 MB", Bytes(999_999): "1000 KB", Bytes(123_456_789_012): "123 GB",
		Duration(840): "840 ns", Duration(12_300): "12.3 µs", Duration(1_520_000_000): "1.52 s", Duration(90e9): "90.0 s",
		Count(0): "0", Count(1234567): "1,234,567", Count(-1000): "-1,000", Count(999): "999",
		percent(0, 5): "0%", percent(1, 3): "33%", percent(8, 30): "27%", percent(995, 1000): "99.5%", percent(1, 100_000): "under 0.1%", percent(99_999, 100_000): "over 99.9%", percent(5, 5): "100%", percent(1, 20): "5%", percent(3, 0): "0%",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"plain", 10, "plain"}, {"0123456789", 10, "0123456789"}, {"0123456789x", 10, "012345678…"}, {"a\nb\x1b\x00c", 10, "a b  c"},
		{"bad\xff", 10, "bad\uFFFD"}, {"\u202eevil", 10, "evil"}, {strings.Repeat("é", 1<<20), 4, "ééé…"}, {"", 3, ""},
	} {
		if got := clip(c.in, c.max); got != c.want {
			t.Errorf("%.20q: %q, want %q", c.in, got, c.want)
		}
	}
}

// TestBehind: the curve has a stair for every skipped step, and counts at each of its points the ones before.
func TestBehind(t *testing.T) {
	for name, h := range map[string]amp.ScaleHistory{"steady": sample.Steady(), "collapsing": sample.Collapsing(), "floor": floored(), "clean": sample.Scaler{Steps: 60, Init: 65536, Interval: 20, Overflow: func(int, float64) (string, string) { return "", "" }}.History()} {
		d := ScaleHistory(h).Scale
		before := func(step int) (n Number) {
			for _, s := range h.Steps {
				if s.Step < step && !s.Applied {
					n++
				}
			}
			return n
		}
		points := d.Behind()
		if last := points[len(points)-1]; last.Scale != Number(d.Skipped) || points[0] != (ScalePoint{}) {
			t.Errorf("%s: from %v to %v, %d skipped", name, points[0], last, d.Skipped)
		}
		for i, p := range points[1:] {
			if last := points[i]; p.Step < last.Step || p.Scale > last.Scale+1 || p.Scale != before(p.Step) {
				t.Errorf("%s: %v after %v, and %v steps were skipped before it", name, p, last, before(p.Step))
			}
		}
	}
}

// TestSeveralOptimizers: steps in which several were skipped count once, and a parameter is told with its optimizer.
func TestSeveralOptimizers(t *testing.T) {
	h := amp.ScaleHistory{Enabled: true, InitScale: 1024, Scale: 256, Nominal: 4, Skipped: 2}
	for i, skipped := range [][2]bool{{}, {true, true}, {false, true}, {}} {
		scale := []float64{1024, 1024, 512, 256}[i]
		for j, name := range []string{"Adam", "SGD 2"} {
			s := amp.ScaleStep{Step: i, Optimizer: name, Scale: scale, Next: scale, Applied: !skipped[j]}
			if skipped[0] || skipped[1] {
				s.Next /= 2
			}
			if skipped[j] {
				s.Culprit, s.Value = "conv.weight", "+Inf"
			}
			h.Steps = append(h.Steps, s)
		}
	}
	f := ScaleHistory(h)
	d := f.Scale
	if want := []ScalePoint{{0, 1024}, {2, 512}, {3, 256}}; !slices.Equal(d.Points, want) {
		t.Errorf("points %v, want %v", d.Points, want)
	}
	if len(d.Skips) != 2 || d.Skips[0].Culprit != "conv.weight of Adam" || d.Skips[1].Culprit != "conv.weight of SGD 2" || d.Skips[1].First != 2 {
		t.Errorf("skips %+v", d.Skips)
	}
	if len(d.Culprits) != 2 || d.Culprits[0].Name != "conv.weight of SGD 2" || d.Culprits[0].Count != 2 || opOf(d.Culprits[0].Name) != "conv2d" {
		t.Errorf("culprits %+v", d.Culprits)
	}
	if !strings.Contains(f.Alt, "2 of 4 steps skipped") {
		t.Errorf("%s", f.Alt)
	}
}
