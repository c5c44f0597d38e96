package cpu

// SolveSingular writes, for a decomposition with k singular values s, vectors u [m k] and vh [k n], the least-squares solution x of the smallest size,
// vhᵀ·(uᵀ·b/s), for right-hand sides b of cols columns: m rows to n, or, turned, n to m, as the transposed matrix has it. Values up to small count
// as 0. room holds k·cols numbers.
func SolveSingular(s, u, vh []float64, m, n, k, cols int, small float64, turned bool, b, x, room []float64) {
	y := room[:k*cols]
	clear(y)
	from, to := m, n
	first, second := func(i, j int) float64 { return u[i*k+j] }, func(i, j int) float64 { return vh[j*n+i] }
	if turned {
		from, to = to, from
		first, second = second, first
	}
	for j := range k {
		row := y[j*cols : (j+1)*cols]
		if !(s[j] > small) {
			continue
		}
		for i := range from {
			minusRow(row, b[i*cols:(i+1)*cols], -first(i, j))
		}
		divideRow(row, s[j])
	}
	clear(x[:to*cols])
	for i := range to {
		for j := range k {
			if s[j] > small {
				minusRow(x[i*cols:(i+1)*cols], y[j*cols:(j+1)*cols], -second(i, j))
			}
		}
	}
}
