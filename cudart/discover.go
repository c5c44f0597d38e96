package cudart

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// PathEnv names the variable that lists folders to look into first.
const PathEnv = driver.PathEnv

// ErrNoCUDA is wrapped by every error of opening a CUDA device.
var ErrNoCUDA = driver.ErrNoCUDA

// A Library is one shared library of NVIDIA's, and where it was found.
type Library = driver.Library

// Discover looks for the libraries; see driver.Discover for where.
func Discover() []Library { return driver.Discover() }

func init() { amp.RegisterDevice("cuda", open) }

// open says why there is no device.
func open(int) (amp.Device, error) { return nil, refusal(Discover()) }

func refusal(libs []Library) error {
	for _, l := range libs {
		if l.Required && l.Path == "" {
			return l.Missing()
		}
	}
	return fmt.Errorf("%w: the driver is there (%s), but this version of Halftone has no CUDA kernels yet; use amp.On(\"cpu\")", ErrNoCUDA, libs[0].Path)
}
