package cpu

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
)

// Shapes at which a path of its own runs, none of them a multiple of a tile, and beside the fast path what is next to it. Results are compared
// with the plain Go twin bit by bit, with any number of threads.

// A shapeCase is a product; out is where it goes.
type shapeCase struct {
	m, n, k int
	a, b    layout
	out     string // f32, f16, bf16, done
	bias    bool
	tight   bool // rows of the result follow each other
}

func (c shapeCase) String() string {
	return fmt.Sprintf("%d×%d×%d %v %v to %s, bias %v, tight %v", c.m, c.n, c.k, c.a, c.b, c.out, c.bias, c.tight)
}

func shapeCases() (all []shapeCase) {
	outs := []string{"f32", "bf16", "f16", "done"}
	row, turned, half := layout{false, 1, "elems"}, layout{true, 1, "elems"}, layout{false, 1, "bf16"}
	for i, m := range []int{3, 4, 5, 6, 7, 8, 9, 24} { // five to eight rows: wide tiles
		for j, n := range []int{95, 96, 97, 127, 145, 257, 513} {
			for q, k := range []int{1, 3, 4, 5, 37, 261} {
				a := row
				if (i+j+q)%3 == 0 {
					a = []layout{turned, half}[j%2]
				}
				all = append(all, shapeCase{m, n, k, a, row, outs[(i+2*j+q)%4], (j+q)%2 == 0, false})
			}
		}
	}
	all = append(all, shapeCase{7, 211, 1031, row, row, "f32", true, false}, shapeCase{8, 1030, 515, half, row, "bf16", false, false}) // k is cut
	for i, s := range [][3]int{{97, 67, 131}, {193, 131, 129}, {205, 70, 257}, {301, 99, 75}} {                                        // many rows: packed, and rounded some at a time
		for j, a := range []layout{turned, half, row, {true, 1, "f16"}} {
			all = append(all, shapeCase{s[0], s[1], s[2], a, []layout{row, half}[(i+j)%2], outs[(i+j)%4], i%2 == 0, false})
		}
	}
	for i, s := range [][3]int{{50, 70, 41}, {31, 131, 258}, {300, 67, 130}} { // several panels of AVX2 are packed beside each other
		for j, b := range []layout{{false, 1, "f16"}, half, row, {true, 1, "f16"}} {
			all = append(all, shapeCase{s[0], s[1], s[2], []layout{turned, row, {true, 1, "bf16"}}[(i+j)%3], b, outs[(i+j)%4], j%2 == 0, false})
		}
	}
	for i, k := range []int{1, 2, 3, 4, 65, 66, 67, 68} { // a row times columns: what is left of four steps
		all = append(all, shapeCase{1, 67, k, []layout{row, half}[i%2], turned, outs[i%4], i%3 == 0, false})
	}
	for i, n := range []int{16, 31, 32, 33, 47, 48, 64, 79} { // 32 columns, 16, and what is left; whole lines, and what is left of those
		for j, k := range []int{15, 16, 17, 31, 33, 64, 127} {
			all = append(all, shapeCase{1, n, k, []layout{row, half}[j%2], turned, outs[(i+j)%4], i%3 == 0, false})
		}
	}
	for i, s := range [][2]int{{257, 1031}, {511, 773}, {1000, 397}, {1031, 403}, {4095, 101}, {4097, 67}, {4131, 261}} { // one row, or column, shared by workers
		all = append(all, shapeCase{1, s[0], s[1], []layout{row, turned, half}[i%3], []layout{row, row, row, turned}[i%4], outs[i%4], i%2 == 0, false}, shapeCase{s[0], 1, s[1], turned, row, "f32", false, false})
	}
	all = append(all, fewColumnCases()...)
	return append(all, shapeCase{150, 330, 517, row, row, "f32", false, false}, shapeCase{270, 290, 97, turned, turned, "f32", true, false},
		shapeCase{403, 199, 509, row, row, "f32", true, false}) // large tiles
}

