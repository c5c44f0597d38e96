//go:build !amd64

package frames

// callers knows of no return addresses: every question is then answered from symbols.
func callers(rets []uintptr) int { return 0 }
