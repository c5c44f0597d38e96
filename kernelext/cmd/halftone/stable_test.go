package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
	"github.com/halftone-ml/halftone/widgets"
)

// figure shows a figure whose measurements differ in every run; ops is what it says otherwise.
func figure(op string) cell {
	return cell{code: `import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

%%
t := &amp.Trace{Schema: amp.TraceSchema, Level: "decisions", Device: "cpu", WallNS: time.Now().UnixNano() % 1e9, OverheadNS: 1000,
	Events: []amp.Event{{Step: -1, Phase: amp.PhaseForward, Op: "` + op + `", Module: "net/0", Class: "lower", Rule: "GEMM",
		Compute: amp.Float16, Autocast: amp.Float16, NS: time.Now().UnixNano() % 1e6}}}
widgets.Show(widgets.Decisions(t))`}
}

// figureOf returns the figure that a notebook's cell shows, and the faces beside it.
func figureOf(t *testing.T, path, id string) (fig map[string]any, data map[string]any) {
	t.Helper()
	var nb struct {
		Cells []struct {
			ID      string
			Outputs []struct{ Data map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(read(t, path)), &nb); err != nil {
		t.Fatal(err)
	}
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			if f, ok := o.Data[widgets.MIME].(map[string]any); ok && c.ID == id {
				return f, o.Data
			}
		}
	}
	t.Fatalf("no figure in cell %s of\n%s", id, read(t, path))
	return nil, nil
}

func TestWrittenNotebookIsTheSameOnEveryRun(t *testing.T) {
	l, _ := testenv.Installed(t)
	path := writeNotebook(t, cell{markdown: "# Title\n\ntext"}, hello,
		cell{code: "%%\npanic(\"on purpose\")", tags: []string{"raises-exception"}},
		cell{code: "%%\nvar unused int", tags: []string{"raises-exception"}}, figure("matmul"))
	if r := halftone(t, l, "run", "--inplace", path); r.code != 0 {
		t.Fatal(r.stderr)
	}
	first := read(t, path)
	if r := halftone(t, l, "run", "--inplace", "--stable", path); r.code != 0 {
		t.Fatal(r.stderr)
	}
	second := read(t, path)
	if first != second {
		t.Errorf("the second run wrote something else:\n%s", diff(first, second))
	}
	var nb struct {
		Cells []struct {
			ID       string
			Metadata map[string]any
		}
		Metadata map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(second), &nb); err != nil {
		t.Fatal(err)
	}
	if nb.Cells[1].ID != "cell-1" {
		t.Errorf("cell ids are not kept: %s", nb.Cells[1].ID)
	}
	for _, c := range nb.Cells {
		if c.Metadata["execution"] != nil {
			t.Errorf("cell %s has execution times", c.ID)
		}
	}
	if nb.Metadata["kernelspec"]["name"] != "halftone" || strings.Count(fmt.Sprint(nb.Metadata["language_info"]["version"]), ".") != 1 || nb.Metadata["language_info"]["name"] != "go" {
		t.Errorf("metadata is %v", nb.Metadata)
	}
	if !strings.HasSuffix(second, "}\n") || !strings.HasPrefix(second, "{\n \"cells\": [\n") {
		t.Error("not written as nbformat writes")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.new")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestStableKeepsMeasurementsOnlyOfUnchangedFigures(t *testing.T) {
	l, _ := testenv.Installed(t)
	path := writeNotebook(t, figure("matmul"))
	run := func(args ...string) (any, string) {
		t.Helper()
		if r := halftone(t, l, append([]string{"run", "--inplace"}, append(args, path)...)...); r.code != 0 {
			t.Fatal(r.stderr)
		}
		fig, data := figureOf(t, path, "cell-0")
		if fig["volatile"] == nil {
			t.Fatalf("the figure has no measurements: %v", fig)
		}
		v, _ := json.Marshal(fig["volatile"])
		for _, face := range []string{"text/plain", "text/html", "image/svg+xml", "image/png"} {
			if data[face] == nil {
				t.Errorf("the figure lacks %s", face)
			}
		}
		return string(v), read(t, path)
	}
	v1, _ := run()
	v2, text2 := run()
	if v1 == v2 {
		t.Fatal("measurements do not differ between runs: this test cannot see anything")
	}
	v3, text3 := run("--stable")
	if v3 != v2 || text3 != text2 {
		t.Errorf("--stable wrote something else:\n%s", diff(text2, text3))
	}
	// The cell now computes something else: new measurements go with it.
	edited := strings.ReplaceAll(text3, `Op: \"matmul\"`, `Op: \"softmax\"`)
	if edited == text3 {
		t.Fatal("cannot edit the cell")
	}
	if err := os.WriteFile(path, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	v4, text4 := run("--stable")
	if v4 == v3 || !strings.Contains(text4, `"softmax"`) {
		t.Errorf("an edited figure kept old measurements: %s", v4)
	}
}

// diff shows the lines in which two texts differ.
func diff(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	var out strings.Builder
	for i := range max(len(x), len(y)) {
		var p, q string
		if i < len(x) {
			p = x[i]
		}
		if i < len(y) {
			q = y[i]
		}
		if p != q {
			out.WriteString("- " + clip(p) + "\n+ " + clip(q) + "\n")
		}
		if out.Len() > 3000 {
			break
		}
	}
	return out.String()
}

func clip(s string) string {
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}
