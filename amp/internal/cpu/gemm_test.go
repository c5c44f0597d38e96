package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// A layout says how an operand of a test lies in memory.
type layout struct {
	transposed bool
	gap        int
	kind       string // elems, load, table, f16, bf16
}

// inFull says whether it holds float64 too.
func (l layout) inFull() bool { return l.kind == "elems" || l.kind == "load" || l.kind == "table" }

var layouts = []layout{
	{false, 1, "elems"}, {true, 1, "elems"}, {false, 3, "elems"}, {true, 2, "elems"},
	{false, 1, "load"}, {true, 1, "load"}, {false, 2, "load"}, {false, 1, "table"}, {true, 1, "table"}, {false, 2, "table"},
	{false, 1, "f16"}, {true, 1, "f16"}, {false, 2, "f16"}, {false, 1, "bf16"}, {true, 1, "bf16"}, {true, 2, "bf16"},
}

// place lays a matrix out as l says and returns it with its values as they are then: halves are rounded.
func place[T float32 | float64](l layout, data []float64, rows, cols int) (Matrix[T], []float64) {
	x := Matrix[T]{Off: 3, Row: cols * l.gap, Col: l.gap}
	if l.transposed {
		x.Row, x.Col = l.gap, rows*l.gap
	}
	mem := make([]float32, 3+rows*cols*l.gap)
	wide := make([]T, len(mem))
	for i := range rows {
		for j := range cols {
			o := 3 + i*x.Row + j*x.Col
			wide[o], mem[o] = T(data[i*cols+j]), float32(data[i*cols+j])
		}
	}
	half := make([]uint16, len(mem))
	switch l.kind {
	case "elems":
		x.Elems = wide
	case "table":
		t := &Table[T]{Src: wide, Row: make([]int32, rows), Col: make([]int32, cols)}
		for i := range t.Row {
			t.Row[i] = int32(i*x.Row) - 4
		}
		for j := range t.Col {
			t.Col[j] = int32(j*x.Col) + 7
		}
		x.Table = t
		fallthrough
	case "load":
		x.Load = func(dst []T, off, stride int) {
			for i := range dst {
				dst[i] = wide[off+i*stride]
			}
		}
	case "f16":
		NarrowF16(half, mem)
		WidenF16(mem, half)
		x.F16 = half
	case "bf16":
		NarrowBF16(half, mem)
		WidenBF16(mem, half)
		x.BF16 = half
	}
	seen := make([]float64, rows*cols)
	for i := range rows {
		for j := range cols {
			o := 3 + i*x.Row + j*x.Col
			if seen[i*cols+j] = float64(wide[o]); l.kind == "f16" || l.kind == "bf16" {
				seen[i*cols+j] = float64(mem[o])
			}
		}
	}
	return x, seen
}

// gemmCase is a random product: its operands in T and, where memory is rounded, what they hold.
type gemmCase[T float32 | float64] struct {
	m, n, k int
	a, b    Matrix[T]
	va, vb  []float64
}

func newCase[T float32 | float64](m, n, k int, la, lb layout) gemmCase[T] {
	r := rand.New(rand.NewPCG(uint64(m*1000+n), uint64(k)))
	a, b := make([]float64, m*k), make([]float64, k*n)
	for _, v := range [][]float64{a, b} {
		for i := range v {
			v[i] = r.NormFloat64()
		}
	}
	c := gemmCase[T]{m: m, n: n, k: k}
	c.a, c.va = place[T](la, a, m, k)
	c.b, c.vb = place[T](lb, b, k, n)
	return c
}

// rows computes the product row by row.
func (c gemmCase[T]) rows() []T {
	out := make([]T, c.m*c.n)
	Gemm(c.m, c.n, c.k, c.a, c.b, func(i int, row []T) { copy(out[i*c.n:(i+1)*c.n], row) })
	return out
}

// run computes the product in all three ways, which must agree to the bit, and each element must be given once.
func (c gemmCase[T]) run(t *testing.T) []T {
	t.Helper()
	m, n := c.m, c.n
	rows, pieces, direct := c.rows(), make([]T, m*n), make([]T, 5+m*(n+3))
	count := make([]atomic.Int32, m*n)
	GemmTo(m, n, c.k, c.a, c.b, Result[T]{Done: func(i, j int, row []T) {
		copy(pieces[i*n+j:], row)
		for q := range row {
			count[i*n+j+q].Add(1)
		}
	}})
	for i := range direct {
		direct[i] = 99
	}
	GemmTo(m, n, c.k, c.a, c.b, Result[T]{Elems: direct, Off: 5, Row: n + 3, Done: func(i, j int, row []T) {
		for q := range row {
			row[q] = -row[q]
		}
	}})
	for i := range direct {
		r, j := (i-5)/(n+3), (i-5)%(n+3)
		if i < 5 || j >= n {
			if direct[i] != 99 {
				t.Fatalf("%d×%d×%d wrote beside the result", m, n, c.k)
			}
			continue
		}
		if -direct[i] != rows[r*n+j] {
			t.Fatalf("%d×%d×%d: in memory %v, by rows %v", m, n, c.k, -direct[i], rows[r*n+j])
		}
	}
	for i := range count {
		if count[i].Load() != 1 || rows[i] != pieces[i] {
			t.Fatalf("%d×%d×%d: element %d given %d times, %v by rows, %v in pieces", m, n, c.k, i, count[i].Load(), rows[i], pieces[i])
		}
	}
	return rows
}

