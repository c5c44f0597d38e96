//go:build !linux || !(amd64 || arm64)

package driver

import (
	"fmt"
	"runtime"
)

// Open returns an error wrapping ErrNoCUDA: there is no driver for this system.
func Open(string) (Driver, error) { return nil, elsewhere() }

// Absent returns nothing.
func Absent(Driver) []string { return nil }

func elsewhere() error {
	return fmt.Errorf("%w: CUDA is driven on Linux, on amd64 and arm64, and this is %s/%s; on Windows use WSL2", ErrNoCUDA, runtime.GOOS, runtime.GOARCH)
}
