package amp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/internal/cellsource"
)

func TestTraceSaysWhatRan(t *testing.T) {
	cells := filepath.Join(t.TempDir(), "cells")
	t.Setenv(CellsEnv, cells)
	choice := "auto"
	if home() != "cpu" { // the tests run elsewhere
		choice = home()
	}
	root := NewScope(Record(Decisions), On(choice))
	defer root.Close()
	w := From([]float32{1, 2}, 1, 2).SetName("fc.weight").RequireGrad()
	x := From([]float32{3, 4}, 1, 2)
	for s := range root.Steps(2) {
		half := s.Autocast(Float16).In("net")
		Sum(half, Linear(half, x, w, nil)).Backward()
		w.ZeroGrad()
	}
	tr := root.Trace()
	if tr.Steps != 2 || tr.Level != "decisions" || choice == "auto" && !strings.Contains(tr.Note, "auto: cpu") {
		t.Errorf("%+v", tr)
	}
	var kinds []string
	for i, e := range tr.Events {
		if e.Seq != i || e.Func == "" || !strings.HasSuffix(e.File, "trace_test.go") || e.Line == 0 {
			t.Errorf("event %d: %+v", i, e)
		}
		if e.Step == 0 {
			kinds = append(kinds, fmt.Sprintf("%s %s %s %v>%v", e.Phase, e.Module, e.Op, e.In[0].DType, e.Out.DType))
		}
	}
	want := []string{
		"forward net cast float32>float16", "forward net cast float32>float16",
		"forward net linear float32>float16", "forward net sum float16>float32",
		"backward net reshape float32>float32", "backward net expand float32>float32", "backward net cast float32>float16",
		"backward net transpose float16>float16", "backward net matmul float16>float16", "backward net cast float16>float32",
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(kinds, "\n"), strings.Join(want, "\n"))
	}
	c := tr.Events[1].Cast
	if c == nil || c.Name != "fc.weight" || c.By != "linear" || c.Operand != 1 || !c.Cached || c.Hit || c.Bytes != 2*4+2*2 {
		t.Errorf("cast of the weight: %+v", c)
	}
	var b bytes.Buffer
	if err := tr.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	back, err := ReadTrace(&b)
	if err != nil || len(back.Events) != len(tr.Events) || back.Events[2].Rule != tr.Events[2].Rule {
		t.Errorf("round trip: %v", err)
	}
	if _, err := ReadTrace(strings.NewReader(`{"schema":"halftone.trace/99"}`)); err == nil || !strings.Contains(err.Error(), "halftone.trace/99") {
		t.Error(err)
	}
}

// TestCellsAreFoundByText gives the resolver a compiled file whose lines moved and were reformatted.
func TestCellsAreFoundByText(t *testing.T) {
	dir := t.TempDir()
	compiled := filepath.Join(dir, "main.go")
	os.WriteFile(compiled, []byte("package main\n\nfunc helper() {\n\tdo(1)\n}\n\nfunc main() {\n\tflag.Parse()\n\tx := f(a, b)\n\tdo(1)\n\ty := g(x)\n}\n"), 0o600)
	cells := filepath.Join(dir, "cells")
	os.WriteFile(cells, cellsource.Encode([]cellsource.Cell{
		{Count: 2, Code: "func helper() {\ndo( 1 )\n}"},
		{Count: 5, Code: "%%\nx:=f(a,b)\ndo(1)\ny := g(x)"},
	}), 0o600)
	t.Setenv(CellsEnv, cells)
	src := newSources()
	for line, want := range map[int][2]int{4: {2, 2}, 9: {5, 2}, 10: {5, 3}, 11: {5, 4}, 8: {0, 0}, 99: {0, 0}} {
		cell, cellLine := src.cellOf(compiled, line)
		if cell != want[0] || cellLine != want[1] {
			t.Errorf("line %d: cell %d line %d, want %v", line, cell, cellLine, want)
		}
	}
	os.WriteFile(cells, []byte("damaged"), 0o600)
	if cell, _ := newSources().cellOf(compiled, 9); cell != 0 {
		t.Error("a damaged cell file gave a cell")
	}
}
