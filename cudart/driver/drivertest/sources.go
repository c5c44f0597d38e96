package drivertest

import "embed"

// Sources holds the source of the suite's kernels, kernels.cu, for drivers that do not run PTX.
//
//go:embed kernels.cu
var Sources embed.FS
