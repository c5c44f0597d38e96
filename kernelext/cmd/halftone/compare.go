package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"path/filepath"
	"slices"

	"github.com/halftone-ml/halftone/internal/wholefile"
	"github.com/halftone-ml/halftone/kernelext/share"
	"github.com/halftone-ml/halftone/widgets"
	"github.com/halftone-ml/halftone/widgets/render"
)

// compareRuns sets the runs of executed notebooks beside each other in one figure.
func compareRuns(ctx context.Context, args []string) error {
	fs := flags("compare", "NOTEBOOK…", "Collects the runs that executed notebooks have saved, such as the points of a parameter grid, into one Compare figure and prints it. "+
		"The first notebook is the reference.")
	output := fs.String("output", "", "also write the figure to this file: .html, .svg, .png or .json")
	names, err := interleaved(fs, args)
	if err != nil {
		return err
	}
	if err := inputs(ctx, "compare", names); err != nil {
		return err
	}
	kinds := []string{"", ".html", ".svg", ".png", ".json"}
	if !slices.Contains(kinds, filepath.Ext(*output)) {
		return wrongCall("--output %s: a figure is written as .html, .svg, .png or .json", *output)
	}
	var runs []widgets.Run
	for _, name := range names {
		more, err := within(ctx, func() ([]widgets.Run, error) { return share.Runs(name) })
		if err != nil {
			return err
		}
		runs = append(runs, more...)
	}
	fig := widgets.Compare(runs...)
	fmt.Fprint(stdout, fig.Text())
	if *output == "" {
		return nil
	}
	return writeFigure(fig, *output)
}

// writeFigure writes one face of a figure, by the file's ending.
func writeFigure(fig *widgets.Figure, path string) error {
	raw, err := json.MarshalIndent(fig, "", " ")
	if err != nil {
		return err
	}
	if filepath.Ext(path) != ".json" {
		faces, err := render.Bundle(fig)
		if err != nil {
			return err
		}
		mime := map[string]string{".html": "text/html", ".svg": "image/svg+xml", ".png": "image/png"}[filepath.Ext(path)]
		face, ok := faces[mime].(string)
		if !ok {
			return errors.New("the figure has no picture to write: write it as .json")
		}
		raw = []byte(face)
		switch mime {
		case "image/png":
			if raw, err = base64.StdEncoding.DecodeString(face); err != nil {
				return err
			}
		case "text/html":
			raw = fmt.Appendf(nil, "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>%s</title></head>\n<body>\n%s\n</body>\n</html>\n", html.EscapeString(fig.Title), face)
		}
	}
	if err := wholefile.Write(path, raw, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "wrote", path)
	return nil
}
