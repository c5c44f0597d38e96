package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/kernel"
	"github.com/halftone-ml/halftone/kernelext/layout"
	"github.com/halftone-ml/halftone/kernelext/magic"
	"github.com/halftone-ml/halftone/kernelext/wire"
	"github.com/halftone-ml/halftone/widgets"
	"github.com/halftone-ml/halftone/widgets/render"
)

func kernelCommand(ctx context.Context, args []string) error {
	fs := flags("kernel", "CONNECTION_FILE", "Runs the kernel; Jupyter calls this.")
	if err := parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() == 0 { // behind the file `jupyter run FILE` and `jupyter console` hand on arguments of their own, which are nothing to a kernel
		return wrongCall("name the connection file that Jupyter wrote; Jupyter calls this command itself")
	}
	l, state, err := installation()
	if err != nil {
		return err
	}
	// An interrupt, which ends other commands, is for the running cell: the kernel looks at signals itself.
	return kernel.Run(context.WithoutCancel(ctx), fs.Arg(0), kernel.Options{
		GoNB:     l.GoNB(),
		Go:       l.CellGo(),
		Checkout: state.Checkout,
		Env:      wire.Env(l, state, os.Environ()),
		Tmp:      l.Tmp(),
		Draw:     render.BundleJSON,
		Doctor: func(ctx context.Context) ([]magic.Check, error) {
			return checks(install.Doctor(ctx, l, state.Checkout)), nil
		},
		Version:   version(),
		GoVersion: state.GoVersion,
	})
}

// checks is the doctor's report as %amp doctor shows it.
func checks(parts []install.Part) []magic.Check {
	var out []magic.Check
	for _, p := range parts {
		c := magic.Check{Name: p.Name, Version: p.Version, Path: p.Path, Status: "ok", Detail: p.Detail, Fix: p.Fix}
		switch {
		case p.Status == install.OK:
		case p.Status == install.Stale || !p.Needed:
			c.Status = "warn"
		default:
			c.Status = "bad"
		}
		out = append(out, c)
	}
	return out
}

// installation returns what was installed, and an error that says what to do when it, or the checkout it was made from, is gone.
func installation() (layout.Layout, layout.State, error) {
	l, err := layout.Default()
	if err != nil {
		return l, layout.State{}, err
	}
	state, err := l.Load()
	if err == nil {
		_, err = install.InstalledCheckout(state)
	}
	return l, state, err
}

// drawFigure draws a figure outside a kernel; the notebook runner uses it to draw saved measurements again.
func drawFigure(ctx context.Context, args []string) error {
	if err := parseBare(flags("render", "", "Draws the figure whose JSON comes on standard input; the notebook runner calls this."), args); err != nil {
		return err
	}
	raw, err := within(ctx, func() ([]byte, error) { return io.ReadAll(os.Stdin) })
	if err != nil {
		return err
	}
	faces, err := render.BundleJSON(raw)
	if err != nil {
		return err
	}
	fig, err := widgets.Parse(raw)
	if err != nil {
		return err
	}
	faces["text/plain"] = fig.Text()
	out, err := json.Marshal(faces)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, string(out))
	return err
}
