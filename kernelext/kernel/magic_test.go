package kernel

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
)

// answer returns the text of a cell's only display.
func (r result) answer(t *testing.T) string {
	t.Helper()
	r.ok(t)
	if len(r.displays) != 1 {
		t.Fatalf("%d displays: %v", len(r.displays), r.displays)
	}
	html := r.displays[0]["text/html"].(string)
	for _, bad := range []string{"<script", "<style", "<svg", "var(", "id="} {
		if strings.Contains(html, bad) {
			t.Errorf("the HTML has %s, which JupyterLab drops: %s", bad, html)
		}
	}
	return r.displays[0]["text/plain"].(string)
}

// TestMagicLines asks each %amp command in a cell of its own.
func TestMagicLines(t *testing.T) {
	s := startKernel(t, home(t))
	for _, c := range []struct{ line, want string }{
		{"%amp", "%amp policy"},
		{"%amp help force", "%amp force gelu=fp32 softmax=lower"},
		{"%amp help %%amp", "--show LIST"},
		{"%amp status", "first 65,536"},
		{"%amp device", "cpu"},
		{"%amp device auto", "Device: auto"},
		{"%amp policy softmax", "Class fp32_output"},
		{"%amp policy", "scaled_dot_product_attention"},
		{"%amp force gelu=fp32", "inputs are cast to float32"},
		{"%amp force", "gelu"},
		{"%amp trace health every 5", "health, every 5 steps"},
		{"%amp ops conv", "conv_transpose2d"},
		{"%amp scale 2^10", "first 1,024"},
		{"%amp version", "v0.11.4"},
		{"%amp doctor", "gone"},
		{"%amp status", "gelu = fp32"},
		{"//gonb:%amp trace \\\n  decisions", "Trace: decisions"},
	} {
		if text := s.run(c.line).answer(t); !strings.Contains(text, c.want) {
			t.Errorf("%s: no %q in\n%s", c.line, c.want, text)
		}
	}
}

// TestMagicsAmongOtherLines mixes %amp lines with Go, with GoNB's own commands and with a shell: the answers come first, in
// order, everything else runs, and the front end sees the cell as it was written and counted.
func TestMagicsAmongOtherLines(t *testing.T) {
	s := startKernel(t, home(t))
	code := "%amp trace decisions\n!echo from the shell\nimport \"strings\"\n%amp scale 512\n%% n=3\nfmt.Println(strings.ToUpper(\"go\"), os.Args[1:])\nscope := amp.NewScope()\nfmt.Println(scope.Trace().Note)\nfmt.Println(amp.NewGradScaler().History().Note)"
	m := s.submit(code)
	r := s.result(m).ok(t)
	if len(r.displays) != 2 || !strings.HasPrefix(r.displays[0]["text/plain"].(string), "Trace: decisions") || !strings.HasPrefix(r.displays[1]["text/plain"].(string), "Loss scale: first 512") {
		t.Errorf("displays %v", r.displays)
	}
	want := "from the shell\nGO [n=3]\nset by %amp: trace decisions\nset by %amp: first scale 512\n"
	if r.stdout != want {
		t.Errorf("stdout %q, want %q", r.stdout, want)
	}
	var kinds []string
	for _, p := range r.messages {
		if p.kind == "execute_input" {
			if c := content(p); c["code"] != code || c["execution_count"] != 1.0 {
				t.Errorf("the echo of the cell is %v", c)
			}
		}
		kinds = append(kinds, p.kind)
	}
	if line := strings.Join(kinds, " "); !strings.Contains(line, "execute_input display_data display_data stream") || !strings.HasPrefix(line, "status ") {
		t.Errorf("order of messages: %s", line)
	}
}

