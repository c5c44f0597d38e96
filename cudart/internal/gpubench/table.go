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
		r = &row{figure: f}
		t.byName[key] = r
		t.rows = append(t.rows, r)
	}
	switch whose {
	case ours:
		r.ours, r.Unit, r.Note = append(r.ours, f.Value), f.Unit, f.Note
	case paired: // comes before the figures themselves
		r.paired = append(r.paired, f.Value)
	default:
		r.peer = append(r.peer, f.Value)
	}
}

func (t *rowSet) write(w io.Writer) {
	fmt.Fprintln(w, "| what | Halftone | PyTorch | ratio | unit | remarks |\n|---|---|---|---|---|---|")
	for _, r := range t.rows {
		ours, peer, ratio := text(r.ours), text(r.peer), ""
		if len(r.ours) > 0 && len(r.peer) > 0 {
			ratio = fmt.Sprintf("%.3f", r.ratio())
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", r.Name, ours, peer, ratio, r.Unit, strings.ReplaceAll(r.Note, "|", "/"))
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
