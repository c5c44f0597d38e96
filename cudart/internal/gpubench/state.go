package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/halftone-ml/halftone/internal/wholefile"
)

// A state is what a run has come to: it is written before and after each stage, so that one that is cut off loses that stage alone, and
// the next call goes on from there.
type state struct {
	Commit  string
	Device  device
	Found   []string // NVIDIA's libraries
	Peer    string   // PyTorch's version, or why there is none
	OnlyOne string   // why nothing ran beside another, "" where it may
	Began   string
	Calls   []string // command lines
	Entries []*entry // in the order of their last beginnings
	// Begun is how often a stage was begun, the number that its figures have: it goes on when a stage is run again and its entry begins anew, for
	// the figures of the last beginning are those that count.
	Begun   map[string]int
	dir     string
	planned []stage
	figures []figureOf
}

// A device is what the driver says of the GPU.
type device struct {
	Name, Driver, Capability string
	Memory                   uint64
	Emulated                 bool
}

// An entry is what one stage has come to.
type entry struct {
	Stage                   string
	Side                    side
	Status                  status
	Attempts                int // since it was last asked for
	Number                  int // how often it was begun
	Seconds                 float64
	Passed, Failed, Skipped int
	Why                     []string // tests skipped and failed, what a checker said, what was missing
}

type status string

const (
	running  status = "running"   // in a state that was read: it was cut off with the whole run
	done     status = "done"      // it ended well
	failed   status = "failed"    // it ended with an error; what it had said counts
	tooLong  status = "timed out" // it ran into its limit; what it had said counts
	cut      status = "cut off"   // the run ended first: it has another attempt
	missing  status = "missing"   // what it needs is not there
	attempts        = 2
)

// A figureOf is a figure, and whose.
type figureOf struct {
	Stage   string `json:"stage"`
	Side    side   `json:"side"`
	Attempt int    `json:"attempt"` // the entry's Number
	figure
}

func (st *state) path(name string) string { return filepath.Join(st.dir, name) }

// load reads the state in a folder; there may be none.
func load(dir string) (*state, error) {
	st := &state{dir: dir, Begun: map[string]int{}}
	text, err := os.ReadFile(st.path("state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return st, os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = json.Unmarshal(text, st)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; use another folder: -o", st.path("state.json"), err)
	}
	if st.Begun == nil {
		st.Begun = map[string]int{}
	}
	for _, e := range st.Entries {
		if e.Status == running {
			e.Status = cut
		}
	}
	return st, nil
}

// save writes the state and the report, each whole or not at all.
func (st *state) save() error {
	text, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		return err
	}
	if err := wholefile.Replace(st.path("state.json"), text, 0o644); err != nil {
		return err
	}
	if err := st.readFigures(); err != nil {
		return err
	}
	return wholefile.Replace(st.path("results.md"), st.report(), 0o644)
}

// readFigures reads what all stages have measured. A line that was cut off is none.
func (st *state) readFigures() error {
	st.figures = nil
	f, err := os.Open(st.path("figures.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	last := map[string]int{} // attempt by stage
	for in := bufio.NewScanner(f); in.Scan(); {
		var fig figureOf
		if json.Unmarshal(in.Bytes(), &fig) == nil && fig.Name != "" {
			st.figures = append(st.figures, fig)
			last[fig.Stage] = max(last[fig.Stage], fig.Attempt)
		}
	}
	st.figures = unchecked(slices.DeleteFunc(st.figures, func(f figureOf) bool { return f.Attempt < last[f.Stage] }))
	return nil
}

// entryOf returns a stage's entry, nil if it was never begun.
func (st *state) entryOf(stage string) *entry {
	for _, e := range st.Entries {
		if e.Stage == stage {
			return e
		}
	}
	return nil
}

// next returns the stage to run now: the first that was not begun, else one that was cut off, among those that usually fit into the time
// left. What is missing is looked for again by each call.
func (st *state) next(list []stage, fits func(stage) bool) (s stage, ok bool) {
	for _, again := range []bool{false, true} {
		for _, s := range list {
			if e := st.entryOf(s.name); st.isOpen(s) && (e == nil || again || s.first) && fits(s) {
				return s, true
			}
		}
	}
	return stage{}, false
}

// group is what to run now: the stage that is next, and if that is a test binary or a checker of one, those that may run beside it; if it
// takes turns, those that it takes them with.
func (st *state) group(list []stage, fits func(stage) bool) (group []stage) {
	at := slices.Clone(list)
	for {
		s, ok := st.next(at, func(s stage) bool {
			s.usual = st.usualOf(list, s)
			return fits(s)
		})
		if !ok || len(group) > 0 && !group[0].beside(s, len(group)) {
			return group
		}
		if group = append(group, s); s.together == 0 && s.turns == "" {
			return group
		}
		at = slices.DeleteFunc(at, func(o stage) bool { return o.name == s.name })
	}
}

// beside is whether another stage may run with this one and n-1 others.
func (s stage) beside(o stage, n int) bool {
	if s.turns != "" || o.turns != "" {
		return s.turns == o.turns
	}
	return s.side == o.side && n < s.together
}

// usualOf is the time that a stage usually takes, with those that it takes turns with.
func (st *state) usualOf(list []stage, s stage) (sum time.Duration) {
	if s.turns == "" {
		return s.usual
	}
	for _, o := range list {
		if o.turns == s.turns && o.lacks == "" && st.isOpen(o) {
			sum += o.usual
		}
	}
	return sum
}

// isOpen is whether a stage was not begun, or was cut off and has another attempt.
func (st *state) isOpen(s stage) bool {
	e := st.entryOf(s.name)
	return e == nil || e.Status == cut && e.Attempts < attempts
}

// open says how many stages are left, and what they usually take.
func (st *state) open(list []stage) (n int, usual time.Duration) {
	for _, s := range list {
		if st.isOpen(s) {
			n, usual = n+1, usual+s.usual
		}
	}
	return n, usual
}

// begin notes that a stage begins.
func (st *state) begin(s stage) *entry {
	e := st.entryOf(s.name)
	if e == nil {
		e = &entry{Stage: s.name, Side: s.side}
	} else {
		st.Entries = slices.DeleteFunc(st.Entries, func(o *entry) bool { return o == e })
	}
	st.Entries = append(st.Entries, e)
	st.Begun[s.name]++
	*e = entry{Stage: s.name, Side: s.side, Status: running, Attempts: e.Attempts + 1, Number: st.Begun[s.name]}
	return e
}
