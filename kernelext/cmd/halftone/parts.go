package main

import (
	"context"

	"github.com/halftone-ml/halftone/kernelext/kernel"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

// TEMPORARY until the other parts are there.
func draw(raw []byte) (map[string]any, error) { return map[string]any{}, nil }

func runKernel(ctx context.Context, l layout.Layout, s layout.State, file string) error {
	return kernel.Run(ctx, file, kernel.Options{GoNB: l.GoNB(), Checkout: s.Checkout})
}
