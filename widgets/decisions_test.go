package widgets

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// site finds the first site of a phase, module and op.
func (d *DecisionsData) site(t *testing.T, phase, module, op string) (int, *Site) {
	t.Helper()
	for i := range d.Sites {
		if s := &d.Sites[i]; s.Phase == phase && s.Module == module && s.Op == op {
			return i, s
		}
	}
	t.Fatalf("no %s %s in %q", phase, op, module)
	return 0, nil
}

func TestDecisionsCountEverything(t *testing.T) {
	const steps = 50
	trace := sample.MLP(steps)
	var ops, casts, hits, optimizer int
	var moved, forward int64
	for _, e := range trace.Events {
		if e.Cast != nil {
			casts++
			hits += b2i(e.Cast.Hit)
			moved += e.Cast.Bytes
			continue
		}
		if e.Phase == amp.PhaseOptimizer { // has rows, and no part in the shares
			optimizer++
			continue
		}
		ops++
		if e.Phase == amp.PhaseForward {
			forward += e.Bytes
		}
	}
	f := Decisions(trace)
	d, u := f.Decisions, f.Decisions.Summary
	if u.Calls != ops || u.Casts != casts || u.CastHits != hits || u.CastBytes != moved || u.Bytes != forward {
		t.Errorf("summary %+v, want %d ops, %d casts, %d hits, %d and %d bytes", u, ops, casts, hits, moved, forward)
	}
	var byDType, bySite, castSites int
	for _, c := range u.Ops {
		byDType += c.Calls
	}
	for _, s := range d.Sites {
		if s.Op != "cast" {
			bySite += s.Calls
		}
		for _, c := range s.Casts {
			castSites += c.Count
		}
	}
	if byDType != ops || bySite != ops+optimizer || optimizer == 0 {
		t.Errorf("%d calls by dtype and %d by site, want %d and %d more of the optimizer", byDType, bySite, ops, optimizer)
	}
	if user := steps * 2 * 3 * 2; castSites != casts-user {
		t.Errorf("%d casts in front of ops, want %d", castSites, casts-user)
	}
	if d.Steps != steps || d.Events != len(trace.Events) || d.Device != "cpu" || len(d.Autocast) != 1 || d.Autocast[0] != amp.Float16 {
		t.Errorf("%d steps, %d events, device %q, autocast %v", d.Steps, d.Events, d.Device, d.Autocast)
	}
}

func TestSiteSaysEverything(t *testing.T) {
	d := Decisions(sample.MLP(50)).Decisions
	_, s := d.site(t, amp.PhaseForward, "net/0", "linear")
	if s.Calls != 100 || s.Compute != amp.Float16 || s.Class != "lower" || !s.Changed || s.Where != "[3]:12" ||
		!strings.Contains(d.Rule(s), "GEMM") || s.Shape != "512×8 · 16×8 · 16 → 512×16" || s.Force != `amp.Force("linear", amp.FP32)` {
		t.Errorf("%+v with rule %q", s, d.Rule(s))
	}
	if s.Precision() != "fp32 → fp16 ▮" || d.Times(s) != " ×2" {
		t.Errorf("precision %q, times %q", s.Precision(), d.Times(s))
	}
	if s.Dims == nil || *s.Dims != (Dims{512, 8, 16}) || s.Dims.Text() != "✓ ÷8" {
		t.Errorf("dims %+v", s.Dims)
	}
	if len(s.Casts) != 3 || s.Casts[1].Name != "0.weight" || d.CastText(s.Casts[1]) != "once a step, 768 B, then cached ×1" {
		t.Errorf("casts %+v", s.Casts)
	}
	if d.CastText(s.Casts[0]) != "2 a step, 24.6 KB each" {
		t.Errorf("input: %q", d.CastText(s.Casts[0]))
	}
	_, last := d.site(t, amp.PhaseForward, "net/4", "linear")
	if last.Dims.OK() || last.Dims.Text() != "✗ N=1" {
		t.Errorf("dims of a product with one column: %q", last.Dims.Text())
	}
	_, loss := d.site(t, amp.PhaseForward, "loss", "mse_loss")
	if loss.Precision() != "fp16+fp32 → fp32 ■" || loss.Dims != nil || loss.Force != "" {
		t.Errorf("loss: %+v, %q", loss, loss.Precision())
	}
}