// TestWrongMagicStopsTheCell checks that nothing of a cell runs behind a line that is wrong, what the error says, and that cells
// behind it in the queue are given up as after any error.
func TestWrongMagicStopsTheCell(t *testing.T) {
	s := startKernel(t, home(t), doctorEnv+"=500ms")
	for code, want := range map[string]string{
		"%%\nfmt.Println(\"ran\")\n%amp trase off":                    `line 3: %amp trase off: "trase" is no command of %amp; did you mean "trace"?`,
		"%amp force gleu=fp32\n%%\nfmt.Println(\"ran\")":              `line 1: %amp force gleu=fp32: "gleu" is no op of the table; did you mean "gelu"?`,
		"%%amp flaot16\nfmt.Println(\"ran\")":                         `line 1: %%amp flaot16: "flaot16" is no dtype autocast runs in; did you mean "float16"?`,
		"%amp device cuda:0\n%%\nfmt.Println(\"ran\")":                `cuda:0 cannot be used here: no libcuda is found`,
		"%%\nfmt.Println(\"ran\")\n%apm status":                       `%apm is not known; did you mean "%amp"?`,
		"%%amp float16\n%%\nfmt.Println(\"ran\")":                     `%% and %%amp cannot both say how the cell runs`,
		"%%amp float16 --show decsions\nfmt.Println(\"ran\")":         `did you mean "decisions"?`,
		"!echo ran\n%amp policy":                                      "",
		"%%writefile /dev/null\n%amp nonsense\n%%amp neither is this": "",
	} {
		r := s.run(code)
		if want == "" {
			r.ok(t)
			continue
		}
		if r.reply["status"] != "error" || r.reply["ename"] != "MagicError" || !strings.Contains(fmt.Sprint(r.reply["evalue"]), want) {
			t.Errorf("%q: reply %v, want %q", code, r.reply, want)
		}
		if len(r.errors) != 1 || r.errors[0]["evalue"] != r.reply["evalue"] || strings.Contains(r.stdout, "ran") {
			t.Errorf("%q: errors %v, output %q", code, r.errors, r.stdout)
		}
	}
	first, behind := s.submit("%amp doctor\n%amp trase"), s.submit("%%\nfmt.Println(\"behind\")")
	if r, next := s.result(first), s.result(behind); r.reply["status"] != "error" || next.reply["status"] != "aborted" {
		t.Errorf("%v, and the cell behind it: %v", r.reply, next.reply)
	}
	if r := s.run("%%\nfmt.Println(\"on\")").ok(t); r.stdout != "on\n" {
		t.Errorf("afterwards: %q", r.stdout)
	}
}

// TestMagicAnswersCanBeInterrupted stops a cell while its %amp line is being answered; the kernel answers other questions meanwhile.
func TestMagicAnswersCanBeInterrupted(t *testing.T) {
	s := startKernel(t, home(t), doctorEnv+"=1m")
	m := s.submit("%amp doctor\n%%\nfmt.Println(\"ran\")")
	s.waitBusy(m)
	s.reply(s.request(s.control, "kernel_info_request", map[string]any{}))
	begin := time.Now()
	s.reply(s.request(s.control, "interrupt_request", map[string]any{}))
	r := s.result(m)
	if r.reply["ename"] != "Interrupted" || r.stdout != "" || stretch.Over(time.Since(begin), 10*time.Second) {
		t.Errorf("after %v: %v %q", time.Since(begin), r.reply, r.stdout)
	}
	s.run("%amp status").ok(t)
}

// TestMagicCompletionAndHelp asks what a front end asks while one types, without and with Go around it.
func TestMagicCompletionAndHelp(t *testing.T) {
	s := startKernel(t, home(t))
	ask := func(kind, code string) map[string]any {
		at := strings.Index(code, "|")
		code = code[:at] + code[at+1:]
		return s.ask(kind, map[string]any{"code": code, "cursor_pos": len([]rune(code[:at])), "detail_level": 0})
	}
	for code, want := range map[string]string{
		"%am|":                                      "[%amp]",
		"// über\n%amp tr|":                         "[trace]",
		"%amp policy soft|":                         "[soft_margin_loss softmax softmin softplus softshrink softsign]",
		"%amp force gelu=b|":                        "[gelu=bfloat16]",
		"%amp trace health |":                       "[every]",
		"%%amp b|\nx := 1":                          "[bfloat16]",
		"%%amp float16 --trace |":                   "[off decisions health]",
		"%%amp float16 --show decisions,|":          "[decisions,scale decisions,exponents decisions,flow decisions,rounding]",
		"%%\nx := 1\n%amp device |\nfmt.Println(x)": "[auto cpu",
	} {
		r := ask("complete_request", code)
		if got := fmt.Sprint(r["matches"]); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", code, got, want)
		}
	}
	r := ask("complete_request", "// über\n%amp tr|")
	if r["cursor_start"] != 13.0 || r["cursor_end"] != 15.0 {
		t.Errorf("the word is from %v to %v", r["cursor_start"], r["cursor_end"])
	}
	for code, want := range map[string]string{
		"%amp tra|ce health": "how much scopes record",
		"%amp policy geł|":   "what autocast does",
		"%amp policy ge|lu":  "what gelu computes in",
		"%%am|p float16":     "run a cell under autocast",
	} {
		r := ask("inspect_request", code)
		data, _ := r["data"].(map[string]any)
		if r["found"] != true || !strings.Contains(fmt.Sprint(data["text/plain"]), want) {
			t.Errorf("%s: %v", code, r)
		}
	}
	for code, want := range map[string]string{
		"%%amp float16\nfor range 3 {": "incomplete",
		"%%amp float16\nx := 1":        "incomplete",
		"%%amp float16\nx := 1\n":      "complete",
		"%amp status":                  "complete",
	} {
		if r := s.ask("is_complete_request", map[string]any{"code": code}); r["status"] != want {
			t.Errorf("%q: %v, want %s", code, r, want)
		}
	}
}
