//go:build !amd64

package cpu

// Fetch has memory brought to the L1 cache, where there is an instruction for it.
func Fetch(mem []byte) {}
