//go:build halftone_emulator

package main

import _ "github.com/halftone-ml/halftone/cudart/emulator" // for HALFTONE_CUDA=emulator

const withEmulator = true
