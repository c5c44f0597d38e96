package amp

import (
	"flag"
	"fmt"
	"go/token"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("update", false, "write OPS.md anew")

// aliases are public names of the reference's lists that are another row here.
var aliases = map[string]string{
	"__matmul__": "matmul", "linalg_multi_dot": "multi_dot", "__pow__": "pow", "__rtruediv__": "__rdiv__",
	"GRUCell": "gru_cell", "LSTMCell": "lstm_cell", "RNNCell": "rnn_tanh_cell",
}

// leftOut gives the reason for each name of the reference's CUDA lists that has no row.
var leftOut = map[string]string{
	"_convolution": "internal name of conv1d … conv_transpose3d", "convolution": "internal name of conv1d … conv_transpose3d",
	"cudnn_convolution": "internal name of conv1d … conv3d", "cudnn_convolution_transpose": "internal name of conv_transpose1d … 3d",
	"conv_tbc":             "conv1d with its dimensions in another order, from fairseq; transpose and use conv1d",
	"_thnn_fused_gru_cell": "internal name of gru_cell", "_thnn_fused_lstm_cell": "internal name of lstm_cell",
	"_scaled_dot_product_flash_attention": "internal name of scaled_dot_product_attention",
	"native_layer_norm":                   "internal name of layer_norm",
	"grid_sampler":                        "internal name of grid_sample",
}

// operators are all names of the CUDA lists: operators and public names.
func operators(t *testing.T) []string {
	var out []string
	for name := range policy(t) {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// TestListsAreComplete: every name of the reference's CUDA lists has a row, or a reason not to.
func TestListsAreComplete(t *testing.T) {
	for _, name := range operators(t) {
		row := name
		if a, ok := aliases[name]; ok {
			row = a
		}
		_, has := LookupOp(row)
		_, out := leftOut[name]
		switch {
		case !has && !out:
			t.Errorf("%s has neither a row nor a reason", name)
		case has && out:
			t.Errorf("%s has a row and a reason not to have one", name)
		}
	}
}

// callers finds the public function of each row: the outermost function of this package that a test's call of the row, or of the first part of a
// composite, runs through.
func callers() map[string]string {
	found, row := "", ""
	defer aroundChecks(func(o *Op, c *Call, check func(c *Call) []int) []int {
		if found == "" && (o.Name == row || len(byName[row].Composite) > 0) {
			found = outermost()
		}
		return check(c)
	})()
	out := map[string]string{}
	note := func(name string, call func(s *Scope)) {
		s := NewScope().NoGrad()
		defer s.Close()
		found, row = "", name
		call(s)
		if known := strings.Split(out[name], ", "); found != "" && !slices.Contains(known, found) {
			out[name] = strings.TrimPrefix(out[name]+", "+found, ", ")
		}
	}
	for name, cases := range opCases {
		for _, c := range cases {
			note(name, func(s *Scope) { c.call(s, c.draws(s, Float64, 1)) })
		}
	}
	for name, cases := range answerCases {
		for _, c := range cases {
			note(name, func(s *Scope) {
				_ = Maybe(func() { c.call(s, c.draws(Float64)) }) // that refuses floats has been found then
			})
		}
	}
	return out
}

// aroundChecks puts f around the check of every row that has one, until the function that it returns is called.
func aroundChecks(f func(o *Op, c *Call, check func(c *Call) []int) []int) (restore func()) {
	checks := map[*Op]func(c *Call) []int{}
	for o := range Ops() {
		if check := o.Check; check != nil {
			checks[o] = check
			o.Check = func(c *Call) []int { return f(o, c, check) }
		}
	}
	return func() {
		for o, check := range checks {
			o.Check = check
		}
	}
}

// outermost returns the exported function that was called from a test file.
func outermost() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	last := ""
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.File, "_test.go") || !more {
			break
		}
		last = f.Function
	}
	name, ok := strings.CutPrefix(last, "github.com/halftone-ml/halftone/amp.")
	if !ok || strings.ContainsAny(name, ".()") || !token.IsExported(name) {
		return ""
	}
	return name
}

// TestOpReference holds OPS.md to the table; go test ./amp -run TestOpReference -update writes it.
func TestOpReference(t *testing.T) {
	text := reference(functions(t), readSource(t))
	if *rewrite {
		if err := os.WriteFile("OPS.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("OPS.md")
	if err != nil || string(have) != text {
		t.Errorf("OPS.md is stale (%v): go test ./amp -run TestOpReference -update writes it anew", err)
	}
}

// reference writes the op table as a page.
func reference(functions map[string]string, src goSource) string {
	var b strings.Builder
	n := 0
	groups := map[Class][]*Op{}
	var inPlace, gradients []*Op
	for o := range Ops() {
		n++
		switch {
		case o.InPlace:
			inPlace = append(inPlace, o)
		case strings.HasSuffix(o.Name, "_backward"):
			gradients = append(gradients, o)
		default:
			groups[o.Class] = append(groups[o.Class], o)
		}
	}
	fmt.Fprintf(&b, "# Op reference\n\n")
	fmt.Fprintf(&b, "Generated from the op table (%d rows) by `go test ./amp -run TestOpReference -update`; a test fails when it is stale.\n\n", n)
	b.WriteString(referenceHead)
	for _, g := range []struct {
		class       Class
		title, text string
	}{
		{Lower, "Lower", "Inputs are cast to the scope's dtype."},
		{FP32, "Float32", "Inputs are cast to float32."},
		{FP32Output, "Float32 output", "Inputs are taken as they are; accumulation and result are float32."},
		{FP32Append, "Float32 output, by the overload with a dtype", "As above."},
		{Promote, "Promote", "Inputs are cast to the widest among them."},
		{Banned, "Refused", "Unsafe under autocast; the message names the way out."},
		{Unlisted, "Unlisted", "The op runs in the dtype of its inputs, by ordinary type promotion where they differ."},
	} {
		section(&b, g.title, g.text, groups[g.class], functions)
	}
	section(&b, "In place", "Never autocast, no gradient.", inPlace, functions)
	section(&b, "Gradients", "Rows that backward is made of; autocast is off there, and each runs in the dtype its forward ran in.", gradients, functions)
	otherFunctions(&b, functions, src)
	b.WriteString("## Left out\n\nNames of PyTorch's CUDA lists without a row of that name here.\n\n| name | reason |\n|---|---|\n")
	for _, name := range sortedKeys(leftOut) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, leftOut[name])
	}
	for _, name := range sortedKeys(aliases) {
		fmt.Fprintf(&b, "| `%s` | is `%s` here |\n", name, aliases[name])
	}
	return b.String()
}

