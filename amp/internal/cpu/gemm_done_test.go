package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestNarrowProducts: results of few columns are rounded many rows at once where these follow each other; they are those that stand alone.
func TestNarrowProducts(t *testing.T) {
	was := Current()
	defer SetMode(was)
	for v := Generic; v <= best(); v++ {
		SetMode(Mode{v, was.Reproducible})
		for n := 1; n <= 20; n++ {
			for _, s := range [][2]int{{1, 3}, {5, 1}, {33, 17}, {70, 5000}} {
				m, k := s[0], s[1]
				for _, f16 := range []bool{false, true} {
					apart, close := narrowProduct(m, n, k, n+3, f16), narrowProduct(m, n, k, n, f16)
					for i := range m {
						for j := range n {
							if x, y := close[2+i*n+j], apart[2+i*(n+3)+j]; x != y {
								t.Fatalf("%v, %d×%d×%d, f16 %v: element %d %d is %#x where rows follow each other, else %#x", v, m, n, k, f16, i, j, x, y)
							}
						}
						for j := n; j < n+3 && i+1 < m; j++ {
							if x := apart[2+i*(n+3)+j]; x != 7 {
								t.Fatalf("%v, %d×%d×%d, f16 %v: %#x was written behind row %d", v, m, n, k, f16, x, i)
							}
						}
					}
				}
			}
		}
	}
}

// narrowProduct is a product with a bias, rounded to halves in rows so far apart; the result starts at element 2.
func narrowProduct(m, n, k, row int, f16 bool) []uint16 {
	r := rand.New(rand.NewPCG(uint64(m), uint64(n)))
	list := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	a, b, bias, short := list(m*k), list(k*n), list(n), make([]uint16, 2+m*row)
	a[0], bias[n-1] = float32(math.Inf(1)), 1e-41
	for i := range short {
		short[i] = 7
	}
	out := Result[float32]{Off: 2, Row: row, Bias: bias}
	if out.BF16 = short; f16 {
		out.F16, out.BF16 = short, nil
	}
	GemmTo(m, n, k, Matrix[float32]{Elems: a, Row: k, Col: 1}, Matrix[float32]{Elems: b, Row: n, Col: 1}, out)
	return short
}
