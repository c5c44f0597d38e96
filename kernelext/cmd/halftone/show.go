package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/widgets"
)

// showFigures prints the figures of saved notebooks.
func showFigures(ctx context.Context, args []string) error {
	fs := flags("show", "NOTEBOOK…", "Prints the figures that notebooks have saved, as text, each below the number of its cell. \"-\" reads a notebook from standard input.")
	number := fs.Int("figure", 0, "print only this figure, counted from 1 over the notebook")
	asJSON := fs.Bool("json", false, "print the figures' JSON, one line for each, instead of text")
	width := fs.Int("width", 0, "cut lines to so many columns; 0 for the terminal's own wrapping")
	names, err := interleaved(fs, args)
	switch {
	case err != nil:
		return err
	case len(names) == 0:
		return wrongCall("name a notebook, as in `halftone show 01-first-amp-training.ipynb`")
	case *number < 0:
		return wrongCall("--figure %d: figures are counted from 1", *number)
	case *width < 0 || *width > 0 && *width < 20:
		return wrongCall("--width %d: give at least 20 columns, or 0", *width)
	}
	p := printer{width: *width, bold: install.IsTerminal(os.Stdout) && os.Getenv("NO_COLOR") == ""}
	failed := false
	for _, name := range names {
		saved, err := within(ctx, func() ([]widgets.Saved, error) { return loadSaved(name) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // what could be read is shown all the same
			failed = true
			fmt.Fprintln(os.Stderr, "halftone show:", err)
		}
		if err != nil && len(saved) == 0 { // that it has no figures is not known
			continue
		}
		if err := p.notebook(name, saved, *number, *asJSON, len(names) > 1); err != nil {
			failed = true
			fmt.Fprintln(os.Stderr, "halftone show:", err)
		}
	}
	if failed {
		return errQuiet
	}
	return nil
}

func loadSaved(name string) ([]widgets.Saved, error) {
	if name == "-" {
		return widgets.ReadSaved(os.Stdin)
	}
	return widgets.LoadSaved(name)
}

// A printer writes figures to standard output.
type printer struct {
	width int
	bold  bool
}

// notebook prints the figures of one notebook, or the one asked for.
func (p printer) notebook(name string, saved []widgets.Saved, number int, asJSON, many bool) error {
	if number > len(saved) {
		return fmt.Errorf("%s has %d figures, not %d", name, len(saved), number)
	}
	if many && !asJSON {
		p.heading(name)
	}
	if len(saved) == 0 && !asJSON {
		fmt.Fprintln(stdout, "No figures. A cell that ends with widgets.Show(…) leaves them in the notebook when it is saved.")
	}
	for i, s := range saved {
		if number > 0 && i+1 != number {
			continue
		}
		if asJSON {
			b, err := json.Marshal(s.Figure)
			if err != nil {
				return err
			}
			fmt.Fprintf(stdout, "%s\n", b)
			continue
		}
		p.heading(place(i, s))
		fmt.Fprintln(stdout, p.cut(s.Figure.Text()))
	}
	return nil
}

// place says where a figure stands.
func place(i int, s widgets.Saved) string {
	where := fmt.Sprintf("Figure %d · cell %d", i+1, s.Cell)
	if s.Count > 0 {
		where += fmt.Sprintf(" · In[%d]", s.Count)
	}
	return where
}

// heading writes a line, bold on a terminal.
func (p printer) heading(s string) {
	if p.bold {
		s = "\x1b[1m" + s + "\x1b[0m"
	}
	fmt.Fprintln(stdout, s)
}

// cut shortens lines to the width asked for.
func (p printer) cut(text string) string {
	if p.width == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if r := []rune(l); len(r) > p.width {
			lines[i] = string(r[:p.width-1]) + "…"
		}
	}
	return strings.Join(lines, "\n")
}
