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
	"github.com/halftone-ml/halftone/kernelext/wire"
)

func kernelCommand(ctx context.Context, args []string) error {
	fs := flags("kernel", "CONNECTION_FILE", "Runs the kernel; Jupyter calls this.")
	if err := parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		fs.Usage()
		return errUsage
	}
	l, err := layout.Default()
	if err != nil {
		return err
	}
	state, err := l.Load()
	if err != nil {
		return err
	}
	if _, err := install.InstalledCheckout(state); err != nil {
		return err
	}
	return kernel.Run(ctx, fs.Arg(0), kernel.Options{
		GoNB:      l.GoNB(),
		Checkout:  state.Checkout,
		Env:       wire.Env(l, state, os.Environ()),
		Tmp:       l.Tmp(),
		Draw:      draw,
		Version:   version(),
		GoVersion: state.GoVersion,
	})
}

// render draws a figure outside a kernel; the notebook runner uses it to draw saved measurements again.
func render(_ context.Context, args []string) error {
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	faces, err := draw(raw)
	if err != nil {
		return err
	}
	out, err := json.Marshal(faces)
	if err != nil {
		return err
	}
	_, err = fmt.Println(string(out))
	return err
}
