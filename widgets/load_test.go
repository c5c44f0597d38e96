package widgets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// savedNotebook writes a notebook whose cells show the figures, one in each, as Jupyter stores them: as an object, as a text, or as lines.
func savedNotebook(t *testing.T, figs ...*Figure) string {
	t.Helper()
	cells := []any{map[string]any{"cell_type": "markdown", "source": []string{"# Figures"}}}
	for i, f := range figs {
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var stored any = json.RawMessage(b)
		switch i % 3 {
		case 1:
			stored = string(b)
		case 2:
			stored = []string{string(b[:len(b)/2]), string(b[len(b)/2:])}
		}
		kind := map[bool]string{true: "display_data", false: "execute_result"}[i%2 == 0]
		cells = append(cells, map[string]any{"cell_type": "code", "execution_count": i + 7, "outputs": []any{
			map[string]any{"output_type": "stream", "name": "stdout", "text": []string{"x\n"}},
			map[string]any{"output_type": kind, "data": map[string]any{MIME: stored, "text/plain": []string{f.Text()}}, "metadata": map[string]any{}},
		}})
	}
	return write(t, map[string]any{"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}})
}

func write(t *testing.T, nb any) string {
	t.Helper()
	b, err := json.Marshal(nb)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "saved.ipynb")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLoadGivesBackWhatWasShown: every kind of figure, in every form that notebooks store JSON in.
func TestLoadGivesBackWhatWasShown(t *testing.T) {
	names := slices.Sorted(maps.Keys(samples()))
	var figs []*Figure
	for _, n := range names {
		figs = append(figs, samples()[n])
	}
	path := savedNotebook(t, figs...)
	saved, err := LoadSaved(path)
	if err != nil || len(saved) != len(figs) {
		t.Fatalf("%d of %d figures: %v", len(saved), len(figs), err)
	}
	for i, s := range saved {
		want, _ := json.Marshal(figs[i])
		got, _ := json.Marshal(s.Figure)
		if string(got) != string(want) || s.Figure.Text() != figs[i].Text() {
			t.Errorf("%s changed:\n%.300s\n%.300s", names[i], got, want)
		}
		if s.Cell != i+2 || s.Count != i+7 {
			t.Errorf("%s: cell %d, In[%d], want %d and %d", names[i], s.Cell, s.Count, i+2, i+7)
		}
	}
	if all, err := Load(path); err != nil || len(all) != len(figs) {
		t.Errorf("%d figures, %v", len(all), err)
	}
}

// TestShownIsLoaded: what a cell's program sends to the notebook is what Load reads from it.
func TestShownIsLoaded(t *testing.T) {
	_, _, outputs := shown(t, "figures", true)
	var list []any
	for _, o := range outputs {
		list = append(list, map[string]any{"output_type": "display_data", "data": o.Data})
	}
	figs, err := Load(write(t, map[string]any{"nbformat": 4, "cells": []any{map[string]any{"cell_type": "code", "execution_count": nil, "outputs": list}}}))
	if err != nil || len(figs) != 3 {
		t.Fatalf("%d figures, %v", len(figs), err)
	}
	for i, f := range figs {
		if f.Text() != outputs[i].Data["text/plain"] {
			t.Errorf("figure %d is another", i)
		}
	}
}

// TestLoadRefuses says what is wrong and where, and gives back the rest.
func TestLoadRefuses(t *testing.T) {
	good, _ := json.Marshal(Bits(.1))
	cell := func(data string) string { return fmt.Sprintf(`{"outputs":[{"data":{%q:%s}}]}`, MIME, data) }
	for _, c := range []struct {
		nb, want string
		figures  int
	}{
		{``, "no notebook: unexpected end", 0},
		{`[1,2]`, "no notebook", 0},
		{`{"nbformat":3,"worksheets":[]}`, "format 3", 0},
		{`{"a":1}`, "has no cells", 0},
		{`{"cells":[]}`, "", 0},
		{`{"cells":"many"}`, "no notebook", 0},
		{`{"cells":[` + cell(string(good)) + `,` + cell(`{"schema":"halftone.figure/9"}`) + `,` + cell(string(good)) + `]}`, "cell 2, output 1", 2},
		{`{"cells":[` + cell(`{"schema":"halftone.figure/1","kind":"movie","data":{}}`) + `]}`, `"movie"`, 0},
		{`{"cells":[` + cell(`"not json"`) + `]}`, "cell 1, output 1", 0},
		{`{"cells":[` + cell(`[1,2]`) + `]}`, "lines", 0},
		{`{"cells":[` + cell(`null`) + `]}`, "cell 1", 0},
		{`{"cells":[` + cell(`12`) + `]}`, "cell 1", 0},
		{`{"cells":[` + cell(`"`+strings.Repeat("x", 2*MaxParse)+`"`) + `]}`, "too large", 0},
		{`{"cells":[` + cell(`{"x":"`+strings.Repeat("x", MaxParse)+`"}`) + `]}`, "too large", 0},
		{`{"cells":[{"outputs":[` + strings.TrimSuffix(strings.Repeat(`{"data":{"`+MIME+`":{}}},`, MaxFigures+5), ",") + `]}]}`, "more than 2000 figures", 0},
	} {
		saved, err := ReadSaved(strings.NewReader(c.nb))
		if len(saved) != c.figures || c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.80s: %d figures, error %.200v, want %d and %q", c.nb, len(saved), err, c.figures, c.want)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.ipynb")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Error(err)
	}
	if _, err := ReadSaved(io.MultiReader(strings.NewReader(`{"cells":[`), broken{})); err == nil || !strings.Contains(err.Error(), "unplugged") {
		t.Error(err)
	}
}

// broken is a disk that fails.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("unplugged") }

// FuzzLoad: any file is read or refused, and what was read can be drawn as text.
func FuzzLoad(f *testing.F) {
	for _, fig := range []*Figure{Bits(.1), Own("x", dots{2}), Compare(threeRuns()...)} {
		b, _ := json.Marshal(fig)
		f.Add([]byte(fmt.Sprintf(`{"cells":[{"execution_count":1,"outputs":[{"data":{%q:%s}}]}]}`, MIME, b)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		saved, _ := ReadSaved(strings.NewReader(string(b)))
		for _, s := range saved {
			if s.Figure.Text() == "" || s.Cell < 1 {
				t.Errorf("%+v", s)
			}
		}
	})
}