func TestCastText(t *testing.T) {
	for want, c := range map[string]struct {
		steps int
		cast  CastSite
	}{
		"once, 4.20 MB, then cached ×49":          {1, CastSite{Count: 50, Hits: 49, Each: 4_200_000}},
		"once, 16 B":                              {50, CastSite{Count: 1, Each: 16}},
		"once a step, 16 B":                       {50, CastSite{Count: 50, Each: 16}},
		"once a step, 16 B, then cached ×3":       {50, CastSite{Count: 200, Hits: 150, Each: 16}},
		"0.5 a step, 16 B each, then cached ×150": {50, CastSite{Count: 175, Hits: 150, Each: 16}},
		"from the cache ×1,200":                   {50, CastSite{Count: 1200, Hits: 1200}},
		"7 times, 16 B each":                      {0, CastSite{Count: 7, Each: 16}},
		"7 times, 16 B each, then cached ×2":      {0, CastSite{Count: 9, Hits: 2, Each: 16}},
	} {
		d := &DecisionsData{Steps: c.steps}
		if got := d.CastText(c.cast); got != want {
			t.Errorf("%d steps, %+v: %q, want %q", c.steps, c.cast, got, want)
		}
	}
}

// TestBackwardStandsBesideForward: by module where that leaves one op, else by line, else beside the module.
func TestBackwardStandsBesideForward(t *testing.T) {
	ev := func(phase, module, op string, line int) amp.Event {
		return amp.Event{Phase: phase, Module: module, Op: op, Compute: amp.Float16, Out: amp.Arg{DType: amp.Float16}, File: "/a/b.go", Line: line}
	}
	trace := &amp.Trace{Events: []amp.Event{
		ev(amp.PhaseForward, "a", "linear", 1),
		ev(amp.PhaseForward, "b", "exp", 2), ev(amp.PhaseForward, "b", "log", 3),
		ev(amp.PhaseForward, "c", "mul", 4), ev(amp.PhaseForward, "c", "add", 4),
		ev(amp.PhaseBackward, "c", "neg", 4),
		ev(amp.PhaseBackward, "b", "div", 3), ev(amp.PhaseBackward, "b", "mul", 2), ev(amp.PhaseBackward, "b", "sum", 9),
		ev(amp.PhaseBackward, "a", "matmul", 77), ev(amp.PhaseBackward, "a", "matmul", 77),
		ev(amp.PhaseBackward, "gone", "copy", 1),
		ev(amp.PhaseOptimizer, "", "sgd_", 5),
	}}
	d := Decisions(trace).Decisions
	got := map[string]string{}
	for _, m := range d.Modules() {
		for _, r := range m.Rows {
			got[m.Name()+" "+d.Sites[r.Forward].Op] = d.backwardText(r.Backward)
		}
		if len(m.Backward) > 0 {
			got[m.Name()] = d.backwardText(m.Backward)
		}
	}
	want := map[string]string{
		"a linear": "matmul ×2 fp16 ▮", "b exp": "mul fp16 ▮", "b log": "div fp16 ▮", "b": "sum fp16 ▮",
		"c mul": "", "c add": "", "c": "neg fp16 ▮", "gone": "copy fp16 ▮", "optimizer sgd_": "",
	}
	for k, v := range want {
		if g, ok := got[k]; !ok || strings.ReplaceAll(g, "\u00a0", " ") != v {
			t.Errorf("%s: backward %q (%v), want %q", k, g, ok, v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("rows %q", got)
	}
	if m := d.Modules(); m[len(m)-1].Name() != "optimizer" {
		t.Error("the optimizer is not last")
	}
}

// TestCastsBelongToTheOpThatAsked: a cast of another op does not stray.
func TestCastsBelongToTheOpThatAsked(t *testing.T) {
	cast := func(by string) amp.Event {
		return amp.Event{Phase: amp.PhaseForward, Op: "cast", Cast: &amp.Cast{From: amp.Float32, To: amp.Float16, By: by, Bytes: 6}}
	}
	op := func(name string) amp.Event {
		return amp.Event{Phase: amp.PhaseForward, Op: name, Compute: amp.Float16}
	}
	user := cast("")
	d := Decisions(&amp.Trace{Events: []amp.Event{cast("linear"), cast("other"), op("linear"), op("relu"), user, cast("linear")}}).Decisions
	_, linear := d.site(t, amp.PhaseForward, "", "linear")
	_, relu := d.site(t, amp.PhaseForward, "", "relu")
	d.site(t, amp.PhaseForward, "", "cast")
	if len(linear.Casts) != 1 || linear.Casts[0].Count != 1 || len(relu.Casts) != 0 || d.Summary.Casts != 4 || d.Summary.Calls != 2 {
		t.Errorf("linear %+v, relu %+v, summary %+v", linear.Casts, relu.Casts, d.Summary)
	}
}

// TestCastFormats: casts to different formats are told apart, and a format that no cast rounds to is none.
func TestCastFormats(t *testing.T) {
	var events []amp.Event
	for i, format := range []string{"e4m3", "e5m2", "<b>", ""} {
		module := fmt.Sprint("block_", i)
		cast := amp.Event{Phase: amp.PhaseForward, Module: module, Op: "cast", Cast: &amp.Cast{From: amp.Float16, To: amp.Float16, Format: format, By: "linear", Bytes: 4}}
		events = append(events, cast, amp.Event{Phase: amp.PhaseForward, Module: module, Op: "linear", Compute: amp.Float16})
		cast.Phase, cast.Cast = amp.PhaseBackward, &amp.Cast{From: amp.Float16, To: amp.Float16, Format: format}
		events = append(events, cast)
	}
	formats, rows := map[string]bool{}, map[string]bool{}
	for _, s := range Decisions(&amp.Trace{Events: events}).Decisions.Sites {
		for _, c := range s.Casts {
			formats[c.ToText()] = true
		}
		rows[s.Op] = true
	}
	if want := map[string]bool{"e4m3": true, "e5m2": true, "fp16": true}; !maps.Equal(formats, want) {
		t.Errorf("formats %v, want %v", formats, want)
	}
	if castShape([]CastSite{{Format: "e4m3"}}) == castShape([]CastSite{{Format: "e5m2"}}) {
		t.Error("sites of different formats would be folded into one")
	}
	if want := map[string]bool{"linear": true, "cast to e4m3": true, "cast to e5m2": true, "cast": true}; !maps.Equal(rows, want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
}

// TestEqualBlocksShareRows: numbered siblings fold into one row whose numbers are their sums.
func TestEqualBlocksShareRows(t *testing.T) {
	trace := sample.Large(48)
	d := Decisions(trace).Decisions
	_, s := d.site(t, amp.PhaseForward, "transformer/block_*/attention/query", "linear")
	if s.Modules != 48 || s.Calls != 48 || s.Casts[0].Count != 48 || s.Casts[0].Name != "transformer/block_*/attention/query.weight" {
		t.Errorf("%+v", s)
	}
	if len(d.Sites) != 6*4 || d.Summary.Calls != 48*6*4 || d.More != 0 {
		t.Errorf("%d sites, summary %+v", len(d.Sites), d.Summary)
	}
	for _, b := range d.Sites {
		if b.Phase == amp.PhaseBackward && (b.Of == 0 || d.Sites[b.Of-1].Module != b.Module) {
			t.Errorf("backward %s of %s lost its forward", b.Op, b.Module)
		}
	}
	if small := Decisions(sample.Large(2)).Decisions; small.Sites[0].Modules != 0 {
		t.Error("a small trace was folded")
	}
	// One block that decides otherwise keeps a row of its own.
	for i := range trace.Events {
		if e := &trace.Events[i]; e.Module == "transformer/block_7/mlp/up" && e.Op == "linear" {
			e.Compute = amp.Float32
		}
	}
	d = Decisions(trace).Decisions
	if _, odd := d.site(t, amp.PhaseForward, "transformer/block_7/mlp/up", "linear"); odd.Calls != 1 || odd.Modules != 0 {
		t.Errorf("the odd block: %+v", odd)
	}
}

func TestStars(t *testing.T) {
	for in, want := range map[string]string{
		"net/0": "net/*", "0.weight": "*.weight", "blocks/11/fc1": "blocks/*/fc1", "block_3.weight": "block_*.weight",
		"": "", "h2o": "h2o", "a/12b": "a/12b", "7": "*", "x-1/y.2_3": "x-*/y.*_*",
	} {
		if got := stars(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestBytesSavedCountOnlyHalves(t *testing.T) {
	arg := func(d amp.DType) amp.Arg { return amp.Arg{DType: d, Shape: []int{10}} }
	var events []amp.Event
	for _, d := range amp.AllDTypes() {
		events = append(events, amp.Event{Phase: amp.PhaseForward, Op: "x" + d.Short(), Compute: d, Out: arg(d), Bytes: int64(10 * d.Size())})
	}
	u := Decisions(&amp.Trace{Events: events}).Decisions.Summary
	if u.Bytes != 20+20+40+80+80+10 || u.BytesFP32 != u.Bytes+20+20 {
		t.Errorf("%d bytes, %d in float32", u.Bytes, u.BytesFP32)
	}
}

func TestWhere(t *testing.T) {
	for want, e := range map[string]amp.Event{
		"[4]:7": {Cell: 4, CellLine: 7, File: "main.go", Line: 90}, "[4]": {Cell: 4}, "model.go:12": {File: "/home/x/model.go", Line: 12},
		"m.go:3": {File: `C:\src\m.go`, Line: 3}, "": {},
	} {
		if got := where(&e); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
}

func TestOverheadIsPrinted(t *testing.T) {
	f := Decisions(sample.MLP(5))
	if got := f.Overhead(); got != "tracing cost 312 µs of 41.8 ms (0.7%)" || !strings.Contains(f.Text(), got) {
		t.Errorf("overhead %q", got)
	}
	if f.Stable().Overhead() != "" {
		t.Error("a stable figure has an overhead")
	}
}

func TestAltHasTheNumbers(t *testing.T) {
	for name, want := range map[string][]string{
		"decisions":       {"42 op calls per step before the optimizer over 50 steps", "32 in float16", "10 in float32", "3.07 MB"},
		"decisions_none":  {"amp.Record(amp.Decisions)"},
		"steady":          {"65,536", "6 of 2,000", "4.bias ×3", "1,994 effective"},
		"collapsing":      {"0.25", "20 of 20", "4.weight"},
		"calibrating":     {"32,768", "1 of 12"},
		"disabled":        {"No scaling needed"},
		"compare":         {"0.084401", "0.76%", "1 step skipped"},
		"compare_nan":     {"not finite from step 1"},
		"compare_nothing": {"Loss"},
	} {
		for _, w := range want {
			if alt := samples()[name].Alt; !strings.Contains(alt, w) {
				t.Errorf("%s: alt %q lacks %q", name, alt, w)
			}
		}
	}
}

// TestMillionEvents keeps the cost of a figure bounded.
func TestMillionEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	trace := sample.MLP(1)
	events := trace.Events
	for len(trace.Events) < 200_000 {
		trace.Events = append(trace.Events, events...)
	}
	d := Decisions(trace).Decisions
	if len(d.Sites) > 40 || d.Events != len(trace.Events) {
		t.Error(fmt.Sprint(len(d.Sites), d.Events))
	}
}

// TestTimesOfUnequalSteps: a skipped step runs no optimizer, and no op runs 1.33 times.
func TestTimesOfUnequalSteps(t *testing.T) {
	d := &DecisionsData{Steps: 3}
	for calls, want := range map[int]string{3: "", 6: " ×2", 4: " ×4 in 3 steps", 0: " ×0"} {
		if got := d.Times(&Site{Calls: calls}); got != want {
			t.Errorf("%d calls in 3 steps: %q, want %q", calls, got, want)
		}
	}
}

func TestOverrideNamesTheDTypeOfTheTrace(t *testing.T) {
	for dt, want := range map[amp.DType]string{amp.Float16: "s.Autocast(amp.Float16, x)", amp.BFloat16: "s.Autocast(amp.BFloat16, x)"} {
		d := &DecisionsData{Autocast: []amp.DType{dt}}
		if got := d.Override("x"); got != want {
			t.Errorf("%v: %s", dt, got)
		}
	}
}
