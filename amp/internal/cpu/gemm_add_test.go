package cpu

import (
	"math/rand/v2"
	"testing"
)

// TestGemmAdds: with Add a product is added to what is in the result, on every way that it may take, and nothing beside it changes. Small
// whole numbers leave no rounding.
func TestGemmAdds(t *testing.T) {
	was := Current()
	defer SetMode(was)
	for v := Generic; v <= best(); v++ {
		SetMode(Mode{v, was.Reproducible})
		for _, s := range [][3]int{{1, 1, 1}, {5, 7, 0}, {1, 300, 9}, {1, 40, 33}, {40, 1, 33}, {13, 20, 5}, {64, 64, 256}, {256, 64, 64}, {64, 250, 64}, {30, 50, 1100}, {200, 200, 700}} {
			for _, way := range []string{"rows", "columns", "bfloat16", "bias"} {
				m, n, k := s[0], s[1], s[2]
				if !addsProduct(m, n, k, way) {
					t.Errorf("%v: %d×%d×%d, %s: another result", v, m, n, k, way)
				}
			}
		}
	}
}

// addsProduct compares a product of small whole numbers, a given in this way, with sums of its own.
func addsProduct(m, n, k int, way string) bool {
	r := rand.New(rand.NewPCG(uint64(m), uint64(n)))
	list := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.IntN(7) - 3)
		}
		return x
	}
	row := n + 3
	a, b, c := list(m*k), list(k*n), list(m*row)
	want, left := append([]float32(nil), c...), Matrix[float32]{Elems: a, Row: k, Col: 1}
	if way == "columns" {
		left.Row, left.Col = 1, m
	}
	out := Result[float32]{Row: row, Elems: c, Add: true}
	if way == "bias" {
		out.Bias = list(n)
	}
	for i := range m {
		for j := range n {
			for p := range k {
				want[i*row+j] += a[i*left.Row+p*left.Col] * b[p*n+j]
			}
			if way == "bias" {
				want[i*row+j] += out.Bias[j]
			}
		}
	}
	right := Matrix[float32]{Elems: b, Row: n, Col: 1}
	if way == "bfloat16" {
		left.Elems, left.BF16 = nil, make([]uint16, m*k)
		right.Elems, right.BF16 = nil, make([]uint16, k*n)
		NarrowBF16(left.BF16, a)
		NarrowBF16(right.BF16, b)
	}
	GemmTo(m, n, k, left, right, out)
	for i, x := range c {
		if x != want[i] {
			return false
		}
	}
	return true
}