// check holds a product to float64 arithmetic in the bound of a sum of k rounded products.
func (c gemmCase[T]) check(t *testing.T, got []T, u float64) {
	t.Helper()
	for i := range c.m {
		for j := range c.n {
			var want, size float64
			for p := range c.k {
				v := c.va[i*c.k+p] * c.vb[p*c.n+j]
				want += v
				size += math.Abs(v)
			}
			if d := math.Abs(float64(got[i*c.n+j]) - want); d > u*size*float64(c.k+2) {
				t.Fatalf("%d×%d×%d: element %d %d is %v, want %v", c.m, c.n, c.k, i, j, got[i*c.n+j], want)
			}
		}
	}
}

var oddSizes = [][3]int{
	{1, 1, 1}, {1, 33, 5}, {2, 64, 3}, {5, 1, 7}, {7, 17, 2}, {13, 31, 9}, {12, 32, 64}, {25, 65, 300}, {3, 100, 513}, {100, 3, 70},
	{97, 129, 31}, {1, 600, 257}, {24, 48, 1000}, {200, 40, 20}, {300, 1, 131}, {17, 1, 3}, {1, 1100, 9}, {1, 512, 6}, {150, 201, 45}, {301, 500, 9}, {1, 1300, 300}, {1, 290, 13},
}

// TestGemmEveryVariant: every layout against float64, in every mode.
func TestGemmEveryVariant(t *testing.T) {
	eachMode(t, func(t *testing.T) {
		for i, s := range oddSizes {
			for q, la := range layouts {
				lb := layouts[(q+i)%len(layouts)]
				c := newCase[float32](s[0], s[1], s[2], la, lb)
				c.check(t, c.run(t), 0x1p-24)
				if la.inFull() && lb.inFull() {
					d := newCase[float64](s[0], s[1], s[2], la, lb)
					d.check(t, d.run(t), 0x1p-53)
				}
			}
		}
	})
}

// TestGemmOfNoTerms: sums of no products are zeros in every layout, halves too, whichever kernel the dtype would have had.
func TestGemmOfNoTerms(t *testing.T) {
	eachMode(t, func(t *testing.T) {
		for _, la := range layouts {
			for _, s := range [][2]int{{1, 1}, {2, 6}, {70, 130}} {
				c := newCase[float32](s[0], s[1], 0, la, la)
				c.check(t, c.run(t), 0)
			}
		}
	})
}

// TestGemmCuts takes shapes that are cut along k and along n: long thin ones, and one with more columns than a pass packs.
func TestGemmCuts(t *testing.T) {
	for _, s := range [][3]int{{3, 5, 300000}, {30, 1100, 1500}, {2, 70000, 20}, {40, 70000, 20}, {200, 400, 1030}} {
		c := newCase[float32](s[0], s[1], s[2], layouts[0], layouts[1])
		c.check(t, c.run(t), 0x1p-24)
	}
	d := newCase[float64](200, 400, 1030, layouts[1], layouts[0])
	d.check(t, d.run(t), 0x1p-53)
}

// TestReproducibleGemm: in reproducible mode all variants give the same bits, for all dtypes, layouts and odd sizes.
func TestReproducibleGemm(t *testing.T) {
	if best() == Generic {
		t.Skip("one variant only on this machine")
	}
	was := Current()
	defer SetMode(was)
	differs := false
	check := func(s [3]int, la, lb, l64 layout) {
		c, d := newCase[float32](s[0], s[1], s[2], la, lb), newCase[float64](s[0], s[1], s[2], l64, l64)
		var first []float32
		var first64 []float64
		for v := Generic; v <= best(); v++ {
			SetMode(Mode{v, true})
			got, got64 := c.rows(), d.rows()
			if v == Generic {
				first, first64 = got, got64
			}
			if !slices.Equal(got, first) || !slices.Equal(got64, first64) {
				t.Fatalf("%v %v %v: %v differs from generic", s, la, lb, v)
			}
		}
		SetMode(Mode{Generic, false})
		differs = differs || !slices.Equal(c.rows(), first)
	}
	for i, s := range oddSizes {
		for q, la := range layouts {
			check(s, la, layouts[(q*5+i)%len(layouts)], layouts[(q+i)%10])
		}
	}
	check([3]int{30, 70, 1200}, layouts[0], layouts[1], layouts[0])
	check([3]int{130, 90, 400}, layouts[11], layouts[12], layouts[1])
	if !differs {
		t.Log("the plain generic kernel fuses here too")
	}
}

// TestGemmPanicsOutside: assembly must not be what finds a wrong stride.
func TestGemmPanicsOutside(t *testing.T) {
	mem := make([]float32, 100)
	good := Matrix[float32]{Row: 10, Col: 1, Elems: mem}
	for name, f := range map[string]func(){
		"a": func() {
			GemmTo(10, 10, 10, Matrix[float32]{Row: 11, Col: 1, Elems: mem}, good, Result[float32]{Elems: mem, Row: 10})
		},
		"b": func() {
			GemmTo(10, 10, 10, good, Matrix[float32]{Off: -1, Row: 10, Col: 1, Elems: mem}, Result[float32]{Elems: mem, Row: 10})
		},
		"result": func() { GemmTo(10, 10, 10, good, good, Result[float32]{Elems: make([]float32, 99), Row: 10}) },
	} {
		if !panics(f) {
			t.Errorf("%s out of range: no panic", name)
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func ExampleGemmTo() {
	a := Matrix[float32]{Row: 2, Col: 1, Elems: []float32{1, 2, 3, 4}}
	b := Matrix[float32]{Row: 1, Col: 2, Elems: []float32{1, 0, 0, 1}} // stored by columns
	c := make([]float32, 4)
	GemmTo(2, 2, 2, a, b, Result[float32]{Elems: c, Row: 2})
	fmt.Println(c)
	// Output: [1 2 3 4]
}
