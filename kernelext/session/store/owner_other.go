//go:build !linux

package store

import "errors"

func ownMemory() (*Owner, error) { return nil, errors.ErrUnsupported }
