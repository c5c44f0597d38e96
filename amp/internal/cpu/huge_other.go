//go:build !linux

package cpu

func hugePages[T any]([]T) {}
