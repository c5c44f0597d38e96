package cpu

// extremeRowsVec does whole blocks of fours of rows and returns how many rows those are, and how many numbers of each.
func extremeRowsVec(best, x []float32, rows, stride int, largest bool) (high, wide int) {
	if variant() != AVX2 || rows < 4 || len(best) < lineLanes {
		return 0, 0
	}
	high, wide = rows&^3, len(best)&^(lineLanes-1)
	run := minimumRowsY
	if largest {
		run = maximumRowsY
	}
	run(high/4, wide/lineLanes, &x[0], 4*stride, &best[0])
	return high, wide
}
