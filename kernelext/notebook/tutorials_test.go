package notebook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
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

// executions are the runs of tutorials, one each; all tests of a process share them.
var executions struct {
	sync.Mutex
	by map[string]*execution
}

type execution struct {
	ran
	err error
}

// executed runs a copy of a tutorial, once per process. It runs as `make notebooks` does, with the same bits on every CPU, so that
// what cells print can be held against what is saved; on one thread, since one that waits for another takes processor time too, the more
// the busier the machine is.
func executed(t *testing.T, path string) *execution {
	t.Helper()
	executions.Lock()
	defer executions.Unlock()
	e := executions.by[path]
	if e == nil {
		t.Setenv("HALFTONE_CPU", "reproducible")
		t.Setenv("HALFTONE_THREADS", "1")
		if strings.HasPrefix(filepath.Base(path), "09-") {
			buildEmulator(t)
		}
		e = &execution{}
		if kept := keptRun(path); kept != "" && exists(kept) {
			e.nb, e.size = load(t, kept)
		} else if e.ran, e.err = execute(t, path); e.err == nil && kept != "" {
			if err := os.WriteFile(kept, e.saved, 0o644); err != nil {
				t.Error(err)
			}
		}
		if executions.by == nil {
			executions.by = map[string]*execution{}
		}
		executions.by[path] = e
	}
	if e.err != nil {
		t.Fatalf("%v\n%s", e.err, e.text)
	}
	return e
}

// executedEnv names the folder in which the tests' runner keeps what tutorials put out, for a second run of tests on the same files.
const executedEnv = "HALFTONE_TEST_EXECUTED"

// keptRun is where that of a tutorial is kept, or "" where it is not.
func keptRun(path string) string {
	dir := os.Getenv(executedEnv)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, filepath.Base(path))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestTutorialsRun executes a copy of every tutorial through the installed kernel, from a clean one. A figure in the saved notebook
// must be in the executed one too, of the same kind and at the same place, and cells must print the same lines again, but for their
// numbers: a change of a kernel's last bits makes another number of a run that diverges. Those in the text are held against what was
// printed now. Cells tagged "volatile" print what is measured or depends on the machine.
func TestTutorialsRun(t *testing.T) {
	for _, path := range tutorials(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			e := executed(t, path)
			t.Logf("%v of processor time", e.cpu)
			if e.cpu > time.Minute { // of processor time, which other work on the machine does not stretch much
				t.Errorf("took %v of processor time; a tutorial takes less than a minute", e.cpu)
			}
			if e.size > 1<<20 {
				t.Errorf("%d bytes executed; a tutorial stays under 1 MB", e.size)
			}
			before, _ := load(t, path)
			for i, c := range before.Cells {
				again := e.nb.Cells[i]
				if got, want := figures(again.Outputs), figures(c.Outputs); !slices.Equal(got, want) {
					t.Errorf("cell %s shows %v, saved are %v: run `make notebooks`", c.ID, got, want)
				}
				if slices.Contains(tags(c.Metadata), "volatile") {
					continue
				}
				if got, want := streams(again.Outputs), streams(c.Outputs); skeleton(got) != skeleton(want) {
					t.Errorf("cell %s printed\n%s\nsaved is\n%s\nrun `make notebooks`", c.ID, got, want)
				}
			}
			checkNumbers(t, strings.TrimSuffix(filepath.Base(path), ".ipynb"), e.nb)
		})
	}
}

var anyNumber = regexp.MustCompile(`[-+]?(?:\d[\d.,]*(?:e[-+]?\d+)?|Inf|NaN)`)

// skeleton is a text without its numbers and the spaces that align them.
func skeleton(text string) string { return words(anyNumber.ReplaceAllString(text, "#")) }

// streams is what a cell printed.
func streams(outputs []output) string {
	var b strings.Builder
	for _, o := range outputs {
		if o.OutputType == "stream" {
			b.WriteString(strings.Join(o.Text, ""))
		}
	}
	return b.String()
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
			if first := firstCode(nb); !strings.Contains(first, "%amp version") || !strings.Contains(first, ".Device()") {
				t.Errorf("the first cell is to print the versions, the commit and the device: %q", first)
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
				if c.CellType == "code" && len(c.Outputs) == 0 && strings.Contains(strings.Join(c.Source, ""), "%%\n") {
					t.Errorf("cell %s is saved without outputs: run `make notebooks`", c.ID)
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

// firstCode is the source of the first code cell.
func firstCode(nb saved) string {
	for _, c := range nb.Cells {
		if c.CellType == "code" {
			return strings.Join(c.Source, "")
		}
	}
	return ""
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
