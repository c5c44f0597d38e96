package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// losses makes a figure whose numbers hang on last.
func losses(last float64) *widgets.Figure {
	return widgets.Compare(
		widgets.Run{Name: "float32", Loss: []float64{3, 2, 1}},
		widgets.Run{Name: "float16", DType: amp.Float16, Loss: []float64{3, 2, last}})
}

// writeNotebook writes a notebook whose only cell shows figures.
func writeNotebook(t *testing.T, path, source string, figures ...*widgets.Figure) {
	t.Helper()
	var outputs []any
	for _, f := range figures {
		outputs = append(outputs, map[string]any{"output_type": "display_data", "metadata": map[string]any{}, "data": map[string]any{widgets.MIME: f}})
	}
	nb := map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}, "cells": []any{
		map[string]any{"cell_type": "markdown", "id": "a", "metadata": map[string]any{}, "source": "# Title"},
		map[string]any{"cell_type": "code", "id": "b", "metadata": map[string]any{}, "execution_count": 1, "source": strings.SplitAfter(source, "\n"), "outputs": outputs},
	}}
	b, err := json.Marshal(nb)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// computes is an Execute that leaves a notebook with given figures, and keeps the environment it was given.
func computes(t *testing.T, source string, env *[]string, figures ...*widgets.Figure) Execute {
	return func(_ context.Context, _, output string, e []string) error {
		if env != nil {
			*env = e
		}
		writeNotebook(t, output, source, figures...)
		return nil
	}
}

const source = "%%\n// amp.Seed(9) is a comment\nroot := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))\nr := rand.New(rand.NewPCG(2, seed(3)))\n" +
	"b, err := os.ReadFile(\"data/points.csv\")\nos.ReadFile(\"/etc/passwd\")\n"

var machine = Versions{Commit: "abc", Source: "s1", Go: "go1.26.8", Kernels: "amd64/avx512", Device: "cpu"}

// packed makes a package in a new folder.
func packed(t *testing.T, o PackOptions, here Versions) (string, *Record, []string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "run.ipynb")
	writeNotebook(t, path, source)
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "points.csv"), []byte("1,2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o.Output = filepath.Join(dir, "out")
	rec, notes, err := Pack(t.Context(), path, o, here, computes(t, source, nil, losses(1)))
	if err != nil {
		t.Fatal(err)
	}
	return o.Output, rec, notes
}

func TestPackRecordsWhatReproduces(t *testing.T) {
	t.Setenv("HALFTONE_STEPS", "7")
	dir, rec, notes := packed(t, PackOptions{}, machine)
	loaded, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(rec)
	if b, _ := json.Marshal(loaded); string(a) != string(b) {
		t.Errorf("saved as\n%s\nread back as\n%s", a, b)
	}
	if want := []Seed{{2, "amp.Seed(1)"}, {2, "rand.NewPCG(2, seed(3))"}}; !reflect.DeepEqual(rec.Seeds, want) {
		t.Errorf("seeds %v, want %v", rec.Seeds, want)
	}
	const sum = "bf0be7ba12f7a9e1a8b8a5db5a56a2ef50ea8d25b8ff1dd9df1ccfaa1d2c2f03"
	if len(rec.Data) != 1 || rec.Data[0].Path != "data/points.csv" || rec.Data[0].Bytes != 4 || len(rec.Data[0].SHA256) != len(sum) {
		t.Errorf("data %+v", rec.Data)
	}
	if rec.Made.Kernels != Reproducible || rec.Made.Commit != "abc" || rec.Settings["HALFTONE_STEPS"] != "7" || rec.Settings["HALFTONE_HOME"] != "" {
		t.Errorf("%+v", rec)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "/etc/passwd") {
		t.Errorf("notes %q: one says that /etc/passwd was left out", notes)
	}
	for _, name := range []string{"run.ipynb", "data/points.csv", "Dockerfile", "README.md", RecordName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "README.md")); !strings.Contains(string(b), "# run.ipynb") || strings.Contains(string(b), "{{") {
		t.Errorf("README.md:\n%s", b)
	}
}

