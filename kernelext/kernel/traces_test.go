package kernel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/internal/cellsource"
)

// TestTracer sends a trace in one piece, byte by byte, and with GoNB's marks.
func TestTracer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gonb_0a1b2c3d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte("package main\n\nfunc f() {\n\tpanic(1)\n}\n\nfunc main() {\n\tf()\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cells := filepath.Join(dir, "cells")
	list := []cell{{Count: 3, Code: "func f() {\n  panic(1)\n}"}, {Count: 4, Code: "%%\nf()"}}
	if err := os.WriteFile(cells, cellsource.Encode(list), 0o600); err != nil {
		t.Fatal(err)
	}
	a := author{[]byte("k"), "s"}
	request := a.compose("execute_request", nil, 1)
	text := "panic: 1\n\ngoroutine 1 [running]:\nmain.f(...)\n\t" + file + ":4\nmain.main()\n\t" + file + ":8 +0x1d\nruntime.x()\n\t/go/src/runtime/x.go:4\n\tunfinished"
	want := "panic: 1\n\ngoroutine 1 [running]:\nmain.f(...)\n\tcell 3, line 2\nmain.main()\n\tcell 4, line 2 +0x1d\nruntime.x()\n\t/go/src/runtime/x.go:4\n\tunfinished"
	marked := strings.ReplaceAll(text, file, " \x1b[7m[[ Cell [9] Line 9 ]]\x1b[0m "+file)
	for name, pieces := range map[string][]string{"whole": {text}, "marked": {marked}, "bytes": strings.Split(text, "")} {
		tr := &tracer{key: a.key, cells: cells}
		got := ""
		take := func(list []*message) {
			for _, m := range list {
				if _, err := parse(m.frames(), a.key); err != nil {
					t.Error(err)
				}
				var c streamContent
				_ = json.Unmarshal(m.content, &c)
				got += c.Text
			}
		}
		for _, p := range pieces {
			take(tr.pass(a.compose("stream", request, streamContent{"stderr", p})))
		}
		out := a.compose("stream", request, streamContent{"stdout", "|" + file + ":4"})
		if list := tr.pass(out); list[len(list)-1] != out {
			t.Errorf("%s: stdout was changed", name)
		} else {
			take(list)
		}
		if got != want+"|"+file+":4" {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, want)
		}
	}
	// GoNB writes the value of a variable outside main otherwise than the cell has it: its own mark is what tells then.
	tr := &tracer{key: a.key, cells: cells}
	out := tr.pass(a.compose("stream", request, streamContent{"stderr", "main.init()\n\t \x1b[7m[[ Cell [16] Line 1 ]]\x1b[0m " + file + ":99 +0x108\n"}))
	if len(out) != 1 || !strings.Contains(string(out[0].content), `\tcell 16, line 1 +0x108`) {
		t.Errorf("%s", out[0].content)
	}
	tr = &tracer{key: a.key}
	if tr.pass(a.compose("stream", request, streamContent{"stderr", "\t"})) != nil {
		t.Error("the beginning of a trace's line was not held")
	}
	idle := a.compose("status", request, map[string]any{})
	if list := tr.pass(idle); len(list) != 2 || list[1] != idle || !strings.Contains(string(list[0].content), `"\t"`) {
		t.Errorf("%d messages", len(list))
	}
}

// TestPanicsNameTheCell looks at what users see of a panic in a function of an earlier cell.
func TestPanicsNameTheCell(t *testing.T) {
	s := startKernel(t, home(t))
	s.run("type Layer struct{ w []float64 }\n\nfunc (l *Layer) at(i int) float64 {\n\treturn l.w[i]\n}").ok(t)
	for range 2 {
		s.run("%%\nfmt.Println(len((&Layer{}).w))").ok(t)
	}
	r := s.run("%%\nl := &Layer{make([]float64, 2)}\nfor i := range 9 {\n\tfmt.Println(l.at(i))\n}")
	want := []any{
		"panic: runtime error: index out of range [2] with length 2", "  fix: the first is 0, and the last one less than the length: for i := range list goes through all of them", "  cell 1, line 4, in (*Layer).at", "  cell 4, line 4, in main",
	}
	if got := r.errors[0]["traceback"]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("traceback %q", got)
	}
	if fmt.Sprint(r.reply["traceback"]) != fmt.Sprint(want) {
		t.Errorf("reply %v", r.reply)
	}
	if r.stderr != "" { // nothing that the error does not say
		t.Errorf("%s", r.stderr)
	}
	r = s.run("%%\nvar m sync.Mutex\nm.Unlock()") // a fatal error is shown whole
	if !strings.Contains(r.stderr, "\n\tcell 5, line 3") || strings.Contains(r.stderr, "main.go") {
		t.Errorf("%s", r.stderr)
	}
}
