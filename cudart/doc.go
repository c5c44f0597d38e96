// Package cudart is where Halftone's CUDA device lives. Importing it registers the device kind "cuda":
//
//	import _ "github.com/halftone-ml/halftone/cudart"
//
// This version looks for NVIDIA's libraries and says what it found (Discover), so that a program can ask for amp.On("auto") or
// amp.On("cuda:0") on any machine and is told the truth. It has no kernels yet: opening a device returns an error wrapping
// ErrNoCUDA on every machine, and "auto" goes on to the CPU, with that sentence in the trace.
package cudart
