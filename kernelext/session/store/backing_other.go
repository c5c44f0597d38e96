//go:build !linux

package store

import (
	"errors"
	"os"
)

func inMemory(*os.File) bool { return false }

func availableSpace(*os.File) int64 { return -1 }

func allocate(f *os.File, off, size int64) error { return writeZeros(f, off, size) }

func punch(*os.File, int64, int64) error { return errors.ErrUnsupported }

func availableMemory() (free int64, what string) { return -1, "" }
