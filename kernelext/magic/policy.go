package magic

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

var policyCommand = &command{
	name: "policy", args: "[OP…]", short: "what autocast does: with all ops by class, or with one op and why",
	long: []string{
		"The answer is worked out from the op table that cells run by, with the ops that `%amp force` has forced. Ops of your own that a cell registered are known to that cell alone.",
	},
	examples: []string{"%amp policy", "%amp policy softmax linear"},
	run:      (*Engine).policy,
	complete: func(*Engine, []string) []Choice { return opChoices() },
}

func opNames() []string {
	var names []string
	for o := range amp.Ops() {
		names = append(names, o.Name)
	}
	return names
}

func opChoices() []Choice {
	var out []Choice
	for o := range amp.Ops() {
		if !widgets.PartOfOthers(o) {
			out = append(out, Choice{o.Name, o.Class.String()})
		}
	}
	return out
}

// op returns the row of a name; MatMul and mat_mul are matmul.
func op(name string) (*amp.Op, *Error) {
	if o, ok := amp.LookupOp(name); ok {
		return o, nil
	}
	simple := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "amp.", "", "nn.", "").Replace(s))
	}
	names := opNames()
	if i := slices.IndexFunc(names, func(n string) bool { return simple(n) == simple(name) }); i >= 0 {
		return nil, &Error{Word: name, Detail: fmt.Sprintf("%q is no op of the table", name), Near: names[i]}
	}
	e := wrong(name, "op of the table", names)
	e.Fix = "%amp ops " + name + " searches"
	return nil, e
}

func (e *Engine) policy(_ context.Context, args []string) (Answer, error) {
	if len(args) == 0 {
		return e.allOps(), nil
	}
	a := Answer{Title: "Policy of " + strings.Join(args, ", ")}
	s := e.Settings()
	for _, name := range args {
		o, err := op(name)
		if err != nil {
			return Answer{}, err
		}
		if err := describeOp(&a, o, s); err != nil {
			return Answer{}, err
		}
	}
	return a, nil
}

// allOps shows the op table as the figure that programs show it by: with what `%amp force` has forced.
func (e *Engine) allOps() Answer {
	root := amp.NewScope(amp.On("cpu"), amp.Record(amp.Off))
	defer root.Close()
	var forced []amp.AutocastOption
	for name, class := range e.Settings().Force {
		forced = append(forced, amp.Force(name, mustClass(class)))
	}
	f := widgets.Policy(root.Autocast(amp.NoDType, forced...))
	a := Answer{Title: f.Title, Beside: f.Policy.Sentence, Figure: f}
	a.text("`%amp policy OP` says why an op is where it is, and `%amp force OP=DTYPE` puts it elsewhere.")
	return a
}

// describeOp says what the lists do with an op, and what that means for the dtypes its inputs can have.
func describeOp(a *Answer, o *amp.Op, s Settings) error {
	a.text(fmt.Sprintf("`%s`(%s) %s", o.Name, strings.Join(o.Args, ", "), o.Doc))
	forced := s.Force[o.Name]
	why := fmt.Sprintf("Class `%s`: %s. %s.", o.Class, widgets.ClassMeaning(o.Class), capital(o.Why))
	if forced != "" {
		why += fmt.Sprintf(" `%%amp force` makes it `%s`: %s.", forced, widgets.ClassMeaning(mustClass(forced)))
	}
	if o.CPUList != o.Class {
		why += fmt.Sprintf(" PyTorch's CPU lists (`amp.UseLists(amp.CPULists)`) have it as `%s`: %s.", o.CPUList, widgets.ClassMeaning(o.CPUList))
	}
	a.text(why)
	defaults := s.Defaults
	t := a.table("what "+o.Name+" computes in, and what it gives", "inputs", "%%amp float16", "%%amp bfloat16", "bfloat16, CPU lists")
	root := amp.NewScope(amp.On("cpu"), amp.Record(amp.Off))
	defer root.Close()
	for _, in := range inputDTypes(o) {
		row := []any{inputText(in)}
		for _, scope := range []struct {
			dtype amp.DType
			lists amp.Lists
		}{{amp.Float16, amp.CUDALists}, {amp.BFloat16, amp.CUDALists}, {amp.BFloat16, amp.CPULists}} {
			opts := []amp.AutocastOption{amp.UseLists(scope.lists)}
			if c := defaults.Force[o.Name]; c != "" {
				opts = append(opts, amp.Force(o.Name, mustClass(c)))
			}
			row = append(row, outcome(root.Autocast(scope.dtype, opts...), o, in))
		}
		t.row(row...)
	}
	return nil
}

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func mustClass(name string) amp.Class {
	c, _ := amp.ParseClass(name) // only checked names are stored
	return c
}

