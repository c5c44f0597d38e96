package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// forPairs makes VDPBF16PS the way to multiply bfloat16, where the machine has it, until the test ends.
func forPairs(t *testing.T) {
	mode, way := Current(), Dot(dot.Load())
	t.Cleanup(func() { SetMode(mode); SetDot(way) })
	SetMode(Mode{Variant: AVX512})
	SetDot(Pairs)
	if !PairProducts() {
		t.Skip("no VDPBF16PS")
	}
}

// awkwardHalves returns bfloat16 of which some are NaN, infinite or subnormal.
func awkwardHalves(r *rand.Rand, n int) []uint16 {
	out := make([]uint16, n)
	for i, v := range awkward(r, n) {
		out[i] = F32ToBF16(v)
	}
	return out
}

// paired returns pairs of the elements, an earlier one in the low half.
func paired(x []uint16) []uint32 {
	out := make([]uint32, len(x)/2)
	for i := range out {
		out[i] = uint32(x[2*i]) | uint32(x[2*i+1])<<16
	}
	return out
}

// stepPair is what VDPBF16PS makes of c: the product of the later halves is added first.
func stepPair(x, y uint32, c float32) float32 {
	c = step(BF16ToF32(uint16(x>>16)), BF16ToF32(uint16(y>>16)), c)
	return step(BF16ToF32(uint16(x)), BF16ToF32(uint16(y)), c)
}

// TestPairProduct compares every element with one chain of steps in the order of k, for all heights, numbers of vectors and results, and what is not
// written with what was there.
func TestPairProduct(t *testing.T) {
	forPairs(t)
	r := rand.New(rand.NewPCG(5, 7))
	for trial := range 400 {
		rows, k, n := 1+r.IntN(20), 1+r.IntN(40), 1+r.IntN(9)
		x, b := paired(awkwardHalves(r, 2*rows*k)), paired(awkwardHalves(r, 1400))
		var steps StepTable
		at := make([]int, k)
		for p := range at {
			at[p] = r.IntN(400)
			steps.Add(at[p])
		}
		steps.Threes, steps.Ahead = trial%2 == 0, r.IntN(100) // they change what is fetched, not what is summed
		cols := make([]StepColumn, n)
		row := 16*n + r.IntN(3)
		for v := range cols {
			cols[v] = StepColumn{From: r.IntN(280), To: 16 * v, Have: 1 + r.IntN(16)}
		}
		var bias []float32
		if trial%3 == 0 {
			bias = awkward(r, rows)
		}
		add, half := trial%4 == 1, trial%4 >= 2
		got, gotHalf := awkward(r, rows*row), awkwardHalves(r, rows*row)
		want, wantHalf := slices.Clone(got), slices.Clone(gotHalf)
		for i := range rows {
			for _, c := range cols {
				for j := range c.Have {
					var sum float32
					for p := range k {
						sum = stepPair(x[i*k+p], b[c.From+at[p]+j], sum)
					}
					if bias != nil {
						sum += bias[i]
					}
					to := i*row + c.To + j
					if wantHalf[to] = F32ToBF16(sum); add {
						sum += want[to]
					}
					want[to] = sum
				}
			}
		}
		a := make([]uint32, rows*k)
		for i := 0; i < rows; {
			h := StepHeight(rows - i)
			for p := range k {
				for y := range h {
					a[i*k+p*h+y] = x[(i+y)*k+p]
				}
			}
			i += h
		}
		same := false
		if half {
			PairProduct(rows, a, b, &steps, cols, gotHalf, row, bias, false)
			same = slices.EqualFunc(gotHalf, wantHalf, func(x, y uint16) bool { return sameHalf(BF16, x, y) })
		} else {
			PairProduct(rows, a, b, &steps, cols, got, row, bias, add)
			same = equalBits(got, want)
		}
		if !same {
			t.Fatalf("%d rows, %d steps, columns %v, bias %v, add %v, halves %v", rows, k, cols, bias != nil, add, half)
		}
	}
}

// TestImagePairs is TestImageProduct for pairs, which looks for no weight that is not finite.
func TestImagePairs(t *testing.T) {
	forPairs(t)
	r := rand.New(rand.NewPCG(7, 9))
	for trial := range 300 {
		rows, channels, panel, taps := 1+r.IntN(ImageRows), 1+r.IntN(20), 1+r.IntN(12), 1+r.IntN(16)
		inA, rowA := taps, taps*channels
		if trial%2 == 0 { // as in a transposed convolution
			inA, rowA = taps*rows+r.IntN(3), taps
		}
		a := paired(awkwardHalves(r, 2*((channels-1)*inA+(rows-1)*rowA+taps)))
		inB := 40 + r.IntN(20)
		b := paired(awkwardHalves(r, 2*(channels*inB+80)))
		var classes [][]ImageTap
		var cols []ImageColumn
		for class := range 1 + r.IntN(4) {
			var some []ImageTap
			for i := range taps {
				if r.IntN(3) > 0 {
					some = append(some, ImageTap{A: i, B: r.IntN(30)})
				}
			}
			classes = append(classes, some)
			for range 1 + r.IntN(9) {
				cols = append(cols, ImageColumn{Class: class, From: r.IntN(30), To: 2 * len(cols)})
			}
		}
		var bias []float32
		if trial%3 > 0 {
			bias = awkward(r, rows)
		}
		row := 32*len(cols) + r.IntN(3)
		got := awkward(r, rows*row)
		want := slices.Clone(got)
		for i := range rows {
			for _, col := range cols {
				for lane := range 16 {
					var sum float32
					for c := range channels {
						for _, tap := range classes[col.Class] {
							sum = stepPair(a[i*rowA+c*inA+tap.A], b[col.From+c*inB+tap.B+lane], sum)
						}
					}
					if bias != nil {
						sum += bias[i]
					}
					want[i*row+16*col.To+lane] = sum
				}
			}
		}
		p := ImageProduct{Pairs: true}
		p.Plan(channels, panel, taps, inA, inB, classes, cols)
		if !p.Rows(rows, asFloats(a), rowA, asFloats(b), got, row, bias) || !equalBits(got, want) {
			t.Fatalf("%d rows, %d channels, %d at a time, %d taps, classes %v, columns %v, bias %v", rows, channels, panel, taps, classes, cols, bias != nil)
		}
	}
}

// TestFiniteBF16 puts what is not finite everywhere.
func TestFiniteBF16(t *testing.T) {
	forPairs(t)
	for n := range 600 {
		x := make([]uint16, n)
		for i := range x {
			x[i] = []uint16{0x7f7f, 0xff7f, 1, 0x8001, 0x3f80}[i%5]
		}
		if !FiniteBF16(x) {
			t.Fatalf("%d finite numbers are taken for others", n)
		}
		for i := n % 7; i < n; i += 7 {
			was := x[i]
			if x[i] = []uint16{0x7f80, 0xff80, 0x7fc0, 0x7f81}[i%4]; FiniteBF16(x) {
				t.Fatalf("%#04x at %d of %d is not found", x[i], i, n)
			}
			x[i] = was
		}
	}
}

// asFloats takes pairs for numbers of as many bits.
func asFloats(x []uint32) []float32 { return unsafe.Slice((*float32)(unsafe.Pointer(&x[0])), len(x)) }
