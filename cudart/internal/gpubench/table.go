package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// A rowSet is a table of figures by name, ours beside the peer's.
type rowSet struct {
	rows   []*row
	byName map[string]*row
}

type row struct {
	figure
	ours, peer, paired []float64
	theirs             string // the peer's remarks
}

// add adds a figure. Those of one name, and for times of calls of one note, are one row, with their medians.
func (t *rowSet) add(f figure, whose side) {
	key := f.Name
	if f.Unit == "ns" {
		key += f.Note
	}
	if t.byName == nil {
		t.byName = map[string]*row{}
	}
	r := t.byName[key]
	if r == nil {
		r = &row{figure: figure{Name: f.Name, Unit: f.Unit}}
		t.byName[key] = r
		t.rows = append(t.rows, r)
	}
	switch whose {
	case ours:
		r.ours, r.Unit, r.Note = append(r.ours, f.Value), f.Unit, f.Note
	case paired: // comes before the figures themselves
		r.paired = append(r.paired, f.Value)
	default:
		r.peer, r.theirs = append(r.peer, f.Value), f.Note
	}
}

// tuned ends the names of steps that PyTorch takes with more than its defaults; ours beside them are those without the ending.
const tuned = ", tuned"

// besideTuned lays our figures beside those of PyTorch tuned.
func (t *rowSet) besideTuned() {
	for _, r := range t.rows {
		name, ok := strings.CutSuffix(r.Name, tuned)
		if o := t.byName[name]; ok && o != nil {
			r.ours = o.ours
		}
	}
}

// remarks are ours, and PyTorch's where they say something else.
func (r *row) remarks() string {
	switch {
	case len(r.ours) == 0:
		return r.theirs
	case r.theirs == "" || r.theirs == r.Note:
		return r.Note
	case r.Note == "":
		return "PyTorch: " + r.theirs
	}
	return r.Note + "; PyTorch: " + r.theirs
}

func (t *rowSet) write(w io.Writer) {
	fmt.Fprintln(w, "| what | Halftone | PyTorch | ratio | unit | remarks |\n|---|---|---|---|---|---|")
	for _, r := range t.rows {
		ours, peer, ratio := text(r.ours), text(r.peer), ""
		if len(r.ours) > 0 && len(r.peer) > 0 {
			ratio = fmt.Sprintf("%.3f", r.ratio())
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", r.Name, ours, peer, ratio, r.Unit, strings.ReplaceAll(r.remarks(), "|", "/"))
	}
}

// ratio is ours by the peer's, as measured in turn where it was: that is of speeds, and of times the other way around.
func (r *row) ratio() float64 {
	switch {
	case len(r.paired) == 0:
		return middle(r.ours) / middle(r.peer)
	case slices.Contains([]string{"us", "µs", "ns", "ms"}, r.Unit):
		return 1 / middle(r.paired)
	}
	return middle(r.paired)
}

// table merges files of figures: files at even places are ours, those at odd ones the peer's.
func table(w io.Writer, files []string) error {
	t := &rowSet{}
	for i, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		for in := bufio.NewScanner(f); in.Scan(); {
			var fig figure
			if err := json.Unmarshal(in.Bytes(), &fig); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			t.add(fig, []side{ours, peer}[i%2])
		}
	}
	t.write(w)
	return nil
}

// middle is the median.
func middle(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// text writes a median with four digits; "" is no value.
func text(v []float64) string {
	switch {
	case len(v) == 0:
		return ""
	case middle(v) >= 1000:
		return fmt.Sprintf("%.0f", middle(v))
	}
	return fmt.Sprintf("%.4g", middle(v))
}
