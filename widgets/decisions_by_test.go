package widgets

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestDecidedBy: what decided is told for every rule that a program's ops run by.
func TestDecidedBy(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	half := root.Autocast(amp.Float16)
	for _, c := range []struct {
		what string
		rule string
		by   string
	}{
		{"lower", amp.Explain(half, "matmul", amp.Float32, amp.Float32).Rule, ByClass},
		{"fp32", amp.Explain(half, "exp", amp.Float16).Rule, ByClass},
		{"promote", amp.Explain(half, "cat", amp.Float16, amp.Float32).Rule, ByInput},
		{"unlisted", amp.Explain(half, "relu", amp.Float16).Rule, ByInput},
		{"forced", amp.Explain(root.Autocast(amp.Float16, amp.Force("exp", amp.Lower)), "exp", amp.Float32).Rule, ByOverride},
		{"lists", amp.Explain(root.Autocast(amp.Float16, amp.UseLists(amp.ApexLists)), "conv_transpose1d", amp.Float32, amp.Float32).Rule, ByClass},
		{"float64", amp.Explain(half, "matmul", amp.Float64, amp.Float64).Rule, ByInput},
		{"off", amp.Explain(root, "matmul", amp.Float32, amp.Float32).Rule, ByInput},
		{"another program's", "cosmic rays", ""},
	} {
		if got := decidedBy(c.rule); got != c.by {
			t.Errorf("%s: %q was decided by %q, want %q", c.what, c.rule, got, c.by)
		}
	}
	// Whatever a real training step records is told as well.
	trace, _ := gradients(t)
	for _, e := range trace.Events {
		if decidedBy(e.Rule) == "" {
			t.Errorf("%s: %q", e.Op, e.Rule)
		}
	}
}

// TestHealth: a site's health is that of its results together, as a figure and in words.
func TestHealth(t *testing.T) {
	root := amp.NewScope(amp.Record(amp.Health))
	defer root.Close()
	half := root.Autocast(amp.Float16)
	x := amp.From([]float32{1e-9, 1e-6, 0, 1, 3e5, 2}, 2, 3)
	for range 2 {
		amp.Exp(half, amp.To(half, x, amp.Float16))
	}
	f := Decisions(root.Trace())
	_, exp := f.Decisions.site(t, amp.PhaseForward, "", "exp")
	if h := exp.Health; h == nil || h.Looked != 2 || h.N != 12 || h.Infs != 2 || h.Fate.All() != 10 || h.Fate.Normal != 10 || f.Decisions.Format != "fp16" || !h.Sick() {
		t.Errorf("exp: %+v", exp.Health)
	}
	_, cast := f.Decisions.site(t, amp.PhaseForward, "", "cast")
	if h := cast.Health; h.Zeros != 4 || h.Infs != 2 || h.Fate.Subnormal != 2 || h.Fate.Normal != 4 || h.Mid != 0 {
		t.Errorf("cast: %+v", h)
	}
	if exp.Saved != 0 || cast.Saved != 0 { // casts are no op calls
		t.Errorf("%d and %d bytes saved", exp.Saved, cast.Saved)
	}
	sum := 0
	for _, n := range cast.Health.Bins {
		sum += n
	}
	if sum < 990 || sum > 1010 {
		t.Errorf("%v", cast.Health.Bins)
	}
}

// TestCastsSayWhatTheyLost: what a weight's cast to float16 rounds to zero is counted, once for each cast that was made.
func TestCastsSayWhatTheyLost(t *testing.T) {
	root := amp.NewScope(amp.Record(amp.Health))
	defer root.Close()
	half := root.Autocast(amp.Float16)
	amp.MatMul(half, amp.From([]float32{1e-9, 1, 0, 1e6}, 1, 4), amp.From([]float32{1, 1, 1, 1}, 4, 1))
	_, s := Decisions(root.Trace()).Decisions.site(t, amp.PhaseForward, "", "matmul")
	if len(s.Casts) != 2 || s.Casts[0].Lost != 1 || s.Casts[0].Over != 1 || s.Casts[1].Lost != 0 || s.Saved != 2 {
		t.Errorf("%+v, %d saved", s.Casts, s.Saved)
	}
}
