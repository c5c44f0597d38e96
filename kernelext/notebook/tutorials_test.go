package notebook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
	"github.com/halftone-ml/halftone/widgets"
)

// An output is a display, a stream or an error.
type output struct {
	OutputType string `json:"output_type"`
	Data       map[string]any
	Text       []string
	Value      string `json:"evalue"`
	Traceback  []string
}

// A saved notebook, as far as these tests look at it.
type saved struct {
	Cells []struct {
		ID       string
		CellType string `json:"cell_type"`
		Metadata map[string]any
		Source   []string
		Outputs  []output
	}
	Metadata      map[string]map[string]any
	NBFormat      int `json:"nbformat"`
	NBFormatMinor int `json:"nbformat_minor"`
}

func load(t *testing.T, path string) (saved, int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var nb saved
	if err := json.Unmarshal(b, &nb); err != nil {
		t.Fatal(err)
	}
	return nb, len(b)
}

func tutorials(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(testenv.Checkout(t), "notebooks", "*.ipynb"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no tutorials: %v", err)
	}
	return found
}

// TestTutorialsRun executes a copy of every tutorial through the installed kernel. A figure in the saved notebook must be in
// the executed one too, of the same kind and at the same place.
func TestTutorialsRun(t *testing.T) {
	l, _ := testenv.Installed(t)
	for _, path := range tutorials(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), filepath.Base(path))
			began := time.Now()
			cmd := exec.Command(l.Halftone(), "run", "--output", out, path)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if d := time.Since(began); d > 2*time.Minute {
				t.Errorf("took %v; a tutorial runs within 2 minutes", d)
			}
			before, _ := load(t, path)
			after, size := load(t, out)
			if size > 1<<20 {
				t.Errorf("%d bytes executed; a tutorial stays under 1 MB", size)
			}
			for i, c := range before.Cells {
				if got, want := figures(after.Cells[i].Outputs), figures(c.Outputs); len(want) > 0 && !slices.Equal(got, want) {
					t.Errorf("cell %s shows %v, saved are %v", c.ID, got, want)
				}
			}
		})
	}
}

// figures returns the kinds of figures among outputs.
func figures(outputs []output) []string {
	var kinds []string
	for _, o := range outputs {
		if f, ok := o.Data[widgets.MIME].(map[string]any); ok {
			kind, _ := f["kind"].(string)
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// TestTutorialsAreSavedAsMakeNotebooksSaves finds notebooks that someone saved from JupyterLab instead.
func TestTutorialsAreSavedAsMakeNotebooksSaves(t *testing.T) {
	for _, path := range tutorials(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			nb, size := load(t, path)
			if size > 1<<20 {
				t.Errorf("%d bytes; a tutorial stays under 1 MB", size)
			}
			if nb.NBFormat != 4 || nb.NBFormatMinor != 5 {
				t.Errorf("notebook format %d.%d, want 4.5", nb.NBFormat, nb.NBFormatMinor)
			}
			// The language's version, without the toolchain's patch release, is the same on every machine.
			if nb.Metadata["kernelspec"]["name"] != "halftone" || strings.Count(fmt.Sprint(nb.Metadata["language_info"]["version"]), ".") != 1 {
				t.Errorf("metadata %v: run `make notebooks`", nb.Metadata)
			}
			seen := map[string]bool{}
			for i, c := range nb.Cells {
				if c.ID == "" || seen[c.ID] {
					t.Errorf("cell %d has the id %q of another, or none", i, c.ID)
				}
				seen[c.ID] = true
				if c.Metadata["execution"] != nil {
					t.Errorf("cell %s has execution times: run `make notebooks`", c.ID)
				}
				raises := slices.Contains(tags(c.Metadata), "raises-exception")
				for _, o := range c.Outputs {
					if o.OutputType == "error" && !raises {
						t.Errorf("cell %s is saved with an error", c.ID)
					}
				}
			}
		})
	}
}

func tags(metadata map[string]any) []string {
	var out []string
	list, _ := metadata["tags"].([]any)
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
