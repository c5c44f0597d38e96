package main

import (
	"context"

	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

func doctor(ctx context.Context, args []string) error {
	fs := flags("doctor", "", "Looks at every part of the installation and says how to repair what is missing. The exit code is 1 when cells cannot run.")
	asJSON := fs.Bool("json", false, "print the report as JSON")
	if err := parseBare(fs, args); err != nil {
		return err
	}
	l, err := layout.Default()
	if err != nil {
		return err
	}
	checkout, _ := install.FindCheckout(".")
	parts := install.Doctor(ctx, l, checkout)
	if *asJSON {
		if err := install.PrintPartsJSON(stdout, parts); err != nil {
			return err
		}
	} else {
		install.PrintParts(stdout, parts)
	}
	if !install.Healthy(parts) {
		return errQuiet
	}
	return nil
}
