package cpu

import "testing"

// largeCases are products with large tiles, no size of which is a multiple of theirs.
func largeCases() (all []shapeCase) {
	kinds := []string{"bf16", "elems", "f16"}
	for i, s := range [][3]int{{403, 199, 509}, {751, 193, 521}, {751, 521, 523}, {1549, 241, 131}, {433, 313, 463}, {397, 2081, 511}} {
		for j := range 4 {
			all = append(all, shapeCase{s[0], s[1], s[2], layout{j&1 > 0, 1, "elems"}, layout{j&2 > 0, 1, "elems"}, "f32", (i+j)%2 == 0, false})
			all = append(all, shapeCase{s[0], s[1], s[2], layout{j&1 > 0, 1, kinds[(i+j)%3]}, layout{j&2 > 0, 1, kinds[(i+j+1+i%2)%3]}, []string{"bf16", "f16", "done"}[(i+2*j)%3], (i+j)%2 > 0, false})
		}
	}
	return all
}

// TestLargeTiles: they give the bits of the kernels for AVX2, which other tests compare with plain Go, with any number of threads.
func TestLargeTiles(t *testing.T) {
	if best() != AVX512 {
		t.Skip("this machine has no such tiles")
	}
	defer SetMode(Current())
	defer SetThreads(0)
	for _, c := range largeCases() {
		SetMode(Mode{AVX2, true})
		SetThreads(1)
		want := c.product()
		SetMode(Mode{AVX512, true})
		for threads := 1; threads <= 3; threads++ {
			SetThreads(threads)
			for i, got := range c.product() {
				if got != want[i] {
					t.Fatalf("%v, %d threads: element %d is %#x, %#x with AVX2", c, threads, i, got, want[i])
				}
			}
		}
	}
}

// TestLargeTilesRun: those shapes reach large tiles with each of what these do apart: several parts
// of rows, k cut and not, columns cut, a bias, and transposed operands; and every part begins with a tile and follows the one before.
func TestLargeTilesRun(t *testing.T) {
	if best() != AVX512 {
		t.Skip("this machine has no such tiles")
	}
	defer SetMode(Current())
	SetMode(Mode{AVX512, false})
	seen := map[string]int{}
	for _, c := range largeCases() {
		a, _ := place[float32](c.a, make([]float64, c.m*c.k), c.m, c.k)
		b, _ := place[float32](c.b, make([]float64, c.k*c.n), c.k, c.n)
		g := product[float32]{m: c.m, n: c.n, k: c.k, depth: c.k, a: a, b: b, kern: kernelOf[float32]()}
		switch g.out.Row = c.n; c.out {
		case "f32":
			g.out.Elems = make([]float32, c.m*c.n)
		case "f16", "bf16":
			g.out.F16 = make([]uint16, c.m*c.n)
		}
		chooseTiles(&g)
		if g.kern != &largeF32 {
			t.Errorf("%v: other tiles", c)
			continue
		}
		if g.plan(); g.byColumns() {
			t.Errorf("%v: large tiles where each task packs all rows", c)
		}
		g.plan()
		for what, is := range map[string]bool{
			"all": true, "parts": g.down() > 1, "k cut": g.ks < g.k, "k whole": g.ks == g.k, "panels cut": g.kc < g.ks, "columns cut": g.nc < g.n,
			"bias": c.bias, "a turned": c.a.transposed, "b turned": c.b.transposed, "both turned": c.a.transposed && c.b.transposed,
			"rows left over": c.m%g.kern.rows > 0, "16 columns or fewer left over": c.n%g.kern.cols <= 16, "more than 16": c.n%g.kern.cols > 16 && c.n%g.kern.cols <= 32, "more than 32": c.n%g.kern.cols > 32,
		} {
			if is {
				seen[what]++
			} else {
				seen[what] += 0
			}
		}
		end := 0
		for q := range g.down() {
			lo, hi := g.part(q), g.part(q+1)
			if lo != end || hi <= lo || lo%g.kern.rows > 0 || hi-lo > g.mb+g.kern.rows {
				t.Errorf("%v: part %d of %d is rows %d to %d, after %d", c, q, g.down(), lo, hi, end)
			}
			end = hi
		}
		if end != c.m {
			t.Errorf("%v: the parts end at row %d", c, end)
		}
	}
	for what, n := range seen {
		if n == 0 {
			t.Errorf("no shape for: %s", what)
		}
	}
}
