//go:build !linux

package stretch

// measure knows nothing of the load here.
func measure() float64 { return 1 }