// inputDTypes are the combinations of dtypes that tell something about an op.
func inputDTypes(o *amp.Op) [][]amp.DType {
	n := max(len(o.Args), 1)
	var out [][]amp.DType
	for _, d := range []amp.DType{amp.Float32, amp.Float16, amp.BFloat16, amp.Float64} {
		out = append(out, slices.Repeat([]amp.DType{d}, n))
	}
	if n > 1 {
		mixed := slices.Repeat([]amp.DType{amp.Float32}, n)
		mixed[0] = amp.Float16
		out = append(out, mixed)
	}
	return out
}

func inputText(in []amp.DType) Field {
	if len(in) > 1 && in[1] != in[0] {
		return Field{Text: in[0].String() + ", " + in[1].String()}
	}
	return Field{DType: in[0]}
}

// outcome is what a scope does with an op on such inputs: the dtype it computes in and, where another, that of the result.
func outcome(s *amp.Scope, o *amp.Op, in []amp.DType) Field {
	var x amp.Explanation
	if err := amp.Maybe(func() { x = amp.Explain(s, o.Name, in...) }); err != nil {
		text := "refused"
		if e, ok := err.(*amp.Error); ok && e.Kind != nil {
			text += ": " + e.Kind.Error()
		}
		return Field{Text: text, Status: "bad"}
	}
	run := amp.NoDType
	for _, d := range x.Run {
		if d.IsFloat() {
			run = d
			break
		}
	}
	f := Field{DType: run}
	if x.Output != run && x.Output.IsFloat() {
		f.To = x.Output
	}
	if !x.Output.IsFloat() {
		f.Text = "gives " + x.Output.String()
	}
	return f
}

var opsCommand = &command{
	name: "ops", args: "[PATTERN]", short: "search the op table",
	long: []string{
		"The pattern is part of a name (`conv`), a class (`fp32`), or words of what ops do (`cosine`); `*` stands for any letters (`*_loss`).",
	},
	examples: []string{"%amp ops conv", "%amp ops *_loss", "%amp ops promote"},
	run:      (*Engine).ops,
	complete: func(_ *Engine, before []string) []Choice {
		if len(before) > 0 {
			return nil
		}
		return opChoices()
	},
}

const maxOps = 80

func (e *Engine) ops(_ context.Context, args []string) (Answer, error) {
	pattern := strings.ToLower(strings.Join(args, " "))
	var found []*amp.Op
	for _, match := range []func(*amp.Op) bool{
		func(o *amp.Op) bool { return glob(pattern, o.Name) },
		func(o *amp.Op) bool { return o.Class.String() == pattern },
		func(o *amp.Op) bool { return strings.Contains(strings.ToLower(o.Doc), pattern) },
	} {
		for o := range amp.Ops() {
			if match(o) {
				found = append(found, o)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	if len(found) == 0 {
		err := wrong(pattern, "part of an op's name, class or description", opNames())
		err.Fix = "%amp policy lists all ops"
		return Answer{}, err
	}
	a := Answer{Title: "Ops", Beside: plural(len(found), "op")}
	if pattern != "" {
		a.Title = "Ops: " + strings.Join(args, " ")
	}
	forced := e.Settings().Force
	t := a.table("", "op", "class", "inputs", "what it computes")
	for _, o := range found[:min(len(found), maxOps)] {
		class := o.Class.String()
		if f := forced[o.Name]; f != "" {
			class += " → " + f
		}
		t.row("`"+o.Name+"`", class, strings.Join(o.Args, ", "), o.Doc)
	}
	if more := len(found) - maxOps; more > 0 {
		a.text(fmt.Sprintf("… and %s more: `%%amp ops PATTERN` narrows it down.", widgets.Count(more)))
	}
	return a, nil
}

// glob tells whether a pattern is part of a name; with a * in it, whether it is the whole name.
func glob(pattern, name string) bool {
	if !strings.Contains(pattern, "*") {
		return strings.Contains(name, pattern)
	}
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(name, parts[0]) {
		return false
	}
	name = name[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(name, p)
		if i < 0 {
			return false
		}
		name = name[i+len(p):]
	}
	return strings.HasSuffix(name, last)
}
