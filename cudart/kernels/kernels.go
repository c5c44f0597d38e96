// Package kernels holds the source of Halftone's CUDA kernels.
package kernels

import "embed"

// Sources are the kernels' files, for who compiles them again: the emulator, NVRTC. A program that does not use it does not hold
// them.
//
//go:embed *.cu *.h
var Sources embed.FS
