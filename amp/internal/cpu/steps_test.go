package cpu

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// awkward returns numbers of which some are NaN, infinite or subnormal.
func awkward(r *rand.Rand, n int) []float32 {
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0x1p-149, -0x1p-140, 0, float32(math.Copysign(0, -1))}
	out := make([]float32, n)
	for i := range out {
		if out[i] = float32(r.NormFloat64()); r.IntN(200) == 0 {
			out[i] = special[r.IntN(len(special))]
		}
	}
	return out
}

// equalBits compares bits, but takes every NaN for the same.
func equalBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
	})
}

// eachStepVariant runs f on all variants that have the kernels.
func eachStepVariant(t *testing.T, f func(t *testing.T)) {
	was := Current()
	defer SetMode(was)
	ran := false
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		if StepKernels() {
			t.Run(v.String(), f)
			ran = true
		}
	}
	if !ran {
		t.Skip("no step kernels")
	}
}

// TestStepProduct compares every element with one chain of multiply-adds in the order of k, for all heights and numbers of vectors, and what
// is not written with what was there.
func TestStepProduct(t *testing.T) { eachStepVariant(t, testStepProduct) }

func testStepProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for trial := range 300 {
		rows, k, n := 1+r.IntN(20), 1+r.IntN(40), 1+r.IntN(9)
		x, b := awkward(r, rows*k), awkward(r, 700)
		var steps StepTable
		at := make([]int, k)
		for p := range at {
			at[p] = r.IntN(400)
			steps.Add(at[p])
		}
		steps.Threes = trial%2 == 0 // changes what is fetched, not what is summed
		cols := make([]StepColumn, n)
		row := 16*n + r.IntN(3)
		for v := range cols {
			cols[v] = StepColumn{From: r.IntN(280), To: 16 * v, Have: 1 + r.IntN(16)}
		}
		var bias []float32
		if trial%3 == 0 {
			bias = awkward(r, rows)
		}
		add := trial%4 == 1
		got := awkward(r, rows*row)
		want := slices.Clone(got)
		for i := range rows {
			for _, c := range cols {
				for j := range c.Have {
					var sum float32
					for p := range k {
						sum = FMA32(x[i*k+p], b[c.From+at[p]+j], sum)
					}
					if bias != nil {
						sum += bias[i]
					}
					to := &want[i*row+c.To+j]
					if add {
						sum += *to
					}
					*to = sum
				}
			}
		}
		a := make([]float32, rows*k)
		PackSteps(a, rows, k, x, k)
		StepProduct(rows, a, b, &steps, cols, got, row, bias, add)
		if !equalBits(got, want) {
			t.Fatalf("%d rows, %d steps, columns %v, bias %v, add %v", rows, k, cols, bias != nil, add)
		}
	}
}

// TestStepPanels compares sums that are taken in parts with those that are not, and what is not written with what was there.
func TestStepPanels(t *testing.T) {
	if !PanelKernels() {
		t.Skip("no panel kernels")
	}
	r := rand.New(rand.NewPCG(7, 6))
	var sums []float32
	for trial := range 60 {
		rows, k, n := 1+r.IntN(40), 1+r.IntN(3*panelSteps), 1+r.IntN(9)
		if trial%5 == 0 {
			k = panelSteps * (1 + r.IntN(3))
		}
		a, b := awkward(r, rows*k), awkward(r, 700)
		var steps StepTable
		for range k {
			steps.Add(r.IntN(400))
		}
		cols := make([]StepColumn, n)
		row := 16*n + r.IntN(3)
		for v := range cols {
			cols[v] = StepColumn{From: r.IntN(280), To: 16 * v, Have: 1 + r.IntN(16)}
		}
		var bias []float32
		if trial%3 == 0 {
			bias = awkward(r, rows)
		}
		got := awkward(r, rows*row)
		want := slices.Clone(got)
		StepProduct(rows, a, b, &steps, cols, want, row, bias, false)
		sums = StepPanels(rows, a, b, &steps, cols, got, row, bias, sums)
		if !equalBits(got, want) {
			t.Fatalf("%d rows, %d steps, %d vectors: the parts make another sum", rows, k, n)
		}
	}
}

