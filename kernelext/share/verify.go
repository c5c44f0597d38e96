package share

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

// Execute runs the notebook at path, with env added to its environment, and writes the executed one to output.
type Execute func(ctx context.Context, path, output string, env []string) error

// A Report says how a notebook that was executed again compares with its record.
type Report struct {
	Notebook string   `json:"notebook"`
	Exact    bool     `json:"exact"` // compared to the last bit
	Why      string   `json:"why"`   // why so, or why within tolerances
	Notes    []string `json:"notes"` // what is another than when the record was made
	Problems []string `json:"problems"`
	Figures  []Result `json:"figures"`
}

// A Result is about one figure.
type Result struct {
	Cell        int          `json:"cell"`
	Kind        string       `json:"kind"`
	Title       string       `json:"title"`
	Identical   bool         `json:"identical"`             // to the last bit
	Differences []Difference `json:"differences,omitempty"` // beyond what is allowed, the first ones
}

// maxDifferences is how many places of one figure a report names.
const maxDifferences = 8

// OK tells whether nothing differs that may not.
func (r *Report) OK() bool { return len(r.Problems) == 0 && r.Failed() == 0 }

// Failed counts the figures that differ.
func (r *Report) Failed() int {
	n := 0
	for _, f := range r.Figures {
		if len(f.Differences) > 0 {
			n++
		}
	}
	return n
}

// Verify executes the notebook that lies at path and compares it with rec. Its error is about executing; what differs is in the report.
func Verify(ctx context.Context, path string, rec *Record, here Versions, run Execute) (*Report, error) {
	dir := filepath.Dir(path)
	r := &Report{Notebook: path, Notes: []string{}, Problems: []string{}, Figures: []Result{}}
	if r.checkData(ctx, dir, rec); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	nb, err := readNotebook(path)
	if err != nil {
		return nil, err
	}
	if nb.hash() != rec.Cells {
		r.Notes = append(r.Notes, "its cells were edited after it was packed, so its results may be others: pack it again with `halftone share`")
	}
	if len(rec.Figures) == 0 {
		r.Notes = append(r.Notes, "it has no figures saved, so there is nothing to compare with: it was executed to its end; `halftone run --inplace` saves figures")
	}
	if rec.Made.Source != "" {
		r.Notes = append(r.Notes, changes(rec.Made, here)...)
	}
	var env []string
	for name, value := range rec.Settings {
		env = append(env, name+"="+value)
	}
	r.Exact, r.Why = exact(rec.Made, here)
	// What computed a notebook that was never packed is not known: these kernels at least are the same wherever it is verified.
	if unknown := rec.Made.Kernels == "" && os.Getenv("HALFTONE_CPU") == ""; unknown || rec.Made.Kernels == Reproducible {
		env = append(env, "HALFTONE_CPU="+Reproducible)
	}
	tmp, err := os.MkdirTemp("", "halftone-verify")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	output := filepath.Join(tmp, filepath.Base(path))
	if err := run(ctx, path, output, env); err != nil {
		return nil, err
	}
	got, err := widgets.LoadSaved(output)
	if err != nil {
		return nil, err
	}
	ran, err := readNotebook(output)
	if err != nil {
		return nil, err
	}
	return r, r.compare(rec.Figures, got, locator{want: rec.counted, got: ran.executed()})
}

// checkData compares the files that cells read.
func (r *Report) checkData(ctx context.Context, dir string, rec *Record) {
	for _, want := range rec.Data {
		got, err := describeAs(ctx, dir, want)
		switch {
		case err != nil:
			r.Problems = append(r.Problems, fmt.Sprintf("%s, which its cells read, cannot be read: %v", want.Path, err))
		case got.Bytes != want.Bytes:
			r.Problems = append(r.Problems, fmt.Sprintf("%s is not the file that was packed: it has %d bytes, expected %d", want.Path, got.Bytes, want.Bytes))
		case got.SHA256 != want.SHA256:
			r.Problems = append(r.Problems, fmt.Sprintf("%s is not the file that was packed: %d bytes with SHA-256 %.12s…, expected %d bytes with %.12s…",
				want.Path, got.Bytes, got.SHA256, want.Bytes, want.SHA256))
		}
	}
}

