package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A dense matrix for tests, row after row.
func timesT(a, b []float64, m, k, n int, turnA, turnB bool) []float64 {
	c := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for q := range k {
				x, y := i*k+q, q*n+j
				if turnA {
					x = q*m + i
				}
				if turnB {
					y = j*k + q
				}
				c[i*n+j] += float64(a[x] * b[y])
			}
		}
	}
	return c
}

func farthest(a, b []float64) float64 {
	most := 0.0
	for i, v := range a {
		if d := math.Abs(v - b[i]); !(d <= most) {
			most = d
		}
	}
	return most
}

func eye(n int) []float64 {
	a := make([]float64, n*n)
	identity(a, n, n)
	return a
}

func TestQRFactors(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for _, size := range [][2]int{{1, 1}, {2, 2}, {5, 3}, {3, 5}, {1, 4}, {4, 1}, {70, 33}, {33, 70}, {200, 200}} {
		m, n := size[0], size[1]
		k := min(m, n)
		for _, full := range []bool{false, true} {
			a := normals64(r, m*n)
			if m == 5 {
				for i := range m {
					a[i*n+1] = 0
				}
			}
			cols, rows := k, k
			if full {
				cols, rows = m, m
			}
			room := make([]float64, QRRoom(m, n, cols))
			copy(room, a)
			q, up := make([]float64, m*cols), make([]float64, rows*n)
			QR(room, m, n, cols, rows, q, up)
			if d := farthest(timesT(q, up, m, cols, n, false, false), a); d > 1e-13*float64(m+n) {
				t.Errorf("%v full %v: Q·R is off by %g", size, full, d)
			}
			if d := farthest(timesT(q, q, cols, m, cols, true, false), eye(cols)); d > 1e-14*float64(m+n) {
				t.Errorf("%v full %v: Qᵀ·Q is off by %g", size, full, d)
			}
		}
	}
}

func TestEigenvalues(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 4))
	for _, n := range []int{1, 2, 3, 4, 5, 10, 33, 100, 200} {
		for kind := range 6 {
			a := make([]float64, n*n)
			x := normals64(r, n*n)
			scale := 1.0
			for i := range n {
				for j := range n {
					switch kind {
					case 0:
						a[i*n+j] = x[i*n+j] + x[j*n+i]
					case 1: // of rank 1
						a[i*n+j] = x[i] * x[j]
					case 2:
						if i+j == n-1 {
							a[i*n+j] = 1
						}
					case 3:
						scale = 0x1p-1040
						a[i*n+j] = (x[i*n+j] + x[j*n+i]) * scale
					case 4:
						scale = 0x1p1018
						a[i*n+j] = (x[i*n+j] + x[j*n+i]) * scale
					}
				}
			}
			w, z := make([]float64, n), make([]float64, n*n)
			room := make([]float64, EighRoom(n))
			copy(room, a)
			if at := Eigh(room, n, w, z); at >= 0 {
				t.Fatalf("n %d kind %d: no convergence at %d", n, kind, at)
			}
			alone := make([]float64, n)
			copy(room, a)
			Eigh(room, n, alone, nil)
			if !slices.Equal(w, alone) || !slices.IsSorted(w) {
				t.Errorf("n %d kind %d: values %v, alone %v", n, kind, w, alone)
			}
			if d := farthest(timesT(z, z, n, n, n, true, false), eye(n)); d > 1e-14*float64(n+10) {
				t.Errorf("n %d kind %d: vectors are not orthonormal by %g", n, kind, d)
			}
			zw := slices.Clone(z)
			for i := range zw {
				zw[i] *= w[i%n]
			}
			if d := farthest(timesT(zw, z, n, n, n, false, true), a); d/scale > 1e-13*float64(n+10) && d > 0x1p-1040 {
				t.Errorf("n %d kind %d: off by %g", n, kind, d/scale)
			}
		}
	}
}

func TestSingularValues(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 5))
	for _, size := range [][2]int{{1, 1}, {2, 2}, {3, 3}, {5, 3}, {4, 1}, {10, 10}, {70, 33}, {100, 100}, {200, 150}} {
		m, n := size[0], size[1]
		for kind := range 6 {
			for _, full := range []bool{false, true} {
				a := make([]float64, m*n)
				x := normals64(r, m*n)
				scale := 1.0
				for i := range m {
					for j := range n {
						switch kind {
						case 0:
							a[i*n+j] = x[i*n+j]
						case 1:
							a[i*n+j] = x[i] * x[j]
						case 2:
							if i == j {
								a[i*n+j] = 1
							}
						case 3:
							scale = 0x1p-1040
							a[i*n+j] = x[i*n+j] * scale
						case 4: // columns of zeros
							if j%3 != 1 {
								a[i*n+j] = x[i*n+j]
							}
						}
					}
				}
				cols := n
				if full {
					cols = m
				}
				s, u, vh := make([]float64, n), make([]float64, m*cols), make([]float64, n*n)
				room := make([]float64, SVDRoom(m, n, cols))
				copy(room, a)
				if at := SVD(room, m, n, cols, false, s, u, vh); at >= 0 {
					t.Fatalf("%v kind %d: no convergence at %d", size, kind, at)
				}
				alone := make([]float64, n)
				copy(room, a)
				SVD(room, m, n, 0, false, alone, nil, nil)
				if !slices.Equal(s, alone) || !slices.IsSortedFunc(s, func(a, b float64) int { return int(math.Copysign(1, b-a)) * btoi(a != b) }) {
					t.Errorf("%v kind %d: values %v, alone %v", size, kind, s, alone)
				}
				if d := farthest(timesT(u, u, cols, m, cols, true, false), eye(cols)); d > 1e-14*float64(m+10) {
					t.Errorf("%v kind %d: U is not orthonormal by %g", size, kind, d)
				}
				if d := farthest(timesT(vh, vh, n, n, n, false, true), eye(n)); d > 1e-14*float64(m+10) {
					t.Errorf("%v kind %d: V is not orthonormal by %g", size, kind, d)
				}
				us := make([]float64, m*n)
				for i := range m {
					for j := range n {
						us[i*n+j] = u[i*cols+j] * s[j]
					}
				}
				if d := farthest(timesT(us, vh, m, n, n, false, false), a); d/scale > 1e-13*float64(m+10) && d > 0x1p-1040 {
					t.Errorf("%v kind %d: off by %g", size, kind, d/scale)
				}
			}
		}
	}
}

func btoi(v bool) int {
	if v {
		return 1
	}
	return 0
}
