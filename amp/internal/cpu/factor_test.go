package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFactorsArePlainLoops compares bits of the blocked kernels with those of the textbook's loops, for sizes around the blocks and their
// tiles, on every variant.
func TestFactorsArePlainLoops(t *testing.T) {
	for _, v := range Variants() {
		t.Run(v.String(), func(t *testing.T) {
			defer SetMode(Current())
			SetMode(Mode{Variant: v})
			for _, n := range []int{0, 1, 2, 3, 5, factorPanel + 1, factorBlock - 1, factorBlock, factorBlock + 1, 2*factorBlock + 7, 4*factorBlock + 10} {
				factorsArePlain(t, n)
			}
		})
	}
}

func factorsArePlain(t *testing.T, n int) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	a := normals64(r, n*n)
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

	const more = 2 // columns that are left alone
	got, want = normals64(r, n*(n+more)), nil
	want = slices.Clone(got)
	rows, plain := make([]int, n), make([]int, n)
	LU(got, n, n+more, rows)
	plainLU(want, n, n+more, plain)
	sameNumbers(t, "LU", n, got, want)
	if !slices.Equal(rows, plain) {
		t.Errorf("n %d: pivots %v, want %v", n, rows, plain)
	}

	if n > 2 {
		spd[n*n-1] = 0
	}
	for _, m := range []int{0, 1, 2, 5, 8, 23, SolveColumns + 19} {
		for way := range 16 {
			lower := Triangle{Data: spd, Row: n, Step: 1, N: n, Unit: way&1 != 0}
			if way&8 != 0 {
				lower.Nudge = 0.5
			}
			x := normals64(r, n*(m+1))
			y := slices.Clone(x)
			sides, plain := Sides{Data: x, Row: m + 1, M: m}, Sides{Data: y, Row: m + 1, M: m}
			if way&2 != 0 {
				lower = lower.Transposed()
			}
			if way&4 != 0 {
				lower, sides, plain = lower.Back(), sides.Back(n), plain.Back(n)
			}
			packed, z := sides, slices.Clone(x)
			packed.Data = z
			lower.Solve(sides)
			plainSolve(&lower, &plain)
			sameNumbers(t, "Solve", n, x, y)
			lower = lower.Pack(normals64(r, PackRoom(n)))
			lower.Solve(packed)
			sameNumbers(t, "Solve, packed", n, z, y)
		}
	}
}

func normals64(r *rand.Rand, n int) []float64 {
	a := make([]float64, n)
	for i := range a {
		a[i] = r.NormFloat64()
	}
	return a
}

func plainSolve(t *Triangle, x *Sides) {
	for i := range t.N {
		for j := range x.M {
			v := x.row(i)[j]
			for k := range i {
				v = math.FMA(-t.At(i, k), x.row(k)[j], v)
			}
			if d := t.At(i, i); !t.Unit && d == 0 && t.Nudge != 0 {
				v /= t.Nudge
			} else if !t.Unit {
				v /= d
			}
			x.row(i)[j] = v
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
				a[i*n+j] = math.FMA(-a[i*n+k], a[j*n+k], a[i*n+j])
			}
		}
	}
}

func plainLU(a []float64, n, stride int, pivots []int) {
	for k := range n {
		at := largest(a, n, stride, k)
		pivots[k] = at
		for j := range n {
			a[k*stride+j], a[at*stride+j] = a[at*stride+j], a[k*stride+j]
		}
		for i := k + 1; i < n; i++ {
			a[i*stride+k] /= a[k*stride+k]
			for j := k + 1; j < n; j++ {
				a[i*stride+j] = math.FMA(-a[i*stride+k], a[k*stride+j], a[i*stride+j])
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
