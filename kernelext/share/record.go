package share

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

// Schema names the form of a [Record]; readers refuse what they do not know.
const Schema = "halftone.share/1"

// RecordName is the file that stands beside a packed notebook.
const RecordName = "halftone.json"

// Reproducible is the name of the kernels that give the same bits on every machine, and the value of HALFTONE_CPU that chooses them.
const Reproducible = "reproducible"

// A Record is what reproduces one notebook.
type Record struct {
	Schema   string `json:"schema"`
	Notebook string `json:"notebook"` // its file name
	Cells    string `json:"cells"`    // SHA-256 over the sources of its code cells

	Made     Versions          `json:"made"`               // what executed it
	Settings map[string]string `json:"settings,omitempty"` // HALFTONE_… variables that cells saw
	Seeds    []Seed            `json:"seeds"`              // in the order of the cells
	Data     []File            `json:"data,omitempty"`     // what its cells read, relative to the notebook
	Figures  []Expected        `json:"figures"`            // in the order of the notebook

	// counted are the execution counts of a notebook that was not packed. One that was packed ran from its first cell to its last, as it
	// does when it is verified, so its counts can be compared as they are.
	counted executed
}

// Versions are the parts that make results.
type Versions struct {
	Commit     string `json:"commit,omitempty"` // of Halftone; "" where it was not known
	Source     string `json:"source"`           // fingerprint of Halftone's sources
	Go         string `json:"go"`
	GoNB       string `json:"gonb,omitempty"`
	JupyterLab string `json:"jupyterlab,omitempty"`
	Python     string `json:"python,omitempty"`
	Kernels    string `json:"kernels"` // amp.CPUKernels of the cells: "reproducible" or an instruction set
	Device     string `json:"device"`  // "cpu", or "cuda" where a driver was and cells may have used it
}

// A Seed is where a cell sets one.
type Seed struct {
	Cell int    `json:"cell"` // number in the notebook, from 1
	Code string `json:"code"` // e.g. "amp.Seed(1)"
}

// A File is one that cells read.
type File struct {
	Path   string `json:"path"` // with slashes, below the notebook's folder
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// An Expected figure is what a cell showed, without its measurements.
type Expected struct {
	Cell   int             `json:"cell"` // number in the notebook, from 1
	Figure *widgets.Figure `json:"figure"`
}

// Load reads the record of a folder. A folder without one gives an error that wraps fs.ErrNotExist.
func Load(dir string) (*Record, error) {
	path := filepath.Join(dir, RecordName)
	b, err := readFile(path, widgets.MaxNotebook)
	if err != nil {
		return nil, err
	}
	r := new(Record)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s is damaged (%w): pack the notebook again with `halftone share`", path, err)
	}
	return r, r.check(path)
}

// check refuses records of another version and names that lead out of the folder.
func (r *Record) check(path string) error {
	if r.Schema != Schema {
		return fmt.Errorf("%s is of schema %q, and this Halftone reads %q: use the version that packed it (commit %s), or pack it again", path, r.Schema, Schema, orUnknown(r.Made.Commit))
	}
	names := []string{r.Notebook}
	for _, f := range r.Data {
		names = append(names, f.Path)
	}
	for _, name := range names {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("%s names %q, which is not in its folder: it was not made by `halftone share`", path, name)
		}
	}
	for name, value := range r.Settings {
		if !isSetting(name) || strings.ContainsRune(value, 0) {
			return fmt.Errorf("%s sets the environment variable %q, and only HALFTONE_ variables that say how cells compute are taken from it: remove it from there if you trust the rest", path, name)
		}
	}
	if !strings.HasSuffix(r.Notebook, ".ipynb") {
		return fmt.Errorf("%s names %q, which is no notebook", path, r.Notebook)
	}
	for i, f := range r.Figures {
		if f.Figure == nil {
			return fmt.Errorf("%s: figure %d is empty: pack the notebook again with `halftone share`", path, i+1)
		}
	}
	return nil
}

// Save writes the record into a folder.
func (r *Record) Save(dir string) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, RecordName), append(b, '\n'), 0o644)
}

// Saved makes a record of what a notebook has saved, for one that was never packed. What computed it is not known, so its
// numbers can be compared only within tolerances. One that has saved no figures can only be executed.
func Saved(path string) (*Record, error) {
	saved, err := widgets.LoadSaved(path)
	if err != nil {
		return nil, err
	}
	nb, err := readNotebook(path)
	if err != nil {
		return nil, err
	}
	return &Record{Schema: Schema, Notebook: filepath.Base(path), Cells: nb.hash(), Seeds: nb.seeds(), Figures: expected(saved), counted: nb.executed()}, nil
}

func expected(saved []widgets.Saved) []Expected {
	all := make([]Expected, len(saved))
	for i, s := range saved {
		all[i] = Expected{Cell: s.Cell, Figure: s.Figure.Stable()}
	}
	return all
}

// missing tells whether there is no record.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func orUnknown(s string) string {
	if s == "" {
		return "not recorded"
	}
	return s
}
