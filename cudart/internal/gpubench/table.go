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

// table merges files of figures: files at even places are ours, those at odd ones the peer's. Figures of one name and note are one
// row, with the medians over the files.
func table(w io.Writer, files []string) error {
	type row struct {
		figure
		ours, peer []float64
	}
	var rows []*row
	byName := map[string]*row{}
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
			key := fig.Name
			if fig.Unit == "ns" {
				key += fig.Note
			}
			r := byName[key]
			if r == nil {
				r = &row{figure: fig}
				byName[key] = r
				rows = append(rows, r)
			}
			if i%2 == 0 {
				r.ours = append(r.ours, fig.Value)
			} else {
				r.peer = append(r.peer, fig.Value)
			}
		}
	}
	fmt.Fprintln(w, "| what | Halftone | PyTorch | ratio | unit | remarks |\n|---|---|---|---|---|---|")
	for _, r := range rows {
		ours, peer, ratio := text(r.ours), text(r.peer), ""
		if len(r.ours) > 0 && len(r.peer) > 0 {
			ratio = fmt.Sprintf("%.3f", middle(r.ours)/middle(r.peer))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", r.Name, ours, peer, ratio, r.Unit, strings.ReplaceAll(r.Note, "|", "/"))
	}
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
