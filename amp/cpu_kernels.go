package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// CPUKernels names the code that computes on the CPU, such as "amd64/avx512+tiles-f16" or, under HALFTONE_CPU=reproducible,
// "reproducible". Two processes in which it is the same get the same bits from the same operations.
func CPUKernels() string { return cpu.Describe() }
