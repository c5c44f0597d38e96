package kernel

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

func TestExplainer(t *testing.T) {
	key := []byte("k")
	a := author{key, "s"}
	request := a.compose("execute_request", nil, 1)
	e := &explainer{key: key}
	explain := func(kind string, content any) map[string]any {
		list := e.explain(a.compose(kind, request, content))
		if len(list) == 0 {
			return nil
		}
		m := list[len(list)-1]
		if _, err := parse(m.frames(), key); err != nil {
			t.Error(err)
		}
		var v map[string]any
		_ = json.Unmarshal(m.content, &v)
		return v
	}
	stderr := func(text string) { explain("stream", streamContent{"stderr", text}) }
	failed := func(value string) map[string]any {
		return explain("error", errorContent{"ERROR", value, []string{value}})
	}

	if v := failed("exit status 3"); v["evalue"] != "exit status 3" || v["ename"] != "ERROR" {
		t.Errorf("%v", v)
	}
	for text, said := range map[string]bool{"exit status 3\n": false, "exit status 3": false, "exit status 4\n": true, "exit status 3, says the program\n": true} {
		shown := len(e.explain(a.compose("stream", request, streamContent{"stderr", text})))
		shown += len(e.explain(a.compose("error", request, errorContent{"ERROR", "exit status 3", []string{"exit status 3"}}))) - 1
		if (shown > 0) != said {
			t.Errorf("%q is shown %d times beside the error", text, shown)
		}
		e = &explainer{key: key}
	}
	if v := failed("signal: interrupt"); v["ename"] != "Interrupted" || v["traceback"].([]any)[0] != "Interrupted: the cell was stopped" {
		t.Errorf("%v", v)
	}
	for _, piece := range []string{"pan", "ic: first: ", "cause\n\ngoroutine 1", "\nmain.main()\n"} {
		stderr(piece)
	}
	if v := failed("exit status 2"); v["ename"] != "panic" || v["evalue"] != "first: cause" {
		t.Errorf("%v", v)
	}
	request = a.compose("execute_request", nil, 2) // nothing is carried over to another cell
	if v := failed("exit status 2"); v["ename"] != "ERROR" {
		t.Errorf("%v", v)
	}

	report := func(lines ...string) map[string]any {
		html := "<style>x</style>\n" + reportMark + ` style="font-family: monospace;">`
		for _, l := range lines {
			html += "\n<div style=\"white-space: pre-wrap;\">" + l + "</div>\n"
		}
		return explain("display_data", map[string]any{"data": map[string]any{"text/html": html + "\n</div>\n"}, "metadata": map[string]any{}})
	}
	v := report(" # gonb_12ab", `<span class="gonb-err-hover-area"><span class="gonb-cell-line-info">Cell[7]: Line 12</span> <span class="gonb-err-location">./main.go:11:5: </span></span>cannot use c (variable of type <-chan int) as chan<- int<div class="gonb-err-context">`+"\nfunc main() {\n<div class=\"gonb-err-line\">x\n</div>y\n</div>", " ")
	if text := v["data"].(map[string]any)["text/plain"]; text != "cell 7, line 12: cannot use c (variable of type <-chan int) as chan<- int" {
		t.Errorf("%q", text)
	}
	if v := failed("failed to run \"/go build -o x\": exit status 1"); v["ename"] != "CompileError" || !strings.HasPrefix(v["evalue"].(string), "cell 7") {
		t.Errorf("%v", v)
	}
	report(`<span class="gonb-cell-line-info">Cell[7]: Line 3</span> <span>./main.go:11:5: </span>declared and not used: x`, "./main.go:12:5: the reason")
	v = failed("failed to run \"/go build -o x\": exit status 1")
	if v["traceback"].([]any)[0] != "CompileError: ./main.go:12:5: the reason (and 1 more)" {
		t.Errorf("%v", v)
	}
	report(" failed to run \"/go get\"", " go: no network", " ----------", " advice")
	v = failed("failed to run \"/usr/go get\": exit status 1")
	if v["ename"] != "ImportError" || v["evalue"] != "go: no network" {
		t.Errorf("%v", v)
	}

	// A user's own HTML is left alone.
	m := a.compose("display_data", request, map[string]any{"data": map[string]any{"text/html": "<b>application/vnd.jupyter.stderr</b>"}})
	if got := e.explain(m); len(got) != 1 || got[0] != m {
		t.Error("changed")
	}
}