// TestPackTakesDataAsCellsFindIt: a notebook that writes a file which it reads is packed with what it read.
func TestPackTakesDataAsCellsFindIt(t *testing.T) {
	dir := t.TempDir()
	path, data := filepath.Join(dir, "run.ipynb"), filepath.Join(dir, "weights.bin")
	writeNotebook(t, path, "%%\nb, _ := os.ReadFile(\"weights.bin\")")
	if err := os.WriteFile(data, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := PackOptions{Output: filepath.Join(dir, "out")}
	rec, _, err := Pack(t.Context(), path, o, machine, func(ctx context.Context, path, output string, env []string) error {
		if err := os.WriteFile(data, []byte("after"), 0o644); err != nil {
			t.Error(err)
		}
		return computes(t, source, nil, losses(1))(ctx, path, output, env)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := describeAs(t.Context(), o.Output, rec.Data[0]); err != nil || got != rec.Data[0] {
		t.Errorf("packed %+v, recorded %+v: %v", got, rec.Data[0], err)
	}
}

func TestPackKeepsWhatIsThere(t *testing.T) {
	dir, _, _ := packed(t, PackOptions{}, machine)
	_, _, err := Pack(t.Context(), filepath.Join(filepath.Dir(dir), "run.ipynb"), PackOptions{Output: dir}, machine, computes(t, source, nil, losses(1)))
	if err == nil || !strings.Contains(err.Error(), "--output") {
		t.Errorf("packed over a package: %v", err)
	}
	out := filepath.Join(t.TempDir(), "out")
	boom := errors.New("cell 2 failed")
	_, _, err = Pack(t.Context(), filepath.Join(filepath.Dir(dir), "run.ipynb"), PackOptions{Output: out}, machine,
		func(context.Context, string, string, []string) error { return boom })
	if !errors.Is(err, boom) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(out + "*"); len(left) > 0 {
		t.Errorf("a failed run left %v", left)
	}
	_, _, err = Pack(t.Context(), filepath.Join(filepath.Dir(dir), "run.ipynb"), PackOptions{Output: out, Data: []string{"../secret"}}, machine, computes(t, source, nil, losses(1)))
	if err == nil || !strings.Contains(err.Error(), "../secret") {
		t.Errorf("packed what lies elsewhere: %v", err)
	}
}

// TestPackSparesNeighbours: whatever lies beside the folder that is made, or has its name, is the user's.
func TestPackSparesNeighbours(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.ipynb")
	writeNotebook(t, path, source)
	mine := filepath.Join(dir, "out.new", "thesis.tex")
	must(t, os.Mkdir(filepath.Dir(mine), 0o755))
	must(t, os.WriteFile(mine, []byte("years of work"), 0o644))
	run := computes(t, source, nil, losses(1))
	if _, _, err := Pack(t.Context(), path, PackOptions{Output: mine}, machine, run); err == nil || !strings.Contains(err.Error(), "is a file") {
		t.Errorf("packed over a file: %v", err)
	}
	// Another share into the same folder begins and ends while this one runs.
	output := filepath.Join(dir, "out")
	var other error
	_, _, err := Pack(t.Context(), path, PackOptions{Output: output}, machine, func(ctx context.Context, path, to string, env []string) error {
		_, _, other = Pack(ctx, path, PackOptions{Output: output}, machine, run)
		return run(ctx, path, to, env)
	})
	if other != nil || err == nil || !strings.Contains(err.Error(), "meanwhile") {
		t.Errorf("the share within: %v; the one around: %v", other, err)
	}
	if _, err := Load(output); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(mine); err != nil || len(b) == 0 {
		t.Errorf("the user's file: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "out*")); len(left) != 2 {
		t.Errorf("left %v", left)
	}
}

// TestVerifyFinds walks what may be other than recorded, and what the report must say.
func TestVerifyFinds(t *testing.T) {
	elsewhere := machine
	elsewhere.Kernels = "arm64/generic"
	newer := machine
	newer.Source, newer.Commit, newer.Go = "s2", "def", "go1.27"
	gpu := machine
	gpu.Device = "cuda"
	for _, c := range []struct {
		name   string
		native bool
		here   Versions
		last   float64 // loss that this machine computes
		change func(t *testing.T, dir string)
		exact  bool
		ok     bool
		says   string
	}{
		{"same", false, machine, 1, nil, true, true, "HALFTONE_CPU=reproducible"},
		{"same on another processor", false, elsewhere, 1, nil, true, true, "HALFTONE_CPU=reproducible"},
		{"one bit", false, machine, 1 + 0x1p-20, nil, true, false, "data.runs[1]"},
		{"native, same processor", true, machine, 1, nil, true, true, "amd64/avx512"},
		{"native, one bit", true, machine, 1 + 0x1p-20, nil, true, false, "data.runs[1]"},
		{"native, another processor, one bit", true, elsewhere, 1 + 0x1p-20, nil, false, true, "arm64/generic"},
		{"native, another processor, another result", true, elsewhere, 2, nil, false, false, "data.runs[1].diff[2] is 1, expected 0"},
		{"with a GPU", false, gpu, 1, nil, false, true, "computed on cpu"},
		{"another version", false, newer, 1, nil, true, true, "check out that commit"},
		{"another Go", false, newer, 1, nil, true, true, "Go was go1.26.8 then and is go1.27 here"},
		{"edited data", false, machine, 1, func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "data/points.csv"), []byte("1,3\n"), 0o644))
		}, true, false, "data/points.csv is not the file that was packed"},
		{"no data", false, machine, 1, func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "data/points.csv"))) }, true, false, "cannot be read"},
		{"edited cells", false, machine, 1, func(t *testing.T, dir string) {
			writeNotebook(t, filepath.Join(dir, "run.ipynb"), source+"\nx := 1\n")
		}, true, true, "its cells were edited"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, _, _ := packed(t, PackOptions{Native: c.native}, machine)
			if c.change != nil {
				c.change(t, dir)
			}
			paths, err := Notebooks(dir)
			must(t, err)
			rec, err := RecordOf(paths[0])
			must(t, err)
			var env []string
			r, err := Verify(t.Context(), paths[0], rec, c.here, computes(t, source, &env, losses(c.last)))
			must(t, err)
			var text strings.Builder
			r.Print(&text)
			if r.OK() != c.ok || r.Exact != c.exact || !strings.Contains(text.String(), c.says) {
				t.Errorf("ok %v, exact %v; want %v, %v and %q in\n%s", r.OK(), r.Exact, c.ok, c.exact, c.says, text.String())
			}
			if slices.Contains(env, "HALFTONE_CPU=reproducible") == c.native {
				t.Errorf("environment %q", env)
			}
		})
	}
}

