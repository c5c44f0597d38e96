package widgets

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestPolicyIsTheTable: every row of the op table is there, with its class on each of the lists and its reason; in the text every op
// that programs call stands once under its class.
func TestPolicyIsTheTable(t *testing.T) {
	f := Policy()
	d := f.Policy
	rows := map[string]*PolicyOp{}
	for i := range d.Ops {
		rows[d.Ops[i].Name] = &d.Ops[i]
	}
	n := 0
	for o := range amp.Ops() {
		n++
		r := rows[o.Name]
		if r == nil {
			t.Fatalf("%s is missing", o.Name)
		}
		for lists, want := range map[string]amp.Class{"cuda": o.Class, "cpu": o.CPUList, "apex": o.ClassOn(amp.ApexLists), "pure": o.ClassOn(amp.PureLists)} {
			if r.On(lists) != want.String() {
				t.Errorf("%s on the %s lists: %s, want %v", o.Name, lists, r.On(lists), want)
			}
		}
		if d.WhyOf(r) != o.Why {
			t.Errorf("%s: why %q, want %q", o.Name, d.WhyOf(r), o.Why)
		}
	}
	if len(d.Ops) != n || d.More != 0 {
		t.Errorf("%d ops and %d more, the table has %d", len(d.Ops), d.More, n)
	}
	if g := rows["argmax"].Gives; g != amp.Int64 {
		t.Errorf("argmax gives %v", g)
	}
	if g := rows["eq"].Gives; g != amp.Bool {
		t.Errorf("eq gives %v", g)
	}
	head, _, _ := strings.Cut(f.Text(), "otherwise on")
	words := strings.FieldsFunc(head, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	for _, name := range []string{"linear", "softmax", "binary_cross_entropy", "add"} {
		count := 0
		for _, w := range words {
			if w == name {
				count++
			}
		}
		if count != 1 {
			t.Errorf("%s stands %d times in the text", name, count)
		}
	}
	total := 0
	for _, c := range d.Classes {
		for _, g := range d.Grouped(c.Class, false) {
			total += len(g.Ops)
		}
		total -= c.Ops
	}
	if total != 0 {
		t.Errorf("the classes count %d ops less than they have", total)
	}
}

// TestPolicyOfAScope shows what the scope would do: its lists, its dtype, and what it forces.
func TestPolicyOfAScope(t *testing.T) {
	d := forcedPolicy().Policy
	if d.Lists != "cpu" || d.DType != amp.BFloat16 || len(d.Forced) != 2 || d.Forced[0] != (PolicyForce{"gelu", "unlisted", "fp32"}) || d.Forced[1] != (PolicyForce{"softmax", "unlisted", "lower"}) {
		t.Errorf("%s, %v, %+v", d.Lists, d.DType, d.Forced)
	}
	if !strings.Contains(d.Sentence, "bfloat16") || !strings.Contains(d.Sentence, "Forced: gelu to fp32, softmax to lower.") {
		t.Error(d.Sentence)
	}
	if Policy(nil).Policy.Lists != "cuda" {
		t.Error("a nil scope is none")
	}
}

// TestPolicyStaysSmall also with many ops of the user's own; what is left out is counted, the table's own ops last.
func TestPolicyStaysSmall(t *testing.T) {
	f := Policy()
	for i := range 400 {
		f.Policy.Ops = append(f.Policy.Ops, PolicyOp{Name: fmt.Sprintf("my_op_%03d_%s", i, strings.Repeat("x", 60)), Class: "inherit", Own: true})
	}
	all := len(f.Policy.Ops)
	f.shrink()
	b, err := f.MarshalJSON()
	if err != nil || len(b) > MaxPolicyJSON {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if len(f.Policy.Ops)+f.Policy.More != all || f.Policy.More == 0 || !strings.Contains(f.Text(), "more ops") || !strings.Contains(f.Text(), "linear") {
		t.Errorf("%d ops and %d more of %d", len(f.Policy.Ops), f.Policy.More, all)
	}
}
