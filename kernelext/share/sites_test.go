package share

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// placed makes a figure of an op that ran in a line of the cell with an execution count.
func placed(count, line int) *widgets.Figure {
	return widgets.Decisions(&amp.Trace{Schema: amp.TraceSchema, Level: "decisions", Device: "cpu", Events: []amp.Event{{
		Step: -1, Phase: amp.PhaseForward, Op: "matmul", Class: "lower", Rule: "GEMM", Compute: amp.Float16, Autocast: amp.Float16, Cell: count, CellLine: line,
	}}})
}

// A shown cell has an execution count and shows a figure, or none.
type shown struct {
	count  int
	figure *widgets.Figure
}

func writeCells(t *testing.T, path string, cells ...shown) {
	t.Helper()
	var all []any
	for _, c := range cells {
		outputs := []any{}
		if c.figure != nil {
			outputs = append(outputs, map[string]any{"output_type": "display_data", "metadata": map[string]any{}, "data": map[string]any{widgets.MIME: c.figure}})
		}
		var count any
		if c.count > 0 {
			count = c.count
		}
		all = append(all, map[string]any{"cell_type": "code", "metadata": map[string]any{}, "execution_count": count, "source": "%%", "outputs": outputs})
	}
	b, err := json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}, "cells": all})
	must(t, err)
	must(t, os.WriteFile(path, b, 0o644))
}

// TestVerifyKnowsCellsThatRanMoreThanOnce: what a user ran by hand, in any order and again, has other execution counts than a run from the
// first cell to the last.
func TestVerifyKnowsCellsThatRanMoreThanOnce(t *testing.T) {
	for _, c := range []struct {
		name       string
		saved, now []shown
		says       string // "" where it agrees
	}{
		{"run again", []shown{{3, nil}, {4, placed(4, 8)}}, []shown{{1, nil}, {2, placed(2, 8)}}, ""},
		{"a function of another cell", []shown{{7, nil}, {5, placed(7, 8)}}, []shown{{1, nil}, {2, placed(1, 8)}}, ""},
		{"a cell that was run again since", []shown{{7, nil}, {5, placed(3, 8)}}, []shown{{1, nil}, {2, placed(1, 8)}}, ""},
		{"the kernel was started again", []shown{{2, nil}, {2, placed(2, 8)}}, []shown{{1, nil}, {2, placed(2, 8)}}, ""},
		{"another line", []shown{{3, nil}, {4, placed(4, 8)}}, []shown{{1, nil}, {2, placed(2, 9)}}, "cell 2 line 9"},
		{"another cell", []shown{{3, nil}, {4, placed(4, 8)}}, []shown{{1, nil}, {2, placed(1, 8)}}, "cell 1 line 8"},
		{"another line of a cell that was run again since", []shown{{7, nil}, {5, placed(3, 8)}}, []shown{{1, nil}, {2, placed(1, 9)}}, "a cell line 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.ipynb")
			writeCells(t, path, c.saved...)
			rec, err := RecordOf(path)
			must(t, err)
			r, err := Verify(t.Context(), path, rec, machine, func(_ context.Context, _, output string, _ []string) error {
				writeCells(t, output, c.now...)
				return nil
			})
			must(t, err)
			var text strings.Builder
			r.Print(&text)
			if r.OK() != (c.says == "") || !strings.Contains(text.String(), c.says) {
				t.Errorf("ok %v, want %q in\n%s", r.OK(), c.says, text.String())
			}
		})
	}
}

// TestPackedPlacesAreComparedAsTheyAre: both sides ran from the first cell to the last.
func TestPackedPlacesAreComparedAsTheyAre(t *testing.T) {
	found, err := Compare(placed(2, 8), placed(3, 8), &Loose, 9)
	must(t, err)
	if len(found) != 1 || found[0].Path != "data.sites[0].where" {
		t.Errorf("%v, want the place alone", found)
	}
}

// TestPlacesAreNotShapes: numbers in brackets are places where they have a line or the count of a cell, and shapes elsewhere.
func TestPlacesAreNotShapes(t *testing.T) {
	ran := executed{3: {1}, 4: {2}}
	now := executed{1: {1}, 2: {2}}
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"float32[64]", "float32[32]", false},
		{"float32[64]", "float32[64]", true},
		{"float32[4]", "float32[2]", false},
		{"shape [64]", "shape [32]", false},
		{"shape [3]", "shape [3]", true},
		{"in [4]", "in [2]", true},
		{"in [4]", "in [1]", false},
		{"[4]:8", "[2]:8", true},
		{"[4]:8", "[2]:9", false},
		{"[9]:8", "[2]:8", true},
		{"[4]:8 of float32[64]", "[2]:8 of float32[64]", true},
		{"[4]:8 of float32[64]", "[2]:8 of float32[32]", false},
	} {
		a, b, agree := locator{own: 2, want: ran, got: now}.places(c.want, c.got)
		if same := agree && a == b; same != c.same {
			t.Errorf("%q and %q: the same %v, as %q and %q", c.want, c.got, same, a, b)
		}
	}
}