// TestPanicsAreToldOnce writes what programs that panic write, in pieces of every size, and looks at what is left on stderr beside the error.
func TestPanicsAreToldOnce(t *testing.T) {
	const (
		goroutine = "goroutine 1 [running]:\n"
		main      = "main.main()\n\tcell 2, line 4 +0x130\n"
		ours      = Module + "/amp.MatMul(0x1, {0x2, 0x3})\n\t/home/me/amp/op_matmul.go:60 +0x189\n"
		theirs    = "example.com/m.F(...)\n\t/home/me/m/f.go:6\n"
		end       = "exit status 2\n"
	)
	for name, c := range map[string]struct{ text, stderr, traceback string }{
		"misuse":     {"panic: amp: matmul: bad; fix: do\n\n" + goroutine + ours + main + end, "", "panic: amp: matmul: bad|  fix: do|  cell 2, line 4, in main"},
		"plain":      {"panic: boom\n\n" + goroutine + main + end, "", "panic: boom|  cell 2, line 4, in main"},
		"lines":      {"panic: a\nb\n\n" + goroutine + main + end, "", "panic: a\nb|  cell 2, line 4, in main"},
		"signal":     {"panic: runtime error: nil\n[signal SIGSEGV: x]\n\n" + goroutine + "main.(*T).f(0x0)\n\tcell 1, line 2 +0x1\n" + main + end, "", "panic: runtime error: nil|  cell 1, line 2, in (*T).f|  cell 2, line 4, in main"},
		"index":      {"panic: runtime error: index out of range [20] with length 20\n\n" + goroutine + main + end, "", "panic: runtime error: index out of range [20] with length 20|  fix: the first is 0, and the last one less than the length: for i := range list goes through all of them|  cell 2, line 4, in main"},
		"a variable": {"panic: amp: Register: bad; fix: do\n\n" + goroutine + ours + "main.init()\n\tcell 2, line 1 +0x108\n" + end, "", "panic: amp: Register: bad|  fix: do|  cell 2, line 1, in init"},
		"started":    {"panic: boom\n\ngoroutine 7 [running]:\nmain.main.func1()\n\tcell 2, line 2 +0x25\ncreated by main.main in goroutine 1\n\tcell 2, line 2 +0x59\n" + end, "", "panic: boom|  cell 2, line 2, in main.func1|  cell 2, line 2, in main, which started it"},
		"a module":   {"panic: amp: bad\n\n" + goroutine + ours + theirs + main + end, "", "panic: amp: bad|  /home/me/m/f.go:6, in example.com/m.F|  cell 2, line 4, in main"},
		"before":     {"note\npanic: boom\n\n" + goroutine + main + end, "note\n", "panic: boom|  cell 2, line 4, in main"},
		"recursion":  {"panic: deep\n\n" + goroutine + strings.Repeat("main.f(0x1)\n\tcell 1, line 1 +0x2b\n", 3) + main + end, "", "panic: deep|  cell 1, line 1, in f, 3 times|  cell 2, line 4, in main"},
		"overflow": {"runtime: goroutine stack exceeds 1000000000-byte limit\nruntime: sp=0x1 stack=[0x1, 0x2]\nfatal error: stack overflow\n\nruntime stack:\nruntime.throw({0x1, 0x2})\n\t/go/panic.go:1 +0x4\n\n" +
			goroutine + strings.Repeat("main.f(...)\n\tcell 1, line 1\n", 60) + "...99 frames elided...\n" + main + "\ngoroutine 2:\nx()\n\tcell 9, line 9\n" + end, "", "fatal error: stack overflow|  fix: the function calls itself without end|  cell 1, line 1, in f, over and over|  cell 2, line 4, in main"},
		"memory":      {"fatal error: runtime: out of memory\n\nruntime stack:\nruntime.throw({0x1, 0x2})\n\t/go/panic.go:1 +0x4\n\n" + goroutine + main + end, "", "fatal error: runtime: out of memory|  cell 2, line 4, in main"},
		"memory, far": {"fatal error: runtime: out of memory\n\nruntime stack:\nruntime.throw({0x1, 0x2})\n\t/go/panic.go:1 +0x4\n\n" + goroutine + end, "all", "fatal error: runtime: out of memory"},
		// What the error cannot stand for stays.
		"our fault":     {"panic: runtime error: x\n\n" + goroutine + ours + main + end, "all", "panic: runtime error: x|  cell 2, line 4, in main"},
		"recovered":     {"panic: a [recovered]\n\tpanic: b\n\n" + goroutine + main + end, "all", "panic: a [recovered]|  cell 2, line 4, in main"},
		"fatal":         {"fatal error: all goroutines are asleep - deadlock!\n\n" + goroutine + main + end, "all", "fatal error: all goroutines are asleep - deadlock!|  cell 2, line 4, in main"},
		"looks like it": {"panic: said the program\n\nand went on\n", "all", "panic: said the program"},
		"in a line":     {"what? panic: boom\n", "all", ""},
	} {
		if c.stderr == "all" {
			c.stderr = c.text
		}
		for size := 1; size <= len(c.text); size += max(1, size/2) {
			a := author{[]byte("k"), "s"}
			request := a.compose("execute_request", nil, 1)
			e := &explainer{key: a.key}
			got, traceback := "", ""
			take := func(kind string, content any) {
				for _, m := range e.explain(a.compose(kind, request, content)) {
					var stream streamContent
					var failed errorContent
					switch _ = json.Unmarshal(m.content, &stream); m.kind {
					case "stream":
						got += stream.Text
					case "error":
						_ = json.Unmarshal(m.content, &failed)
						traceback = strings.Join(failed.Traceback, "|")
					}
				}
			}
			for text := c.text; text != ""; {
				n := min(size, len(text))
				for _, word := range panicWords {
					if at := strings.Index(text, word); at >= 0 && at < n {
						n = max(n, at+len(word)) // the runtime writes the word at once
					}
				}
				take("stream", streamContent{"stderr", text[:n]})
				text = text[n:]
			}
			take("error", errorContent{"ERROR", "exit status 2", nil})
			take("status", map[string]string{"execution_state": "idle"})
			if got != c.stderr || traceback != c.traceback {
				t.Fatalf("%s, in pieces of %d: stderr %q, want %q; traceback %q, want %q", name, size, got, c.stderr, traceback, c.traceback)
			}
		}
	}
}