func TestVerifySeesFiguresComeAndGo(t *testing.T) {
	dir, rec, _ := packed(t, PackOptions{}, machine)
	path := filepath.Join(dir, "run.ipynb")
	for _, shown := range [][]*widgets.Figure{{}, {losses(1), losses(1)}} {
		r, err := Verify(t.Context(), path, rec, machine, computes(t, source, nil, shown...))
		must(t, err)
		if r.OK() {
			t.Errorf("%d figures for 1 are taken as expected", len(shown))
		}
	}
}

func TestSavedNotebookIsComparedWithItself(t *testing.T) {
	t.Setenv("HALFTONE_CPU", "")
	dir := t.TempDir()
	path := filepath.Join(dir, "plain.ipynb")
	writeNotebook(t, path, source, losses(1))
	rec, err := RecordOf(path)
	must(t, err)
	var env []string
	r, err := Verify(t.Context(), path, rec, machine, computes(t, source, &env, losses(1.001)))
	must(t, err)
	if !slices.Equal(env, []string{"HALFTONE_CPU=reproducible"}) {
		t.Errorf("environment %q", env)
	}
	if !r.OK() || r.Exact || r.Figures[0].Identical || len(r.Notes) > 0 {
		t.Errorf("%+v", r)
	}
	writeNotebook(t, path, source)
	rec, err = RecordOf(path)
	must(t, err)
	r, err = Verify(t.Context(), path, rec, machine, computes(t, source, nil, losses(1)))
	must(t, err)
	if !r.OK() || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "--inplace") {
		t.Errorf("a notebook without figures: %+v", r)
	}
}