// TestTakeTaps compares the copies of windows with single elements, in a slice that ends with the last one that is read.
func TestTakeTaps(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 6))
	for range 200 {
		channels, channel, at := 1+r.IntN(5), 1+r.IntN(60), 40+r.IntN(20)
		taps := make([]Tap, 1+r.IntN(12))
		last := at
		for i := range taps {
			taps[i] = Tap{From: r.IntN(60) - 40, Mask: r.IntN(1<<16) >> r.IntN(17)}
			if taps[i].Mask != 0 {
				last = max(last, at+taps[i].From+(channels-1)*channel+bits.Len(uint(taps[i].Mask))-1)
			}
		}
		src := awkward(r, last+1)
		got, want := awkward(r, channels*len(taps)*16+3), []float32(nil)
		for c := range channels {
			for _, tap := range taps {
				for lane := range 16 {
					v := float32(0)
					if tap.Mask>>lane&1 == 1 {
						v = src[at+tap.From+c*channel+lane]
					}
					want = append(want, v)
				}
			}
		}
		want = append(want, got[len(want):]...)
		plain := slices.Clone(got)
		TakeTaps(channels, channel, src, at, taps, got)
		takeTapsPlain(channels, channel, src, at, taps, plain)
		if !equalBits(got, want) || !equalBits(plain, want) {
			t.Fatalf("%d channels %d apart at %d, %v: got %v, plain %v, want %v", channels, channel, at, taps, got, plain, want)
		}
	}
}

func TestLaneSums(t *testing.T) { eachStepVariant(t, testLaneSums) }

func testLaneSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	for range 100 {
		k, n := 1+r.IntN(50), 1+r.IntN(20)
		a, b, got := awkward(r, 16*k), awkward(r, 700), awkward(r, 16*n)
		want := slices.Clone(got)
		var steps StepTable
		at, from := make([]int, k), make([]int, n)
		for p := range at {
			at[p] = r.IntN(400)
			steps.Add(at[p])
		}
		for v := range from {
			from[v] = r.IntN(280)
			for i := range 16 {
				var sum float32
				for p := range k {
					sum = FMA32(a[16*p+i], b[from[v]+at[p]+i], sum)
				}
				want[16*v+i] += sum
			}
		}
		LaneSums(a, b, &steps, from, got)
		if !equalBits(got, want) {
			t.Fatalf("%d steps, %d vectors", k, n)
		}
	}
}

// TestStepCopies compares what moves elements with plain loops, beyond whose ends nothing may change.
func TestStepCopies(t *testing.T) { eachStepVariant(t, testStepCopies) }

