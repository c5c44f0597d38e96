package cudart

import "github.com/halftone-ml/halftone/cudart/libraries"

// PathEnv names the variable that lists folders to look into first.
const PathEnv = libraries.PathEnv

// ErrNoCUDA is wrapped by every error of opening a CUDA device.
var ErrNoCUDA = libraries.ErrNoCUDA

// A Library is one shared library of NVIDIA's, and where it was found.
type Library = libraries.Library

// Discover looks for the libraries; see libraries.Discover for where.
func Discover() []Library { return libraries.Discover() }
