//go:build !linux

package cpu

// allowTiles: only Linux is known to keep the tile registers when it switches threads.
func allowTiles() bool { return false }