func testStepCopies(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for range 300 {
		rows, n, stride := 1+r.IntN(20), 1+r.IntN(70), 1+r.IntN(4)
		lds, ldd := n*stride+r.IntN(3)-stride+1, n+r.IntN(3)
		src, half := make([]float32, (rows-1)*lds+(n-1)*stride+1), make([]uint16, (rows-1)*lds+(n-1)*stride+1)
		for i := range src {
			src[i], half[i] = float32(i), uint16(i)
		}
		got, gotHalf := make([]float32, rows*ldd), make([]uint16, rows*ldd)
		want, wantHalf := make([]float32, rows*ldd), make([]uint16, rows*ldd)
		for y := range rows {
			for i := range n {
				want[y*ldd+i], wantHalf[y*ldd+i] = src[y*lds+i*stride], half[y*lds+i*stride]
			}
		}
		TakeRows(rows, n, stride, src, lds, got, ldd, r.IntN(3*n))
		if variant() == AVX512 {
			TakeHalves(rows, n, stride, half, lds, gotHalf, ldd)
		} else {
			copy(gotHalf, wantHalf)
		}
		if !slices.Equal(got, want) || !slices.Equal(gotHalf, wantHalf) {
			t.Fatalf("%d rows of %d, %d apart", rows, n, stride)
		}
		other := r.IntN(50)
		pairs := make([]uint16, len(half)+other)
		for i := range pairs {
			pairs[i] = uint16(i)
		}
		for _, second := range []bool{true, false} {
			if variant() != AVX512 {
				break
			}
			words, wantWords := make([]uint32, rows*ldd), make([]uint32, rows*ldd)
			for y := range rows {
				for i := range n {
					at := y*lds + i*stride
					wantWords[y*ldd+i] = uint32(pairs[at])
					if second {
						wantWords[y*ldd+i] |= uint32(pairs[at+other]) << 16
					}
				}
			}
			PairRows(rows, n, stride, pairs, lds, other, second, words, ldd)
			if !slices.Equal(words, wantWords) {
				t.Fatalf("pairs: %d rows of %d, %d apart", rows, n, stride)
			}
		}
		for more := range 2 {
			across := rows + more
			turned, wantTurned := make([]float32, n*across), make([]float32, n*across)
			flat := make([]float32, rows*n)
			for i := range flat {
				flat[i] = float32(i)
				wantTurned[i%n*across+i/n] = flat[i]
			}
			TransposeRows(rows, n, flat, n, turned, across)
			if !slices.Equal(turned, wantTurned) {
				t.Fatalf("transposed: %d rows of %d, %d apart", rows, n, across)
			}
		}
	}
}

// TestTilePacks compares packed weights with plain loops.
func TestTilePacks(t *testing.T) {
	if mostDot() != Tiles {
		t.Skip("no tile registers")
	}
	r := rand.New(rand.NewPCG(5, 9))
	for range 200 {
		rows, channels, taps := 1+r.IntN(40), 1+r.IntN(70), 1+r.IntN(14)
		src := make([]uint16, rows*channels*taps)
		for i := range src {
			src[i] = uint16(r.IntN(1 << 16))
		}
		block := rows * taps * 32
		got, want := make([]uint16, (channels+31)/32*block), make([]uint16, (channels+31)/32*block)
		for i, v := range src {
			row, c, tap := i/(channels*taps), i/taps%channels, i%taps
			want[c/32*block+(row*taps+tap)*32+c%32] = v
		}
		PackTileRows(got, rows, channels, taps, src, channels*taps, block)
		if !slices.Equal(got, want) {
			t.Fatalf("rows: %d of %d channels and %d taps", rows, channels, taps)
		}
		// The same numbers as a matrix [channels rows·taps].
		n := rows * taps
		high := up(n, 16)
		turned, wantTurned := make([]uint16, up(channels, 32)*high), make([]uint16, up(channels, 32)*high)
		for i, v := range src {
			c, j := i/n, i%n
			wantTurned[c/32*32*high+j*32+c%32] = v
		}
		PackTileColumns(turned, n, channels, src, n)
		if !slices.Equal(turned, wantTurned) {
			t.Fatalf("columns: %d by %d", n, channels)
		}
		wide := make([]float32, n*channels)
		for i := range wide {
			wide[i] = float32(i)
		}
		place := make([]int, taps)
		for i := range place {
			place[i] = i
		}
		packed, plain, wantPacked := make([]float32, len(wide)), make([]float32, len(wide)), make([]float32, len(wide))
		for i := range rows {
			for c := range channels {
				for tap := range taps {
					plain[(i*channels+c)*taps+tap] = wide[(c*rows+i)*taps+tap]
				}
			}
		}
		PackSteps(wantPacked, rows, channels*taps, plain, channels*taps)
		PackStepsTurned(packed, rows, channels, wide, rows*taps, taps, place)
		if !slices.Equal(packed, wantPacked) {
			t.Fatalf("turned: %d rows, %d channels, %d taps", rows, channels, taps)
		}
	}
}