// TestLoadRefuses gives records that others may have written.
func TestLoadRefuses(t *testing.T) {
	for text, says := range map[string]string{
		`{`:                             "damaged",
		`{"schema":"halftone.share/9"}`: "halftone.share/9",
		`{"schema":"halftone.share/1","notebook":"../x.ipynb"}`:                                "not in its folder",
		`{"schema":"halftone.share/1","notebook":"x.sh"}`:                                      "no notebook",
		`{"schema":"halftone.share/1","notebook":"x.ipynb","data":[{"path":"/etc/passwd"}]}`:   "not in its folder",
		`{"schema":"halftone.share/1","notebook":"x.ipynb","figures":[{"cell":1}]}`:            "figure 1 is empty",
		`{"schema":"halftone.share/1","notebook":"x.ipynb","figures":[{"cell":1,"figure":3}]}`: "damaged",
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, RecordName), []byte(text), 0o644))
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	if _, err := Notebooks(t.TempDir()); err == nil || !strings.Contains(err.Error(), "name one") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := Notebooks(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that is not there")
	}
}

func TestDifferenceShowsWhereTextsPart(t *testing.T) {
	c := &comparer{limit: 1}
	c.differ("alt", strings.Repeat("a", 200)+"b", strings.Repeat("a", 200)+"c")
	if want := `"…` + strings.Repeat("a", 24) + `b"`; c.found[0].Want != want {
		t.Errorf("%q, want %q", c.found[0].Want, want)
	}
}

func TestTolerance(t *testing.T) {
	c := func(t *Tolerance) *comparer { return &comparer{within: t, limit: 10} }
	for _, k := range []struct {
		a, b  string
		loose bool
	}{
		{"float16 ends within 0.04% of float32", "float16 ends within 0.05% of float32", true},
		{"float16 ends 4% above", "float16 ends 5% above", true},
		{"float16 ends 4% above", "float16 ends 400% above", false},
		{"float16 ends 4% above", "float16 ends 4% below", false},
		{"Steady at 65,536 since step 3", "Steady at 65,536 since step 3", true},
		{"Steady at 65,536 since step 3", "Steady at 32,768 since step 3", false},
		{"Steady", "Collapsing", false}, {widgets.RunSame, widgets.RunClose, true}, {widgets.RunSame, widgets.RunHigher, false},
	} {
		if got := k.a == k.b || c(&Loose).sameText(k.a, k.b); got != k.loose {
			t.Errorf("%q and %q: %v", k.a, k.b, got)
		}
		if k.a != k.b && c(nil).sameText(k.a, k.b) {
			t.Errorf("%q and %q are taken as the same", k.a, k.b)
		}
	}
	for i, k := range []struct {
		name        string
		a, b, scale float64
		near        bool
	}{
		{"final", 1, 1.01, 0, true}, {"final", 1, 1.05, 0, false}, {"loss", 0.001, 0.002, 1, true}, {"loss", 0.001, 0.002, 0.001, false},
		{"diff", 0.001, 0.015, 0, true}, {"diff", 0.001, 0.05, 0, false}, {"final", 1, 2, 0, false},
		{"final", 2e-6, 1e-6, 0, false},
	} {
		if c(&Loose).near(k.name, k.a, k.b, k.scale) != k.near {
			t.Errorf("%d: %+v", i, k)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ExampleCompare() {
	want := widgets.Compare(widgets.Run{Name: "float32", Loss: []float64{2, 1}})
	got := widgets.Compare(widgets.Run{Name: "float32", Loss: []float64{2, 1.25}})
	found, _ := Compare(want, got, &Loose, 1)
	fmt.Println(found[0])
	// Output: data.runs[0].best is 1.25, expected 1
}

// TestRecordSetsOnlyItsOwnVariables: a record that was received is no way to set PATH, or where Halftone is.
func TestRecordSetsOnlyItsOwnVariables(t *testing.T) {
	for name, ok := range map[string]bool{"HALFTONE_STEPS": true, "HALFTONE_CPU": true, "HALFTONE_HOME": false, "PATH": false, "LD_PRELOAD": false, "GOFLAGS": false,
		"HALFTONE_": false, "HALFTONE_X=1\nPATH": false, "": false} {
		dir, rec, _ := packed(t, PackOptions{}, machine)
		rec.Settings = map[string]string{name: "x"}
		must(t, rec.Save(dir))
		_, err := Load(dir)
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
