//go:build !linux || !(amd64 || arm64)

package cudart

import "github.com/halftone-ml/halftone/cudart/driver"

func (v *convolvers) load(*device) { v.err = driver.ErrUnsupported }