const referenceHead = `Columns: **Go**, the function of package amp; **CPU lists**, the class on PyTorch's CPU lists, which ` + "`amp.UseLists(amp.CPULists)`" + ` chooses;
**integers**, the dtype of the result of int64 inputs, "or float32" for a number that is not whole, – where they are refused; **gradient**,
whether the op has one (it is made of table ops, so it has one itself); **c**, the constant of the error bound
|y - y₆₄| ≤ c·u·√K·Σ|terms| plus one rounding of the result, with u = 2⁻²⁴ for float16, bfloat16 and float32, which are computed in float32
or wider, and K the number of terms; **CUDA**, the stem of the GPU kernel's symbol.

Where the reference is known to be at fault, Halftone differs: a cast is cached by tensor, dtype and version, so that neither a nested scope of
another dtype nor a weight changed in place gets a stale copy; a cast made under NoGrad still has its edge to the weight; an
unscaling by a non-finite inverse skips the step. A user's op without a class follows its inputs, as an op that is not registered does in
PyTorch, and says so once; popular writing has it fall back to float32, which ` + "`amp.Unclassified(amp.FP32)`" + ` does.

`

func section(b *strings.Builder, title, text string, rows []*Op, functions map[string]string) {
	fmt.Fprintf(b, "## %s\n\n%s\n\n| op | Go | computes | why | CPU lists | integers | gradient | c | CUDA |\n|---|---|---|---|---|---|---|---|---|\n", title, text)
	for _, o := range rows {
		gradient := "–"
		if o.Differentiable() || len(o.Composite) > 0 {
			gradient = "yes"
		}
		doc := o.Doc
		if len(o.Composite) > 0 {
			doc += " (made of " + strings.Join(o.Composite, ", ") + ")"
		}
		escape := strings.NewReplacer("|", "\\|").Replace
		fmt.Fprintf(b, "| `%s(%s)` | %s | %s | %s | %s | %s | %s | %s | `%s` |\n", o.Name, strings.Join(o.Args, ", "), functions[o.Name], escape(doc), escape(o.Why), o.CPUList, ofIntegers(o), gradient, bound(o), o.CUDA)
	}
	b.WriteString("\n")
}

// otherFunctions lists the functions that are no row's: made of rows, or rows by other arguments.
func otherFunctions(b *strings.Builder, functions map[string]string, src goSource) {
	of := map[string]bool{}
	for _, names := range functions {
		for _, name := range strings.Split(names, ", ") {
			of[name] = true
		}
	}
	b.WriteString("## Functions of other names\n\nFunctions without a row of their own: each op that they call runs as its row says.\n\n| Go | computes |\n|---|---|\n")
	for _, name := range sortedKeys(src.functions) {
		if d := src.functions[name]; d.tensors && !of[name] {
			what := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(d.doc, "."), name+" returns "), name+" is ")
			fmt.Fprintf(b, "| %s | %s |\n", name, strings.ReplaceAll(what, "|", "\\|"))
		}
	}
	b.WriteString("\n")
}

// ofIntegers gives the dtypes of a row's results if its inputs are integers.
func ofIntegers(o *Op) string {
	in := slices.Repeat([]*Tensor{{dt: Int64}}, len(o.Args))
	var results []string
	if o.Ints || o.Whole != nil {
		dt := o.result(newCall(o, &Attrs{}, in))
		if dt == NoDType { // the caller names one
			return "any"
		}
		results = append(results, dt.String())
	}
	if o.Floats {
		results = append(results, Float32.String())
	}
	switch {
	case len(results) > 0:
		return strings.Join(results, " or ")
	case len(o.Composite) > 0:
		return "by parts"
	}
	return "–"
}

// bound is the row's constant, 1 unless it says otherwise, and nothing for rows that move data alone.
func bound(o *Op) string {
	switch {
	case o.View != nil:
		return "exact"
	case len(o.Composite) > 0 && o.Bound == 0:
		return "by parts"
	case o.Bound == 0:
		return "1"
	}
	return fmt.Sprint(o.Bound)
}

func sortedKeys[T any](m map[string]T) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
