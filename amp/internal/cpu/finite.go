package cpu

// Unscale multiplies the elements of x by k up to the first that is infinite or NaN, and returns where that is: it and what follows are as
// they were. Without one it multiplies all of x and returns -1. With k 1 nothing is written.
func Unscale(x []float32, k float32) int {
	for i := unscaleVec(x, k); i < len(x); i++ { // the block in which the vectors stopped, or what is no whole block
		if x[i]-x[i] != 0 {
			return i
		}
		if k != 1 {
			x[i] *= k
		}
	}
	return -1
}