// TestTileProduct compares sums with the instruction's twin, and what is stored with its rounding.
func TestTileProduct(t *testing.T) {
	if mostDot() != Tiles {
		t.Skip("no tile registers")
	}
	r := rand.New(rand.NewPCG(5, 10))
	for trial := range 60 {
		f, widen := BF16, BF16ToF32
		if trial%2 == 1 && hasTilesF16() {
			f, widen = F16, F16ToF32
		}
		rows, pairs, n, tiles := 1+r.IntN(32), 1+r.IntN(16), 1+r.IntN(4), 1+r.IntN(8)
		p := TileProduct{Format: f, RowA: 32, NextA: 512, RowB: 16 + r.IntN(9)}
		fill := func(n int) []uint16 {
			out, wide := make([]uint16, n), awkward(r, n)
			for i, v := range wide {
				if out[i] = F32ToBF16(v); f == F16 {
					out[i] = F32ToF16(v)
				}
			}
			return out
		}
		p.A = fill(4096)
		b := fill(2 * 4096)
		p.B = make([]uint32, 4096)
		for i := range p.B {
			p.B[i] = uint32(b[2*i]) | uint32(b[2*i+1])<<16
		}
		for range n {
			p.Steps = append(p.Steps, TileStep{A: 64 * r.IntN(40), B: 4 * r.IntN(1000)})
		}
		from := make([]int, tiles)
		for i := range from {
			from[i] = r.IntN(2000)
		}
		sums := make([]float32, TileSums)
		p.Check(rows, 0, pairs, slices.Min(from), slices.Max(from))
		p.Rows(rows, 0, from, pairs, sums, false)
		high := up(rows, 16)
		for i, at := range from {
			for y := range rows {
				for x := range 16 {
					k := 32 * n // in whole tiles, of which some elements are zero
					a := func(q int) float32 {
						if q%32 >= 2*pairs {
							return 0
						}
						return widen(p.A[p.Steps[q/32].A/2+y*32+q%32])
					}
					c := func(q int) float32 {
						if q%32 >= 2*pairs {
							return 0
						}
						return widen(uint16(p.B[at+p.Steps[q/32].B/4+q%32/2*p.RowB+x] >> (16 * (q % 2))))
					}
					got, want := sums[i/2*32*high+y*32+i%2*16+x], twinTile(k, a, c)
					if got != want && (got == got || want == want) {
						t.Fatalf("trial %d: tile %d (%d,%d) is %v, want %v", trial, i, y, x, got, want)
					}
				}
			}
		}
	}
}

// TestStoreSums: rounded as the conversions round, with and without a bias.
func TestStoreSums(t *testing.T) {
	if mostDot() != Tiles {
		t.Skip("no tile registers")
	}
	r := rand.New(rand.NewPCG(5, 11))
	for trial := range 200 {
		rows, have, row := 1+r.IntN(32), 1+r.IntN(16), 16+r.IntN(4)
		sums := awkward(r, 32*rows)
		var bias []float32
		if trial%2 == 0 {
			bias = awkward(r, rows)
		}
		half, want := make([]uint16, rows*row), make([]uint16, rows*row)
		full, wantFull := make([]float32, rows*row), make([]float32, rows*row)
		f, narrow := BF16, F32ToBF16
		if trial%3 == 0 {
			f, narrow = F16, F32ToF16
		}
		for y := range rows {
			for x := range have {
				v := sums[32*y+x]
				if bias != nil {
					v += bias[y]
				}
				want[y*row+x], wantFull[y*row+x] = narrow(v), v
			}
		}
		StoreSums(f, rows, sums, half, row, have, bias)
		StoreSums(NoHalf, rows, sums, full, row, have, bias)
		same := slices.EqualFunc(half, want, func(a, b uint16) bool {
			if f == F16 {
				x, y := F16ToF32(a), F16ToF32(b)
				return a == b || x != x && y != y
			}
			x, y := BF16ToF32(a), BF16ToF32(b)
			return a == b || x != x && y != y
		})
		if !same || !equalBits(full, wantFull) {
			t.Fatalf("%v: %d rows of %d", f, rows, have)
		}
	}
}
