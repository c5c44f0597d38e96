package widgets

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// TestRoundingPartsAddUp: the parts of all rows, with what was left out, are one, whatever was left out; so are those of what would be.
func TestRoundingPartsAddUp(t *testing.T) {
	for name, trace := range map[string]*amp.RoundingTrace{
		"half": sample.Rounding(amp.Float16), "float32": sample.Rounding(amp.Float32),
		"deep": sample.RoundingDeep(20, func(i int) string { return fmt.Sprint(i, "/") }),
		"long": sample.RoundingDeep(20, func(i int) string { return fmt.Sprint(i, strings.Repeat("/long", 99)) }),
	} {
		d := Rounding(trace).Rounding
		sum := part(float64(d.MoreSpread), d.all(amp.NoDType))
		if d.Lower() != amp.NoDType {
			sum = 0
		}
		for _, p := range d.Parts() {
			sum += p
		}
		if math.Abs(sum-1) > 1e-3 {
			t.Errorf("%s: %v", name, sum)
		}
		if d.Lower() == amp.NoDType && math.Abs(d.all(amp.NoDType)/trace.Spread-1) > 1e-3 {
			t.Errorf("%s: %v of %v", name, d.all(amp.NoDType), trace.Spread)
		}
	}
}

// TestRoundingFolds: calls in one place are one row, whose sizes are those of all its numbers.
func TestRoundingFolds(t *testing.T) {
	trace := &amp.RoundingTrace{Exact: 1, Loss: 1.5}
	for i := range 3 {
		n := []int{1, 4, 4}[i]
		trace.Events = append(trace.Events, amp.RoundingEvent{Op: "mul", Compute: amp.Float16, DType: amp.Float16, N: n, Size: float64(i), Own: float64(i) / 2, Total: float64(2 * i), Share: float64(i) - 3, Spread: float64(i + 1), Bad: i,
			If: []amp.RoundingIf{{DType: amp.Float32, Spread: float64(3 * i), Lost: i, Over: 2 * i}}})
	}
	trace.Events = append(trace.Events, amp.RoundingEvent{Op: "mul", Module: "other", Compute: amp.Float16, DType: amp.Float16}, amp.RoundingEvent{Op: "mine", Err: "it has no float64"},
		amp.RoundingEvent{Op: "cast", Compute: amp.Float16, DType: amp.Float32})
	trace.Err = "sort: no such derivative"
	d := Rounding(trace).Rounding
	if notes := d.Notes(); !slices.Contains(notes, "Some shares are missing: sort: no such derivative.") || !slices.Contains(notes, "1 result could not be compared: mine: it has no float64.") {
		t.Errorf("notes %q", notes)
	}
	if len(d.Rows) != 2 || d.Skip != 1 || d.Why != "mine: it has no float64" {
		t.Fatalf("%+v", d)
	}
	r, size := d.Rows[0], math.Sqrt(float64(4*1+4*4)/9)
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"calls", float64(r.Calls), 3}, {"numbers", float64(r.N), 9}, {"size", float64(r.Size), size}, {"own", float64(r.Own), size / 2}, {"total", float64(r.Total), 2 * size},
		{"share", float64(r.Share), -6}, {"spread", float64(r.Spread), math.Sqrt(1 + 4 + 9)}, {"bad", float64(r.Bad), 3},
		{"spread in float32", float64(r.If[0].Spread), math.Sqrt(9 + 36)}, {"lost", float64(r.If[0].Lost), 3}, {"over", float64(r.If[0].Over), 6},
	} {
		if math.Abs(c.got-c.want) > 5e-3*math.Abs(c.want) {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// TestRoundingWith: an op in float32 needs no casts to float16, and a cast stands for its op; nothing else changes.
func TestRoundingWith(t *testing.T) {
	d := Rounding(sample.Rounding(amp.Float16)).Rounding
	at := func(op, of string) int {
		for i, r := range d.Rows {
			if r.OpText() == op && r.Of == of && r.Module == "gpt/head" {
				return i
			}
		}
		t.Fatalf("no %s", op)
		return 0
	}
	linear, cast := at("linear", ""), at("cast for linear", "wte.weight")
	want := float64(d.MoreSpread)
	for i, r := range d.Rows {
		switch i {
		case linear:
			o, _ := r.In(amp.Float32)
			want = math.Hypot(want, float64(o.Spread))
		case cast:
		default:
			want = math.Hypot(want, float64(r.Spread))
		}
	}
	for _, rows := range [][]int{{linear}, {cast}, {linear, cast}} {
		if got := d.With(amp.Float32, rows...); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("rows %d: %v, want %v", rows, got, want)
		}
	}
	if got := d.With(amp.Float32); got != d.all(amp.NoDType) {
		t.Errorf("without a change %v, not %v", got, d.all(amp.NoDType))
	}
}

// TestRoundingFits: of a large program the rows that matter most are kept, in their order, and the figure says how many are left out.
func TestRoundingFits(t *testing.T) {
	trace := &amp.RoundingTrace{Exact: 1, Loss: 2}
	for i := range 2000 {
		trace.Events = append(trace.Events, amp.RoundingEvent{Op: "linear", Module: fmt.Sprint(i, strings.Repeat("name", 30)), File: "model.go", Line: i + 1, Compute: amp.Float16, DType: amp.Float16, N: 5, Size: 1, Own: 1e-4,
			Spread: 1e-9 + float64(b2i(i%20 == 7)), Bad: b2i(i == 1999), If: []amp.RoundingIf{{DType: amp.Float32, Spread: 1e-9}, {DType: amp.BFloat16, Spread: 1e-3}, {DType: amp.Float16, Spread: 1e-4}}})
	}
	f := Rounding(trace)
	b, err := f.MarshalJSON()
	if err != nil || len(b) > MaxJSON {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	d, large, last := f.Rounding, 0, 0
	for _, r := range d.Rows {
		var line int
		if _, err := fmt.Sscanf(r.Where, "model.go:%d", &line); err != nil || line <= last {
			t.Errorf("%q behind line %d", r.Where, last)
		}
		last = line
		large += b2i(r.Spread > 0.5)
	}
	if len(d.Rows)+d.More != 2000 || len(d.Rows) < 16 || large < len(d.Rows)-1 || last != 2000 {
		t.Errorf("%d rows and %d more, %d that matter, the last at line %d", len(d.Rows), d.More, large, last)
	}
}

// TestRoundingSays: what the sentence says of passes of every kind.
func TestRoundingSays(t *testing.T) {
	pass := func(loss, exact float64, e ...amp.RoundingEvent) *amp.RoundingTrace {
		return &amp.RoundingTrace{Step: -1, DType: amp.Float32, Loss: loss, Exact: exact, Events: e}
	}
	half := amp.RoundingEvent{Op: "exp", Compute: amp.Float16, DType: amp.Float16, N: 100, Size: 1, Own: 1e-4, Spread: 2e-3, If: []amp.RoundingIf{{DType: amp.Float32, Spread: 1e-7}}}
	brain := half
	brain.Compute, brain.DType, brain.Op = amp.BFloat16, amp.BFloat16, "mul"
	none := half
	none.Spread, none.Own = 0, 0
	full := amp.RoundingEvent{Op: "exp", Compute: amp.Float32, DType: amp.Float32, N: 100, Size: 1, Own: 1e-8, Spread: 1e-8}
	lossy := full
	lossy.If = []amp.RoundingIf{{DType: amp.BFloat16, Spread: 4e-2}, {DType: amp.Float16, Spread: 5e-3, Lost: 40}}
	broken := pass(0, 3, none, brain)
	broken.Bad = true
	born := pass(0, 0, half)
	born.Bad, born.Born = true, true
	for name, c := range map[string]struct {
		trace *amp.RoundingTrace
		says  []string
	}{
		"nothing":       {pass(0, 0), []string{"loss, trace := amp.TraceRounding(s, func(s *amp.Scope) *amp.Tensor { … })"}},
		"half":          {pass(2.002, 2, half), []string{"The loss is 2.002 in float16 and 2 in float64: rounding moved it by 2e-3 (1e-3 of it). 100% of what rounding can do to it enters at 1 of 1 place, exp; with that op in float32 an error of about 1e-7 is to be expected, now 2e-3."}},
		"both halves":   {pass(2.002, 2, half, brain), []string{"in float16 and bfloat16 and 2 in float64", "2 of 2 places, most at exp; with those in float32"}},
		"no error":      {pass(2, 2, half), []string{"The loss is 2 in float16 as in float64."}},
		"none that is":  {pass(2.5, 2, none), []string{"No op's rounding reaches it."}},
		"zero":          {pass(1e-3, 0, half), []string{"rounding moved it by 1e-3. "}},
		"float32":       {pass(2, 2, full), []string{"The loss is 2 in float32 as in float64. Nothing was computed in 16 bits."}},
		"float32, what": {pass(2, 2, lossy), []string{"With every op in float16 about 5e-3 (2.5e-3 of it) is to be expected, 100% of that from 1 of 1 place, exp; in bfloat16 about 0.04. In float16 40% of the results of exp would be zero."}},
		"broken":        {broken, []string{"The loss is not finite in float16 and bfloat16; in float64 it is 3. Each op that was compared gave finite results"}},
		"over":          {sample.RoundingOver(), []string{"In float16 [3]:26 matmul in gpt/h.0/attn overflows; with all other ops in it about 3.9e-3"}},
		"casts":         {sample.Rounding(amp.Float16), []string{"89% of what rounding can do to it enters at 1 of 17 places, [3]:44 linear in gpt/head and its casts; with that op in float32 an error of about 1.1e-3 is to be expected, now 3.4e-3."}},
		"no reference":  {pass(2, math.NaN(), half), []string{"The loss is not finite in float64 either"}},
		"none either":   {born, []string{"The loss is not finite in float64 either"}},
		"not a number":  {pass(math.Inf(1), 2, half), []string{"The loss is not finite in float16; in float64 it is 2."}},
		"broken, where": {sample.RoundingBroken(), []string{"The first to break is [3]:26 matmul in gpt/h.0/attn, float16: 212 of 16,384 results are not finite, and their operands are; in float32 none would overflow."}},
	} {
		f := Rounding(c.trace)
		for _, says := range c.says {
			if !strings.Contains(f.Rounding.Sentence, says) || !strings.HasPrefix(f.Alt, f.Rounding.Sentence) {
				t.Errorf("%s: %q does not say %q (%q)", name, f.Rounding.Sentence, says, f.Alt)
			}
		}
	}
}

// TestRoundingOrder: how well first order explains the error, and what signs did, is said.
func TestRoundingOrder(t *testing.T) {
	for _, c := range []struct {
		loss, first, spread float64
		says, not           string
	}{
		{1.1, 0.1, 0.1, "adds up to +0.1; the difference is +0.1.", "signs"},
		{1.1, 0.02, 0.1, "too far", "signs"},
		{1.01, 0.01, 0.1, "Errors of both signs cancelled: 0.1 was to be expected.", "too far"},
		{1.001, 0.003, 0.1, "Errors of both signs cancelled", "too far"},
		{1.9, 0.9, 0.1, "Errors of one sign added up: 0.1 was", "too far"},
		{0.9, -0.1, 0.1, "adds up to -0.1; the difference is -0.1.", "too far"},
	} {
		d := Rounding(&amp.RoundingTrace{Loss: c.loss, Exact: 1, First: c.first, Events: []amp.RoundingEvent{{Op: "exp", DType: amp.Float16, Spread: c.spread}}}).Rounding
		if says := d.Order(); !strings.Contains(says, c.says) || strings.Contains(says, c.not) {
			t.Errorf("%+v: %q", c, says)
		}
	}
}
