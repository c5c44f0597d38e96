package widgets

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// PolicyData is the op table as autocast goes by it: what [Policy] shows.
type PolicyData struct {
	Missing  string        `json:"missing,omitempty"` // why there is nothing to show
	Sentence string        `json:"sentence"`          // the finding in words
	Lists    string        `json:"lists"`             // lists of the scope: "cuda", "cpu", "apex" or "pure"
	DType    amp.DType     `json:"dtype"`             // the scope's lower dtype
	Whys     []string      `json:"whys"`              // reasons, each once
	Classes  []PolicyClass `json:"classes"`           // the classes that occur, in reading order
	Ops      []PolicyOp    `json:"ops"`               // by name
	Forced   []PolicyForce `json:"forced,omitempty"`  // overrides of the session or the program, by op
	More     int           `json:"more,omitempty"`    // ops left out
}

// A PolicyClass is an autocast class.
type PolicyClass struct {
	Class string `json:"class"`
	Means string `json:"means"` // what it does to an op
	Ops   int    `json:"ops"`   // ops of that class on the scope's lists, parts of others aside
}

// A PolicyOp is a row of the op table.
type PolicyOp struct {
	Name  string    `json:"name"`
	Class string    `json:"class"`           // on the CUDA lists
	Why   int       `json:"why"`             // index in Whys: why that class
	Doc   string    `json:"doc,omitempty"`   // what it computes, with the formula; none for a part
	CPU   string    `json:"cpu,omitempty"`   // class on the CPU lists, where another
	Apex  string    `json:"apex,omitempty"`  // class on Apex's lists, where another
	Gives amp.DType `json:"gives,omitempty"` // dtype of the result where it is no float: bool or int64
	Part  bool      `json:"part,omitempty"`  // programs do not call it: ops, gradients and updates are made of it
	Own   bool      `json:"own,omitempty"`   // an op of the user's own
}

// A PolicyForce is an override.
type PolicyForce struct {
	Op   string `json:"op"`
	From string `json:"from"` // class on the scope's lists
	To   string `json:"to"`
}

// PolicyClasses lists the autocast classes in the order in which people look for them.
var PolicyClasses = []amp.Class{amp.Lower, amp.FP32, amp.FP32Output, amp.FP32Append, amp.Promote, amp.Banned, amp.Inherit, amp.Unlisted}

// ClassMeaning says what a class does to an op.
func ClassMeaning(c amp.Class) string {
	switch c {
	case amp.Lower:
		return "runs in the dtype of the autocast scope"
	case amp.FP32:
		return "inputs are cast to float32"
	case amp.FP32Output, amp.FP32Append:
		return "inputs as they are, accumulation and result in float32"
	case amp.Promote:
		return "inputs are cast to the widest among them"
	case amp.Banned:
		return "refused under autocast"
	case amp.Inherit:
		return "an op of this program; runs in the dtype of its inputs, as it was registered"
	}
	return "runs in the dtype of its inputs"
}

// PartOfOthers tells rows that programs do not call: gradients, updates and parts of ops.
func PartOfOthers(o *amp.Op) bool {
	return o.InPlace || strings.HasPrefix(o.Name, "_") || strings.HasSuffix(o.Name, "_backward") || strings.HasSuffix(o.Name, "_grad")
}

// maxPolicy is the number of ops that a figure holds: the table, and as many again of the user's own.
const maxPolicy = 800

// MaxPolicyJSON is MaxJSON for the op table: the table with every op's formula, and room for a hundred ops of the user's own.
const MaxPolicyJSON = 56 << 10

