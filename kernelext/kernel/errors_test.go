package kernel

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestExplainer(t *testing.T) {
	key := []byte("k")
	a := author{key, "s"}
	request := a.compose("execute_request", nil, 1)
	e := &explainer{key: key}
	explain := func(kind string, content any) map[string]any {
		m := e.explain(a.compose(kind, request, content))
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
	report(" failed to run \"/go get\"", " go: no network", " ----------", " advice")
	v = failed("failed to run \"/usr/go get\": exit status 1")
	if v["ename"] != "ImportError" || v["evalue"] != "go: no network" {
		t.Errorf("%v", v)
	}

	// A user's own HTML is left alone.
	m := a.compose("display_data", request, map[string]any{"data": map[string]any{"text/html": "<b>application/vnd.jupyter.stderr</b>"}})
	if e.explain(m) != m {
		t.Error("changed")
	}
}
