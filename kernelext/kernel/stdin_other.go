//go:build !linux

package kernel

// readCall is no number: only Linux tells in which call a thread waits.
const readCall = -1

const nonBlocking = 0

// unreadBytes is not known.
func unreadBytes(int) int { return -1 }