// Policy shows the op table: what autocast does with every op and why, on PyTorch's CUDA and CPU lists and on Apex's, with what is
// forced otherwise. It reads the lists, the dtype and the overrides of the scope; without one they are the session's own, as %amp
// force has set them. A nil scope counts as none.
func Policy(scope ...*amp.Scope) *Figure {
	d := &PolicyData{Whys: []string{}, Classes: []PolicyClass{}, Ops: []PolicyOp{}}
	root := amp.NewScope(amp.On("cpu"), amp.Record(amp.Off))
	defer root.Close()
	s := root.Autocast(amp.NoDType)
	if len(scope) > 0 && scope[0] != nil {
		s = scope[0]
	}
	d.Lists, d.DType = s.Lists().String(), amp.Float16
	if dt, on := s.AutocastDType(); on {
		d.DType = dt
	}
	why, count := map[string]int{}, map[amp.Class]int{}
	plain := root.Autocast(d.DType)
	for o := range amp.Ops() {
		if len(d.Ops) == maxPolicy {
			d.More++
			continue
		}
		i, known := why[o.Why]
		if !known {
			i = len(d.Whys)
			why[o.Why] = i
			d.Whys = append(d.Whys, clip(o.Why, maxRule))
		}
		row := policyOp(o, i, plain)
		d.Ops = append(d.Ops, row)
		if !row.Part {
			count[o.ClassOn(s.Lists())]++
		}
	}
	for _, c := range PolicyClasses {
		if count[c] > 0 {
			d.Classes = append(d.Classes, PolicyClass{c.String(), ClassMeaning(c), count[c]})
		}
	}
	forced := s.Overrides()
	for _, name := range slices.Sorted(maps.Keys(forced)) {
		if o, ok := amp.LookupOp(name); ok {
			d.Forced = append(d.Forced, PolicyForce{name, o.ClassOn(s.Lists()).String(), forced[name].String()})
		}
	}
	d.Sentence = d.finding()
	f := &Figure{Schema: Schema, Kind: KindPolicy, Title: "Autocast policy", Alt: d.Sentence, Policy: d}
	f.normalize()
	f.shrink()
	return f
}

// policyOp is an op's row.
func policyOp(o *amp.Op, why int, s *amp.Scope) PolicyOp {
	row := PolicyOp{Name: clip(o.Name, maxName), Class: o.Class.String(), Why: why, Part: PartOfOthers(o), Own: o.Own()}
	if !row.Part {
		row.Doc = clip(o.Doc, maxRule)
	}
	if c := o.ClassOn(amp.CPULists); c != o.Class {
		row.CPU = c.String()
	}
	if c := o.ClassOn(amp.ApexLists); c != o.Class {
		row.Apex = c.String()
	}
	in := slices.Repeat([]amp.DType{amp.Float32}, max(len(o.Args), 1))
	var x amp.Explanation
	if amp.Maybe(func() { x = amp.Explain(s, o.Name, in...) }) == nil && !x.Output.IsFloat() {
		row.Gives = x.Output
	}
	return row
}

// shrink leaves out ops that do not fit, those of the user's own first and the parts of others before the rest, and counts them.
func (f *Figure) shrink() {
	d := f.Policy
	for len(d.Ops) > 0 {
		b, err := f.MarshalJSON()
		if err != nil || len(b) <= MaxPolicyJSON {
			return
		}
		rank := func(o PolicyOp) int {
			switch {
			case o.Own:
				return 2
			case o.Part:
				return 1
			}
			return 0
		}
		byRank := slices.Clone(d.Ops)
		slices.SortStableFunc(byRank, func(a, b PolicyOp) int { return cmp.Compare(rank(a), rank(b)) })
		keep := len(byRank) * MaxPolicyJSON / (len(b) + 1)
		d.More += len(byRank) - keep
		d.Ops = byRank[:keep]
		slices.SortFunc(d.Ops, func(a, b PolicyOp) int { return cmp.Compare(a.Name, b.Name) })
	}
}

// On returns the op's class on lists: "cuda", "cpu" or "apex"; on pure ones all is lower but the user's own.
func (o *PolicyOp) On(lists string) string {
	switch {
	case lists == "cpu" && o.CPU != "":
		return o.CPU
	case lists == "apex" && o.Apex != "":
		return o.Apex
	case lists == "pure" && !o.Own:
		return amp.Lower.String()
	}
	return o.Class
}

// WhyOf is the reason of an op's class.
func (d *PolicyData) WhyOf(o *PolicyOp) string {
	if o.Why < 0 || o.Why >= len(d.Whys) {
		return ""
	}
	return d.Whys[o.Why]
}

// count is the number of ops that programs call of a class on the figure's lists.
func (d *PolicyData) count(classes ...amp.Class) (n int) {
	for _, c := range d.Classes {
		if slices.ContainsFunc(classes, func(k amp.Class) bool { return k.String() == c.Class }) {
			n += c.Ops
		}
	}
	return n
}