// fewColumnCases are products of few columns, as small networks have: halves are widened as they lie in memory, whole or row by row.
func fewColumnCases() (all []shapeCase) {
	left := []layout{{false, 1, "bf16"}, {true, 1, "f16"}, {false, 1, "elems"}, {false, 1, "f16"}, {true, 1, "bf16"}, {false, 2, "bf16"}, {true, 1, "elems"}}
	right := []layout{{true, 1, "bf16"}, {false, 1, "elems"}, {false, 1, "f16"}, {true, 1, "elems"}, {false, 1, "bf16"}}
	outs := []string{"bf16", "f32", "f16", "done"}
	i := 0
	for _, m := range []int{13, 97, 611} {
		for _, n := range []int{1, 8, 16, 17, 40, 64} {
			for _, k := range []int{1, 8, 16, 67, 300} {
				for range 3 {
					all = append(all, shapeCase{m, n, k, left[i%len(left)], right[i/2%len(right)], outs[i%len(outs)], i%3 == 0, i%5 < 3})
					i++
				}
			}
		}
	}
	return all
}

// product is the bits of the result; some operands are NaN, infinite or subnormal.
func (c shapeCase) product() []uint32 {
	r := rand.New(rand.NewPCG(uint64(c.m*1000+c.n), uint64(c.k)))
	fill := func(n int, special ...float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for _, v := range special {
			x[r.IntN(n)] = v
		}
		return x
	}
	a, _ := place[float32](c.a, fill(c.m*c.k, math.NaN(), 0x1p-140), c.m, c.k)
	b, _ := place[float32](c.b, fill(c.k*c.n, math.Inf(1), -0x1p-130, 0x1p-149), c.k, c.n)
	row := c.n + 5
	if c.tight {
		row = c.n
	}
	full, short := make([]float32, 3+c.m*row), make([]uint16, 3+c.m*row)
	out := Result[float32]{Off: 3, Row: row}
	if c.bias {
		out.Bias = make([]float32, c.n)
		for i := range out.Bias {
			out.Bias[i] = r.Float32()
		}
	}
	switch c.out {
	case "f32":
		out.Elems = full
	case "f16":
		out.F16 = short
	case "bf16":
		out.BF16 = short
	case "done":
		out.Done = func(i, j int, piece []float32) { copy(full[3+i*row+j:], piece) }
	}
	GemmTo(c.m, c.n, c.k, a, b, out)
	bits := make([]uint32, len(full))
	for i, v := range full {
		if bits[i] = math.Float32bits(v) ^ uint32(short[i]); v != v {
			bits[i] = 0x7fc00000 // which NaN it is depends on the order of operands
		}
	}
	switch { // the same of halves
	case c.out == "f16":
		for i, v := range short {
			if v&0x7fff > 0x7c00 {
				bits[i] = 0x7e00
			}
		}
	case c.out == "bf16":
		for i, v := range short {
			if v&0x7fff > 0x7f80 {
				bits[i] = 0x7fc0
			}
		}
	}
	return bits
}

// TestGemmOddShapes: vector kernels give the bits of their plain twin.
func TestGemmOddShapes(t *testing.T) {
	if best() == Generic {
		t.Skip("one variant only on this machine")
	}
	was := Current()
	defer SetMode(was)
	for _, c := range shapeCases() {
		SetMode(Mode{Generic, true})
		want := c.product()
		for v := AVX2; v <= best(); v++ {
			SetMode(Mode{v, true})
			for i, got := range c.product() {
				if got != want[i] {
					t.Fatalf("%v, %v: element %d is %#x, %#x in plain Go", v, c, i, got, want[i])
				}
			}
		}
	}
}

// TestGemmOddShapesThreads: the same bits from 1, 2 and 3 threads, each in a process of its own.
func TestGemmOddShapesThreads(t *testing.T) {
	const asked = "HALFTONE_TEST_GEMM_SHAPES"
	if os.Getenv(asked) != "" {
		sum := fnv.New64a()
		for _, c := range shapeCases() {
			for _, v := range c.product() {
				fmt.Fprintf(sum, "%x,", v)
			}
		}
		fmt.Printf("sum %x of %d threads\n", sum.Sum64(), Threads())
		return
	}
	var first uint64
	for threads := 1; threads <= 3; threads++ {
		cmd := exec.Command(os.Args[0], "-test.run=^TestGemmOddShapesThreads$", "-test.count=1")
		cmd.Env = append(os.Environ(), asked+"=1", fmt.Sprintf("HALFTONE_THREADS=%d", threads))
		out, err := cmd.CombinedOutput()
		var sum uint64
		var of int
		if _, scan := fmt.Sscanf(string(out), "sum %x of %d threads", &sum, &of); err != nil || scan != nil || of != threads {
			t.Fatalf("%d threads: %v, %v\n%s", threads, err, scan, out)
		}
		if threads == 1 {
			first = sum
		}
		if sum != first {
			t.Errorf("%d threads give other bits than one", threads)
		}
	}
}