// changes lists the versions that are not those of the record.
func changes(then, now Versions) []string {
	var all []string
	if then.Source != now.Source {
		all = append(all, fmt.Sprintf("it was packed with Halftone at commit %s (sources %s), and this is commit %s (sources %s): for the same results check out that commit",
			orUnknown(then.Commit), orUnknown(then.Source), orUnknown(now.Commit), orUnknown(now.Source)))
	}
	for _, v := range []struct{ name, then, now string }{
		{"Go", then.Go, now.Go}, {"GoNB", then.GoNB, now.GoNB}, {"JupyterLab", then.JupyterLab, now.JupyterLab}, {"Python", then.Python, now.Python},
	} {
		if v.then != v.now && v.then != "" {
			all = append(all, fmt.Sprintf("%s was %s then and is %s here", v.name, v.then, orUnknown(v.now)))
		}
	}
	return all
}

// exact tells whether the same bits can be asked for, and why.
func exact(then, now Versions) (bool, string) {
	switch {
	case then.Kernels == "":
		return false, "it was not packed with `halftone share`, so it is not known what computed the saved figures"
	case then.Device != now.Device:
		return false, fmt.Sprintf("it was computed on %s, and this machine computes on %s", then.Device, now.Device)
	case then.Device != "cpu":
		return false, "it was computed on a GPU, and GPUs of other kinds sum in other orders"
	case then.Kernels == Reproducible:
		return true, "HALFTONE_CPU=reproducible gives the same bits on every machine"
	case then.Kernels == now.Kernels:
		return true, "this processor computes as the recorded one, with " + now.Kernels
	}
	return false, fmt.Sprintf("it was computed with %s, and this processor computes with %s", then.Kernels, now.Kernels)
}

// place is where a figure stands: its cell, and the how manieth it is there.
type place struct{ cell, index int }

// compare pairs figures by their places.
func (r *Report) compare(want []Expected, got []widgets.Saved, where locator) error {
	within := &Loose
	if r.Exact {
		within = nil
	}
	have, count := map[place]*widgets.Figure{}, map[int]int{}
	for _, s := range got {
		have[place{s.Cell, count[s.Cell]}] = s.Figure
		count[s.Cell]++
	}
	seen := map[int]int{}
	for _, w := range want {
		at := place{w.Cell, seen[w.Cell]}
		seen[w.Cell]++
		f := have[at]
		delete(have, at)
		result := Result{Cell: w.Cell, Kind: w.Figure.Kind, Title: w.Figure.Title}
		if f == nil {
			result.Differences = []Difference{{Path: "figure", Want: fmt.Sprintf("%q", w.Figure.Title), Got: "missing"}}
		} else {
			where.own = w.Cell
			exactly, err := compare(w.Figure, f, nil, where, maxDifferences)
			if err != nil {
				return err
			}
			if result.Identical = len(exactly) == 0; !result.Identical {
				if result.Differences, err = compare(w.Figure, f, within, where, maxDifferences); err != nil {
					return err
				}
			}
		}
		r.Figures = append(r.Figures, result)
	}
	if len(want) == 0 {
		return nil
	}
	for at, f := range have {
		r.Problems = append(r.Problems, fmt.Sprintf("cell %d shows a figure that was not there: %s", at.cell, f.Title))
	}
	return nil
}

// Print writes the report for a terminal.
func (r *Report) Print(w io.Writer) {
	how := "within tolerances"
	if r.Exact {
		how = "bit for bit"
	}
	fmt.Fprintf(w, "%s\n  compared %s: %s\n", r.Notebook, how, r.Why)
	if !r.Exact {
		fmt.Fprintf(w, "  numbers may differ by %g %%, relative differences by %g\n", Loose.Relative*100, Loose.Share)
	}
	for _, s := range r.Notes {
		fmt.Fprintf(w, "  note: %s\n", s)
	}
	for _, f := range r.Figures {
		what := "the same to the last bit"
		switch {
		case len(f.Differences) > 0:
			what = "DIFFERS"
		case !f.Identical:
			what = "agrees"
		}
		fmt.Fprintf(w, "  cell %-3d %-14s %-26s %s\n", f.Cell, f.Kind, what, f.Title)
		for _, d := range f.Differences {
			fmt.Fprintf(w, "      %s\n", d)
		}
		if len(f.Differences) == maxDifferences {
			fmt.Fprintf(w, "      … and perhaps more\n")
		}
	}
	for _, s := range r.Problems {
		fmt.Fprintf(w, "  PROBLEM: %s\n", strings.TrimSpace(s))
	}
	fmt.Fprintf(w, "  %d of %d figures as expected\n", len(r.Figures)-r.Failed(), len(r.Figures))
}