// finding is how many ops run in which precision.
func (d *PolicyData) finding() string {
	if d.Missing != "" {
		return d.Missing
	}
	several := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return Count(n) + " " + many
	}
	s := fmt.Sprintf("Under autocast %s in %s and %d in float32; %s", several(d.count(amp.Lower), "op runs", "ops run"), d.DType,
		d.count(amp.FP32, amp.FP32Output, amp.FP32Append), several(d.count(amp.Unlisted, amp.Inherit), "follows its inputs", "follow their inputs"))
	if n := d.count(amp.Promote); n > 0 {
		s += ", " + several(n, "takes the widest of its own", "take the widest of theirs")
	}
	if n := d.count(amp.Banned); n > 0 {
		s += ", " + several(n, "is refused", "are refused")
	}
	s += "."
	if len(d.Forced) > 0 {
		var parts []string
		for _, f := range d.Forced[:min(len(d.Forced), 4)] {
			parts = append(parts, f.Op+" to "+f.To)
		}
		s += " Forced: " + strings.Join(parts, ", ")
		if more := len(d.Forced) - len(parts); more > 0 {
			s += fmt.Sprintf(" and %d more", more)
		}
		s += "."
	}
	return s
}

// ListsName is the lists' name for people.
func ListsName(lists string) string {
	switch lists {
	case "cpu":
		return "PyTorch's CPU lists"
	case "apex":
		return "Apex's lists"
	case "pure":
		return "every op in the lower dtype"
	}
	return "PyTorch's CUDA lists"
}

// A PolicyGroup is the ops of a class that share a reason.
type PolicyGroup struct {
	Why string
	Ops []*PolicyOp
}

// Grouped returns the ops of a class on the figure's lists by reason, the reason with the most ops first; parts are the rows that
// programs do not call.
func (d *PolicyData) Grouped(class string, parts bool) []PolicyGroup {
	at := map[int]int{}
	var out []PolicyGroup
	for i := range d.Ops {
		o := &d.Ops[i]
		if o.Part != parts || o.On(d.Lists) != class {
			continue
		}
		k, known := at[o.Why]
		if !known {
			k = len(out)
			at[o.Why] = k
			out = append(out, PolicyGroup{Why: d.WhyOf(o)})
		}
		out[k].Ops = append(out[k].Ops, o)
	}
	slices.SortStableFunc(out, func(a, b PolicyGroup) int { return cmp.Compare(len(b.Ops), len(a.Ops)) })
	return out
}

// normalize makes the data safe to draw.
func (d *PolicyData) normalize() {
	d.Missing, d.Sentence, d.Lists = clip(d.Missing, maxRule), clip(d.Sentence, maxAlt), clip(d.Lists, 20)
	d.DType = knownDType(d.DType)
	clamp(&d.More, 0)
	d.Whys = d.Whys[:min(len(d.Whys), maxPolicy)]
	for i := range d.Whys {
		d.Whys[i] = clip(d.Whys[i], maxRule)
	}
	d.Classes = d.Classes[:min(len(d.Classes), len(PolicyClasses))]
	for i := range d.Classes {
		c := &d.Classes[i]
		c.Class, c.Means = clip(c.Class, 20), clip(c.Means, maxRule)
		clamp(&c.Ops, 0)
	}
	if len(d.Ops) > maxPolicy {
		d.More += len(d.Ops) - maxPolicy
		d.Ops = d.Ops[:maxPolicy]
	}
	for i := range d.Ops {
		o := &d.Ops[i]
		o.Name, o.Class, o.CPU, o.Apex = clip(o.Name, maxName), clip(o.Class, 20), clip(o.CPU, 20), clip(o.Apex, 20)
		o.Doc = clip(o.Doc, maxRule)
		if o.Why < 0 || o.Why >= len(d.Whys) {
			o.Why = 0
		}
	}
	d.Forced = d.Forced[:min(len(d.Forced), maxPolicy)]
	for i := range d.Forced {
		f := &d.Forced[i]
		f.Op, f.From, f.To = clip(f.Op, maxName), clip(f.From, 20), clip(f.To, 20)
	}
	if len(d.Ops) == 0 && d.Missing == "" {
		d.Missing = "No ops."
	}
}
