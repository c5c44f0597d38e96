package install

import (
	"context"
	"os"
	"os/exec"

	"github.com/halftone-ml/halftone/kernelext/wire"
)

// goSetup looks whether the user's own settings of Go let it work on a module: `go version` runs whatever they are.
func goSetup(ctx context.Context, p Part, goCmd, dir string) Part {
	if other := wire.OtherSystem(os.Getenv); other != "" {
		p.Status, p.Detail, p.Fix = Broken, "cells are built for another system", other
		return p
	}
	cmd := exec.CommandContext(ctx, goCmd, "list", "errors")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return p
	}
	if fix := wire.Fault(string(out), os.Getenv); fix != "" {
		p.Status, p.Detail, p.Fix = Broken, tail(string(out), 2), fix
	}
	return p
}
