package cpu

// placedMaximaVec does rows of a vector or more, and says whether it did: the last vector, where it is not whole, begins in the one before.
func placedMaximaVec(rows, n int, src []float32, lds, first int, keys []int64) bool {
	if variant() == Generic || n < 8 {
		return false
	}
	placedMaximaY(rows, n/8, &src[0], 4*lds, &keys[0], first, lds)
	if n%8 != 0 {
		placedMaximaY(rows, 1, &src[n-8], 4*lds, &keys[n-8], first+n-8, lds)
	}
	return true
}
