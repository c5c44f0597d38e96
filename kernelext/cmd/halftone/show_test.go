package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/widgets"
)

// captured returns what a function prints on standard output and standard error.
func captured(t *testing.T, f func()) (stdout, stderr string) {
	t.Helper()
	read := func(of **os.File) func() string {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		old := *of
		*of = w
		text := make(chan string, 1)
		go func() {
			b, _ := io.ReadAll(r)
			text <- string(b)
		}()
		return func() string {
			*of = old
			w.Close()
			return <-text
		}
	}
	out, errs := read(&os.Stdout), read(&os.Stderr)
	f()
	stderr, stdout = errs(), out()
	return stdout, stderr
}

// notebookOf writes a notebook with figures, one cell for each.
func notebookOf(t *testing.T, figs ...any) string {
	t.Helper()
	cells := []any{}
	for i, f := range figs {
		cells = append(cells, map[string]any{"cell_type": "markdown"}, map[string]any{"cell_type": "code", "execution_count": i + 1,
			"outputs": []any{map[string]any{"output_type": "display_data", "data": map[string]any{widgets.MIME: f}}}})
	}
	b, err := json.Marshal(map[string]any{"nbformat": 4, "cells": cells})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "figures.ipynb")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestShow(t *testing.T) {
	bits, policy := widgets.Bits(.1), widgets.Policy()
	good, bad := notebookOf(t, bits, policy), notebookOf(t, bits, map[string]any{"schema": "halftone.figure/9"})
	empty := notebookOf(t)
	for name, c := range map[string]struct {
		args        []string
		code        int
		out, notOut []string
		err         string
	}{
		"all":         {[]string{good}, 0, []string{"Figure 1 · cell 2 · In[1]\nBits of 0.1\n", bits.Text(), "Figure 2 · cell 4 · In[2]\n", policy.Text()}, []string{"\x1b"}, ""},
		"one":         {[]string{good, "--figure", "2"}, 0, []string{"Figure 2 ·"}, []string{"Bits of"}, ""},
		"none such":   {[]string{"--figure", "3", good}, 1, nil, []string{"Bits"}, "has 2 figures, not 3"},
		"negative":    {[]string{"--figure", "-1", good}, 2, nil, []string{"Bits"}, "counted from 1"},
		"width":       {[]string{"--width", "40", good}, 0, []string{"…"}, []string{"NEIGHBORS"}, ""},
		"narrow":      {[]string{"--width", "3", good}, 2, nil, nil, "at least 20"},
		"damaged":     {[]string{bad}, 1, []string{bits.Text()}, nil, "cell 4, output 1"},
		"empty":       {[]string{empty}, 0, []string{"No figures."}, nil, ""},
		"missing":     {[]string{"none.ipynb"}, 1, nil, []string{"No figures"}, "none.ipynb"},
		"no notebook": {nil, 2, nil, nil, "name a notebook"},
		"two":         {[]string{good, empty}, 0, []string{good, empty}, nil, ""},
		"wrong":       {[]string{"--colour"}, 2, nil, nil, "colour"},
	} {
		t.Run(name, func(t *testing.T) {
			code := 0
			out, errs := captured(t, func() { code = dispatch(context.Background(), append([]string{"show"}, c.args...)) })
			if code != c.code {
				t.Errorf("exit code %d, want %d; %s", code, c.code, errs)
			}
			for _, w := range c.out {
				if !strings.Contains(out, w) {
					t.Errorf("printed without %q:\n%s", w, out)
				}
			}
			for _, w := range c.notOut {
				if strings.Contains(out, w) {
					t.Errorf("printed %q:\n%s", w, out)
				}
			}
			if c.err == "" && errs != "" || !strings.Contains(errs, c.err) {
				t.Errorf("said %q, want %q", errs, c.err)
			}
		})
	}
}

// TestShowJSON: one line for each figure, and each is what was saved.
func TestShowJSON(t *testing.T) {
	out, errs := captured(t, func() {
		dispatch(context.Background(), []string{"show", "--json", notebookOf(t, widgets.Bits(1), widgets.Bits(2, 3))})
	})
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || errs != "" {
		t.Fatalf("%q, %q", out, errs)
	}
	for i, want := range []*widgets.Figure{widgets.Bits(1), widgets.Bits(2, 3)} {
		if f, err := widgets.Parse([]byte(lines[i])); err != nil || f.Text() != want.Text() {
			t.Errorf("line %d: %v", i, err)
		}
	}
}
