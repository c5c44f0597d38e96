package widgets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// The bounds of what Load reads.
const (
	MaxNotebook = 256 << 20 // bytes of a notebook: it may hold pictures and films of others
	MaxFigures  = 2000      // figures of one notebook
)

// A Saved figure is one that a notebook has stored.
type Saved struct {
	Cell   int // number of its cell in the notebook, from 1, text cells included
	Count  int // execution count of the cell, the n of In[n]; 0 for none
	Figure *Figure
}

// Load reads the figures that a saved notebook (.ipynb) holds, in order. Where some cannot be read, an error says which and why, and the
// others are returned with it. It reads files of at most MaxNotebook bytes and MaxFigures figures.
func Load(path string) ([]*Figure, error) {
	saved, err := LoadSaved(path)
	figs := make([]*Figure, len(saved))
	for i := range saved {
		figs[i] = saved[i].Figure
	}
	return figs, err
}

// LoadSaved is Load with the place of each figure in the notebook.
func LoadSaved(path string) ([]Saved, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("widgets: reading a notebook: %w", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("widgets: %s is a folder, not a notebook", path)
	}
	saved, err := ReadSaved(file)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return saved, err
}

// A notebook is what of the notebook format, version 4, holds figures.
type notebook struct {
	Format int `json:"nbformat"`
	Cells  *[]struct {
		Count   *int `json:"execution_count"`
		Outputs []struct {
			Data map[string]json.RawMessage `json:"data"`
		} `json:"outputs"`
	} `json:"cells"`
}

// ReadSaved is LoadSaved for a notebook that is open already.
func ReadSaved(r io.Reader) ([]Saved, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxNotebook+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("widgets: reading a notebook: %w", err)
	case len(b) > MaxNotebook:
		return nil, fmt.Errorf("%w: the notebook has more than %s", ErrTooLarge, Bytes(MaxNotebook))
	}
	var nb notebook
	if err := json.Unmarshal(b, &nb); err != nil {
		return nil, fmt.Errorf("widgets: this is no notebook: %w", err)
	}
	if nb.Cells == nil {
		if nb.Format > 0 && nb.Format < 4 {
			return nil, fmt.Errorf("widgets: this is a notebook of format %d: convert it to 4 with `jupyter nbconvert --to notebook`", nb.Format)
		}
		return nil, errors.New("widgets: this is no notebook: it has no cells")
	}
	var out []Saved
	var faults []error
	for i, c := range *nb.Cells {
		for k, o := range c.Outputs {
			raw, ok := o.Data[MIME]
			if !ok {
				continue
			}
			if len(out)+len(faults) == MaxFigures {
				return out, errors.Join(append(faults, fmt.Errorf("widgets: more than %d figures; those from cell %d on were not read", MaxFigures, i+1))...)
			}
			f, err := parseStored(raw)
			if err != nil {
				faults = append(faults, fmt.Errorf("cell %d, output %d: %w", i+1, k+1, err))
				continue
			}
			s := Saved{Cell: i + 1, Figure: f}
			if c.Count != nil {
				s.Count = max(*c.Count, 0)
			}
			out = append(out, s)
		}
	}
	return out, errors.Join(faults...)
}

// parseStored reads a figure as notebooks store it: as an object or, where a kernel sends it so, as text or its lines.
func parseStored(raw json.RawMessage) (*Figure, error) {
	if len(raw) > 2*MaxParse {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(raw), MaxParse)
	}
	var text string
	var lines []string
	switch raw[0] {
	case '"':
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err
		}
		return Parse([]byte(text))
	case '[':
		if err := json.Unmarshal(raw, &lines); err != nil {
			return nil, fmt.Errorf("widgets: a figure's lines: %w", err)
		}
		return Parse([]byte(strings.Join(lines, "")))
	}
	return Parse(raw)
}
