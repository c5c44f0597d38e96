//go:build !linux || !(amd64 || arm64)

package emulator

import (
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

type handle struct{}

func open(driver.Driver) (handle, error) { return handle{}, ErrUnavailable }
func (handle) control(string) string     { return "" }
func (handle) reset(int) int             { return 0 }
func (handle) report() string            { return "" }
func (handle) kernels() []string         { return nil }

func fence(driver.Driver) (cudart.Fence, error) { return nil, ErrUnavailable }