func TestFixes(t *testing.T) {
	m := newCellMap(filepath.Join(t.TempDir(), "cells"))
	for _, code := range []string{"x := 1", "%%\nx, lost := 3, 4\nvar w int", "%%amp float16\nfmt.Println(x, lost, w, z)", "%%\n}\nf()", "%%\nmlp.New()",
		"import torch", "%%\nfor i in range(3):\n    print(i)", "%%\nopt := optim.NewAdam(p, lr=0.1)\nif a = 3 {", "%%\nfmt.Println(fmt.Sprinft(1))\ntorch.ones(2)",
		"%%\nwith amp.Autocast(amp.Float16):\nwith torch.no_grad():\nwith amp.NoGrad() {\nwith open(x) as f:",
		"%%amp float16\nimport \"fmt\"\nfunc inner() {}", "func train() {}\ntype T struct{ A int }\nvar V = T{A: 1}\nfunc (t *T) M() int {\n\treturn t.A\n}", "type T struct{ B int }"} {
		if err := m.add(code, true); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"cell 1, line 1: expected declaration, found x":                                                "put a line %% above it",
		"cell 4, line 3: expected declaration, found f":                                                "",
		"cell 3, line 2: undefined: x":                                                                 "x lived in the body of cell 2",
		"cell 3, line 2: undefined: lost":                                                              "lost lived in the body of cell 2",
		"cell 3, line 2: undefined: w":                                                                 "w lived in the body of cell 2",
		"cell 3, line 2: undefined: z":                                                                 "no cell that has run declares z: run the one that does, or look at the spelling; after a restart of the kernel every cell has to run again",
		"cell 3, line 2: undefined: train":                                                             "cell 12 declares train, but failed, or has been forgotten since: run it again",
		"cell 11, line 2: expected statement, found 'import'":                                          "imports stand above the line that begins with %%",
		"cell 11, line 3: expected '(', found inner":                                                   "functions with a name stand above the line that begins with %%; below it a variable holds one: inner := func() { … }",
		"cell 12, line 1: expected '(', found inner":                                                   "",
		"cell 12, line 3: unknown field A in struct literal of type T":                                 "V of cell 12 is still declared, and does not fit what this cell declares anew: put a line %rm V above it, and run cell 12 again once it fits",
		"cell 12, line 5: t.A undefined (type T has no field or method A)":                             "T~M of cell 12 is still declared",
		"cell 13, line 1: unknown field A in struct literal of type T":                                 "",
		"cell 5, line 2: undefined: mlp":                                                               "if mlp is a package, import it",
		"cell 5, line 2: declared and not used: x":                                                     "_ = x",
		"cell 5, line 2: undefined: amp.Foo":                                                           "",
		"cell 5, line 2: undefined: amp.NewGradScalar":                                                 "amp.NewGradScaler is there: look at the spelling",
		"cell 5, line 2: undefined: amp.float16 (but have Float16)":                                    "amp.Float16 is there: look at the spelling",
		"cell 5, line 2: undefined: nn.MSELos":                                                         "nn.MSELoss is there: look at the spelling",
		"cell 5, line 2: undefined: session.Modell":                                                    "session.Model is there: look at the spelling",
		"cell 5, line 2: undefined: mine.MSELos":                                                       "",
		"cell 5, line 2: opt.ZeroGrads undefined (type *optim.SGD has no field or method ZeroGrads)":   "optim.SGD has ZeroGrad: look at the spelling",
		"cell 5, line 2: x.Flot64s undefined (type *amp.Tensor has no field or method Flot64s)":        "amp.Tensor has Float64s: look at the spelling",
		"cell 5, line 2: h.Nominall undefined (type amp.ScaleHistory has no field or method Nominall)": "amp.ScaleHistory has Nominal: look at the spelling",
		"cell 5, line 2: o.Stepp undefined (type amp.Optimizer has no field or method Stepp)":          "amp.Optimizer has Step: look at the spelling",
		"cell 5, line 2: missing ',' before newline in argument list":                                  "a bracket that is opened here is not closed",
		"cell 5, line 2: illegal rune literal":                                                         "text stands between",
		"cell 5, line 2: too many arguments in call to root.Step\n\thave (number)\n\twant ()":          "Step says which step a scope is",
		"cell 5, line 2: too many arguments in call to root.Step\n\thave (number)\n\twant ()\ncell 5, line 3: s.Autocast undefined (type int has no field or method Autocast)": "Step says which step a scope is",
		"cell 5, line 2: cannot use n (variable of type int) as float64 value in argument to widgets.Bits":                                                                     "Go converts no number by itself: float64(x)",
		"cell 5, line 2: cannot use \"0.1\" (untyped string constant) as float64 value in argument to f":                                                                       "a number is written without quotes",
		"cell 5, line 2: invalid operation: a * b (mismatched types int and float64)":                                                                                          "Go converts no number by itself: float64(x) for the other one",
		"cell 5, line 2: assignment mismatch: 1 variable but f returns 3 values":                                                                                               "it gives 3: take as many",
		"cell 5, line 2: undefined: amp.Relu":                                                                           "%amp ops relu finds this one",
		"cell 5, line 2: undefined: optim.NewSparseAdam":                                                                "gradients are dense here",
		"cell 5, line 2: g.GetScale undefined (type *amp.GradScaler has no field or method GetScale)":                   "that is CurrentScale() here",
		"cell 5, line 2: x.Half undefined (type *amp.Tensor has no field or method Half, but does have field half)":     "that is amp.To(s, x, amp.Float16)",
		"cell 5, line 2: x.Softmax undefined (type *amp.Tensor has no field or method Softmax)":                         "%amp ops softmax finds this one",
		"cell 5, line 2: t.Softmax undefined (type T has no field or method Softmax)":                                   "",
		"cell 6, line 1: missing import path (and 1 more errors)":                                                       "this is Python",
		"cell 7, line 2: expected ':=', found 'in'":                                                                     "a loop in Go",
		"cell 7, line 9: expected ':=', found 'in'":                                                                     "",
		"cell 8, line 2: expected '==', found '='":                                                                      "Go has no keyword arguments",
		"cell 8, line 3: expected '==', found '='":                                                                      "",
		"cell 10, line 2: expected ';', found amp":                                                                      "autocast is a scope in Go: half := s.Autocast(amp.Float16)",
		"cell 10, line 3: expected ';', found torch":                                                                    "that is a scope in Go: quiet := s.NoGrad()",
		"cell 10, line 4: expected ';', found amp":                                                                      "that is a scope in Go: quiet := s.NoGrad()",
		"cell 10, line 5: expected ';', found open":                                                                     "Go has no with",
		"cell 9, line 2: undefined: fmt":                                                                                "look at the spelling of fmt.Println, fmt.Sprinft:",
		"cell 9, line 3: undefined: torch":                                                                              "cells are Go",
		"cell 5, line 2: illegal character U+0040 '@' (and 1 more errors)":                                              "Go has no operator @",
		"cell 5, line 2: invalid operation: operator + not defined on a (variable of type *amp.Tensor)":                 "tensors have functions",
		"cell 5, line 2: undefined: amp.DivScalar":                                                                      "that is amp.MulScalar(s, x, 1.0/4)",
		"cell 5, line 2: undefined: nn.ClipGradNorm":                                                                    "that is optim.ClipGradNorm",
		"cell 5, line 2: w.dtype undefined (type *amp.Tensor has no field or method dtype)":                             "that is DType() here",
		"cell 5, line 2: w.grad undefined (type *amp.Tensor has no field or method grad, but does have method Grad)":    "in Go upper and lower case differ, and a method is called with (): Grad()",
		"cell 5, line 2: cannot index w (variable of type *amp.Tensor)":                                                 "amp.Select(s, x, dim, i)",
		"cell 5, line 2: int32 does not satisfy amp.Element (int32 missing in float32 | int64)":                         "elements are float32",
		"cell 5, line 2: cannot use \"float16\" (untyped string constant) as amp.DType value in argument to s.Autocast": "dtypes are amp.Float16",
		"cell 5, line 2: cannot use x (variable of type *amp.Tensor) as *amp.Scope value in argument to amp.Reshape":    "ops, layers and losses take a scope first",
		"cell 5, line 2: too many arguments in call to scaler.Update":                                                   "a scale of one's own",
		"cell 5, line 2: too many arguments in call to scaler.Scale":                                                    "Scale takes one loss",
		"cell 5, line 2: too many arguments in call to scaler.Scales":                                                   "",
		"cell 5, line 2: not enough arguments in call to nn.MSELoss\n\thave (*amp.Tensor, *amp.Tensor)\n\twant (*amp.Scope, *amp.Tensor, *amp.Tensor, ...amp.LossOption)": "ops, layers and losses take a scope first",
		"cell 5, line 2: not enough arguments in call to nn.MSELoss\n\thave (*amp.Scope, *amp.Tensor)\n\twant (*amp.Scope, *amp.Tensor, *amp.Tensor, ...amp.LossOption)":  "",
		"cell 5, line 2: not enough arguments in call to nn.MSELoss":                                                                                       "",
		"cell 5, line 2: cannot use amp.Enabled(false) (value of func type amp.AutocastOption) as amp.ScalerOption value in argument to amp.NewGradScaler": "amp.Enabled is autocast's",
		"cell 5, line 2: too many arguments in conversion to nn.Linear":                                                                                    "nn.NewLinear makes one",
		"cell 5, line 2: invalid operation: cannot call nn.ReLU (variable of interface type nn.Module): nn.Module is not a function":                       "an activation is a module already",
		"cell 5, line 2: invalid operation: cannot call net (variable of type *nn.Linear): *nn.Linear is not a function":                                   "a module is called by its method",
		"cell 5, line 2: cannot use \"cuda\" (untyped string constant) as amp.ScalerOption value in argument to amp.NewGradScaler":                         "options are functions",
		"cell 5, line 2: cannot use 0.1 (untyped float constant) as optim.Option value in argument to optim.NewAdam":                                       "options are functions",
		"cell 5, line 2: cannot convert \"cuda\" (untyped string constant) to type amp.GradScaler":                                                         "NewGradScaler makes one",
	} {
		got := fixFor(strings.Split(line, "\n"), m.file, filepath.Join("..", ".."))
		if want == "" && got != "" || !strings.HasPrefix(got, want) && !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q", line, got)
		}
	}
}

