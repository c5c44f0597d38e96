package cpu

// QRRoom is how many numbers QR needs beside a, q and r.
func QRRoom(m, n, cols int) int { return m*n + min(m, n) + n + max(n, cols) }

// QR writes the factors of a, m×n: the first cols columns of Q, and rows of R, zeros below its diagonal. The signs are LAPACK's. room holds a in its
// first m·n numbers, and is overwritten. Without columns or rows that factor is left out.
func QR(room []float64, m, n, cols, rows int, q, r []float64) {
	k := min(m, n)
	a, taus, scales, sums := room[:m*n], room[m*n:][:k], room[m*n+k:][:n], room[m*n+k+n:]
	clear(scales)
	for i := range m {
		for j, v := range a[i*n : (i+1)*n] {
			scales[j] = largerOf(scales[j], v)
		}
	}
	for j, most := range scales { // a column and a multiple of it have the same Q
		scales[j] = powerFor(most)
	}
	for i := range m {
		for j := range n {
			a[i*n+j] *= scales[j]
		}
	}
	for i := range k {
		taus[i] = reflector(a[i*n+i:], m-i, n)
		(&block{a, i*n + i + 1, n, m - i, n - i - 1}).reflect(a[i*n+i:], n, taus[i], sums)
	}
	for i := range rows {
		row := r[i*n : (i+1)*n]
		clear(row)
		for j := i; j < n; j++ {
			row[j] = a[i*n+j] / scales[j]
		}
	}
	if cols == 0 {
		return
	}
	identity(q, m, cols)
	for i := min(k, cols) - 1; i >= 0; i-- {
		(&block{q, i*cols + i, cols, m - i, cols - i}).reflect(a[i*n+i:], n, taus[i], sums)
	}
}
