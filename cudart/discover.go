package cudart

import "github.com/halftone-ml/halftone/cudart/driver"

// PathEnv names the variable that lists folders to look into first.
const PathEnv = driver.PathEnv

// ErrNoCUDA is wrapped by every error of opening a CUDA device.
var ErrNoCUDA = driver.ErrNoCUDA

// A Library is one shared library of NVIDIA's, and where it was found.
type Library = driver.Library

// Discover looks for the libraries; see driver.Discover for where.
func Discover() []Library { return driver.Discover() }
