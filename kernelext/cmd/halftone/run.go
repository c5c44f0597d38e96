package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/layout"
	"github.com/halftone-ml/halftone/kernelext/notebook"
)

func runNotebooks(ctx context.Context, args []string) error {
	fs := flags("run", "NOTEBOOK…", "Executes notebooks through the installed kernel. The notebooks stay as they are unless --inplace or --output is given.")
	timeout := fs.Duration("timeout", 600*time.Second, "longest time for one cell, e.g. 90s; 0 for no limit")
	output := fs.String("output", "", "write the executed notebook to this file")
	inplace := fs.Bool("inplace", false, "write the executed notebook over the old one")
	html := fs.Bool("html", false, "also write a page that needs no network, next to the notebook that is written (or read)")
	stable := fs.Bool("stable", false, "keep saved measurements of figures, and of cells tagged \"volatile\", where nothing else has changed")
	names, err := interleaved(fs, args)
	if err != nil {
		return err
	}
	if err := inputs(ctx, "run", names); err != nil {
		return err
	}
	if err := notNegative("timeout", *timeout); err != nil {
		return err
	}
	if *output != "" && (*inplace || len(names) > 1) {
		return wrongCall("--output names one file: give one notebook, and not --inplace")
	}
	l, state, err := installation()
	if err != nil {
		return err
	}
	r := notebook.Runner{
		Python: state.Python, Env: install.JupyterEnv(l, state), Kernel: layout.KernelName, Display: layout.DisplayName,
		Draw: []string{l.Halftone(), "render"}, Out: os.Stdout, TTY: install.IsTerminal(os.Stdout),
	}
	failed := 0
	for _, name := range names {
		o := notebook.Options{Timeout: *timeout, Stable: *stable}
		if err := destination(&o, name, *output, *inplace, *html); err != nil {
			return err
		}
		err := r.Run(ctx, name, o)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			failed++
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if failed > 0 {
		fmt.Fprintf(os.Stderr, "%d of %d notebooks failed\n", failed, len(names))
		return errQuiet
	}
	return nil
}

// inputs checks the notebooks named to a command; to name none is a wrong call.
func inputs(ctx context.Context, command string, names []string) error {
	_, err := within(ctx, func() (any, error) { return nil, notebook.Inputs(command, names) })
	if err != nil && len(names) == 0 {
		return callError{err}
	}
	return err
}

// destination says where a notebook and its page are written.
func destination(o *notebook.Options, name, output string, inplace, html bool) (err error) {
	written := name
	switch {
	case inplace:
		o.Output, err = filepath.Abs(name)
	case output != "":
		o.Output, err = filepath.Abs(output)
		written = output
	}
	if err == nil && html {
		o.HTML, err = filepath.Abs(strings.TrimSuffix(written, ".ipynb") + ".html")
	}
	return err
}