func TestCleanReport(t *testing.T) {
	const html = `<style>color: #999;</style><div style="white-space: pre-wrap;"> # gonb_6eb02ca4</div>

<div style="white-space: pre-wrap;"><span class="gonb-err-hover-area"><span class="gonb-cell-line-info">Cell[2]: Line 2</span> <span class="gonb-err-location">/tmp/ht1/t/gonb_6eb0/main.go:10:1: </span></span>declared and not used: x</div>
<div style="white-space: pre-wrap;"> </div>
`
	got := cleanReport(html)
	for _, gone := range []string{"gonb_", "main.go", "#999"} {
		if strings.Contains(got, gone) {
			t.Errorf("%q is left in %s", gone, got)
		}
	}
	if !strings.Contains(got, `Cell[2]: Line 2</span>`) || !strings.Contains(got, "declared and not used: x") || strings.Count(got, "<div") != 1 {
		t.Error(got)
	}
}

// What the parser only counts is shown, and counted in English.
func TestUnfold(t *testing.T) {
	m := newCellMap(filepath.Join(t.TempDir(), "cells"))
	for _, code := range []string{"%%\nx := 1 1\nvar y = )\nz := 2", "%%amp float16\nvar a = )\nvar b = )\nvar c = )\nvar d = )\nvar e = )", "fine"} {
		if err := m.add(code, true); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"plain": "plain",
		"cell 1, line 2: expected ';', found 1 (and 2 more errors)":       "cell 1, line 2: expected ';', found 1|cell 1, line 3: expected operand, found ')'",
		"cell 9, line 2: expected ';' (and 1 more errors)":                "cell 9, line 2: expected ';' (and 1 more error)",
		"./main.go:3:4: expected ';' (and 2 more errors)":                 "./main.go:3:4: expected ';' (and 2 more errors)",
		"cell 2, line 2: expected operand, found ')' (and 6 more errors)": "cell 2, line 2: expected operand, found ')'|cell 2, line 3: expected ';', found 'var'|cell 2, line 4: expected ';', found 'var'|cell 2, line 5: expected ';', found 'var' (and 2 more errors)",
	} {
		got := unfold(line, m.file)
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s: %q, want %q", line, s, want)
		}
	}
	if got := unfoldHTML("<b>a (and 1 more errors)</b>", []string{"a", "b < c"}); got != "<b>a<br>b &lt; c</b>" {
		t.Error(got)
	}
}
