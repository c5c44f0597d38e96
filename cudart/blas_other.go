//go:build !linux || !(amd64 || arm64)

package cudart

import "github.com/halftone-ml/halftone/cudart/driver"

func (p *products) load(*device) { p.err = driver.ErrUnsupported }
