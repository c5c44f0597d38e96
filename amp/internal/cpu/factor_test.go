package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFactorsArePlainLoops compares bits of the blocked kernels with those of the textbook's loops, for sizes around the blocks.
func TestFactorsArePlainLoops(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 5, factorBlock - 1, factorBlock, factorBlock + 1, 2*factorBlock + 7} {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		a := make([]float64, n*n)
		for i := range a {
			a[i] = r.NormFloat64()
		}
		spd := make([]float64, n*n)
		for i := range n {
			for j := range n {
				for k := range n {
					spd[i*n+j] += float64(a[i*n+k] * a[j*n+k])
				}
			}
			spd[i*n+i]++
		}
		got, want := slices.Clone(spd), slices.Clone(spd)
		if at := Cholesky(got, n); at != -1 {
			t.Fatalf("n %d: minor %d", n, at)
		}
		plainCholesky(want, n)
		sameNumbers(t, "Cholesky", n, got, want)

		rows, plain := make([]int, n), make([]int, n)
		got, want = slices.Clone(a), slices.Clone(a)
		LU(got, n, n, rows)
		plainLU(want, n, plain)
		sameNumbers(t, "LU", n, got, want)
		if !slices.Equal(rows, plain) {
			t.Errorf("n %d: pivots %v, want %v", n, rows, plain)
		}

		for _, m := range []int{1, 2, 5} {
			x := slices.Clone(a)
			x = append(x, a...)[:min(n*m, 2*n*n)]
			m := len(x) / max(n, 1)
			y := slices.Clone(x)
			SolveLower(spd, n, false, x, m)
			for i := range n {
				for j := range m {
					for k := range i {
						y[i*m+j] -= float64(spd[i*n+k] * y[k*m+j])
					}
					y[i*m+j] /= spd[i*n+i]
				}
			}
			sameNumbers(t, "SolveLower", n, x, y)
		}
	}
}

func plainCholesky(a []float64, n int) {
	for k := range n {
		a[k*n+k] = math.Sqrt(a[k*n+k])
		for i := k + 1; i < n; i++ {
			a[i*n+k] /= a[k*n+k]
			a[k*n+i] = 0
			for j := k + 1; j <= i; j++ {
				a[i*n+j] -= float64(a[i*n+k] * a[j*n+k])
			}
		}
	}
}

func plainLU(a []float64, n int, pivots []int) {
	for k := range n {
		at := largest(a, n, n, k)
		pivots[k] = at
		for j := range n {
			a[k*n+j], a[at*n+j] = a[at*n+j], a[k*n+j]
		}
		for i := k + 1; i < n; i++ {
			a[i*n+k] /= a[k*n+k]
			for j := k + 1; j < n; j++ {
				a[i*n+j] -= float64(a[i*n+k] * a[k*n+j])
			}
		}
	}
}

func sameNumbers(t *testing.T, what string, n int, got, want []float64) {
	t.Helper()
	for i, v := range got {
		if math.Float64bits(v) != math.Float64bits(want[i]) {
			t.Errorf("%s, n %d: element %d is %v, plain loops give %v", what, n, i, v, want[i])
			return
		}
	}
}

// TestPivotsOfOddColumns: zeros, infinite numbers and NaN have a pivot, too.
func TestPivotsOfOddColumns(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		column []float64
		want   int
	}{{[]float64{0, 0, 0}, 0}, {[]float64{1, -2, 2}, 1}, {[]float64{nan, 5, inf}, 0}, {[]float64{1, nan, 2}, 2}, {[]float64{0, -inf, inf}, 1}} {
		if got := largest(c.column, 3, 1, 0); got != c.want {
			t.Errorf("%v: row %d, want %d", c.column, got, c.want)
		}
	}
	if got := Cholesky([]float64{1, 0, 2, 1}, 2); got != 1 {
		t.Errorf("an indefinite matrix fails at %d", got)
	}
}

func BenchmarkCholesky512(b *testing.B) { benchFactor(b, func(a []float64, n int) { Cholesky(a, n) }) }

func BenchmarkLU512(b *testing.B) {
	benchFactor(b, func(a []float64, n int) { LU(a, n, n, make([]int, n)) })
}

func benchFactor(b *testing.B, f func(a []float64, n int)) {
	const n = 512
	a := make([]float64, n*n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range a {
		a[i] = r.Float64()
	}
	for i := range n {
		a[i*n+i] += n
	}
	work := make([]float64, n*n)
	for b.Loop() {
		copy(work, a)
		f(work, n)
	}
}
