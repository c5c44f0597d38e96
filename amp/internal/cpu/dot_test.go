package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// flushed is v, or a zero of its sign where it is subnormal.
func flushed(v float32) float32 {
	if u := math.Float32bits(v); u&0x7f800000 == 0 {
		return math.Float32frombits(u & (1 << 31))
	}
	return v
}

// step is a multiply-add as both instructions do it.
func step(x, y, z float32) float32 { return flushed(FMA32(flushed(x), flushed(y), flushed(z))) }

// twinPair is the sum of VDPBF16PS over k, in Go.
func twinPair(k int, a, b func(p int) float32) float32 {
	var c float32
	for p := 0; p < k; p += 2 {
		if p+1 < k {
			c = step(a(p+1), b(p+1), c)
		} else {
			c = step(0, 0, c)
		}
		c = step(a(p), b(p), c)
	}
	return c
}

// twinTile is the sum of TDPBF16PS over k, in Go.
func twinTile(k int, a, b func(p int) float32) float32 { return twinTiles(0, 0, k, a, b) }

// twinTiles raises c by the steps from first to k.
func twinTiles(c float32, first, k int, a, b func(p int) float32) float32 {
	for q := first; q < k; q += 32 {
		var even, odd float32
		for p := q; p < min(q+32, k); p++ {
			if p&1 == 0 {
				even = step(a(p), b(p), even)
			} else {
				odd = step(a(p), b(p), odd)
			}
		}
		c = flushed(c + flushed(even+odd))
	}
	return c
}

// twinInParts is the sum of float16 numbers in parts, where there are tile registers.
var twinInParts func(k int, a, b func(p int) float32) float32

var ways = map[Dot]func(k int, a, b func(p int) float32) float32{Pairs: twinPair, Tiles: twinTile}

// halfLayout is a place for a matrix of halves.
type halfLayout struct{ row, col, off, size int }

func (l halfLayout) at(i, j int) int { return l.off + i*l.row + j*l.col }

func halfLayouts(rows, cols int) []halfLayout {
	return []halfLayout{
		{cols, 1, 0, rows * cols}, {1, rows, 0, rows * cols}, {cols + 3, 1, 1, rows*(cols+3) + 1}, {1, rows + 5, 7, cols*(rows+5) + 7},
		{2 * cols, 2, 1, 2*rows*cols + 1}, {-cols, 1, (rows - 1) * cols, rows * cols}, {1, -rows, (cols - 1) * rows, rows * cols},
	}
}

// widened is a matrix of halves that is given as float32, in memory or by a function.
func widened(x Matrix[float32], load bool) Matrix[float32] {
	y := Matrix[float32]{Off: x.Off, Row: x.Row, Col: x.Col, Half: x.format()}
	wide := make([]float32, max(len(x.F16), len(x.BF16)))
	if y.Half == F16 {
		WidenF16(wide, x.F16)
	} else {
		WidenBF16(wide, x.BF16)
	}
	if !load {
		y.Elems = wide
		return y
	}
	y.Load = func(dst []float32, off, stride int) {
		for i := range dst {
			dst[i] = wide[off+i*stride]
		}
	}
	return y
}

// tabled is widened with a table.
func tabled(x Matrix[float32], rows, cols int) Matrix[float32] {
	y, z := widened(x, true), widened(x, false)
	y.Table = &Table[float32]{Src: z.Elems, Row: make([]int32, rows), Col: make([]int32, cols)}
	for i := range y.Table.Row {
		y.Table.Row[i] = int32(x.Off + i*x.Row)
	}
	for j := range y.Table.Col {
		y.Table.Col[j] = int32(j * x.Col)
	}
	return y
}

// TestDotsMatchTheirTwins: every element to the bit, for small and odd shapes and all layouts, with NaN, infinities and
// subnormals.
func TestDotsMatchTheirTwins(t *testing.T) {
	was := Current()
	defer SetMode(was)
	SetMode(Mode{AVX512, false})
	defer SetDot(SetDot(Tiles))
	r := rand.New(rand.NewPCG(3, 4))
	special := []uint16{0x7fc0, 0x7c00, 0xfc00, 0x7bff, 0x3c00, 0x7f80, 0xff80, 0x0001, 0x8001, 0x0080, 0x0000, 0x8000, 0x7f7f}
	for way := Pairs; way <= mostDot(); way++ {
		SetDot(way)
		for trial := range 500 {
			f16 := way == Tiles && trial%2 == 1
			inParts := f16 && !hasTilesF16()
			narrow, wide := F32ToBF16, BF16ToF32
			if f16 {
				narrow, wide = F32ToF16, F16ToF32
			}
			m, n, k := 1+r.IntN(64), 1+r.IntN(64), 1+r.IntN(64)
			if trial%20 == 0 {
				m, n, k = 1+r.IntN(150), 1+r.IntN(150), 500+r.IntN(6000)
			}
			switch {
			case trial < 2: // several tasks
				m, n, k = 256, 550+trial, 128
			case trial < 6: // several tasks, whose panels of b are packed by rows
				m, n, k = 600, 90+trial, 1088
			case trial < 10: // rows are packed while those above are multiplied
				m, n, k = 100, 290+trial, 640*(1+trial%2)
			case trial%7 == 0: // whole tiles: rows are taken from memory
				m, k = 16*(1+r.IntN(8)), 32*(1+r.IntN(12))
			}
			if inParts {
				m, n, k = max(m, leastInParts), max(n, leastInParts), max(k, leastInParts)
			}
			la, lb := halfLayouts(m, k)[r.IntN(7)], halfLayouts(k, n)[r.IntN(7)]
			below := trial >= 6 && trial < 10
			if below {
				la = halfLayouts(m, k)[trial/8*2]
			}
			a, b := make([]uint16, la.size), make([]uint16, lb.size)
			for _, x := range [][]uint16{a, b} {
				for i := range x {
					x[i] = narrow(float32(r.NormFloat64() * math.Ldexp(1, r.IntN(5))))
					if trial%3 == 0 && r.IntN(40) == 0 {
						x[i] = special[r.IntN(len(special))]
					}
				}
			}
			x, y := Matrix[float32]{Off: la.off, Row: la.row, Col: la.col}, Matrix[float32]{Off: lb.off, Row: lb.row, Col: lb.col}
			if x.BF16, y.BF16 = a, b; f16 {
				x.F16, y.F16, x.BF16, y.BF16 = a, b, nil, nil
			}
			if kn := kernelDot(&product[float32]{m: m, n: n, depth: k, a: x, b: y}); kn == nil || (way == Tiles) != (kn.run != nil) {
				t.Fatal("not the kernel to be tested")
			}
			if way == Tiles && k >= 16 { // in memory as float32
				if r.IntN(3) == 0 && !below {
					x = widened(x, r.IntN(2) == 0)
				}
				switch r.IntN(4) {
				case 0:
					y = widened(y, r.IntN(2) == 0)
				case 1, 2:
					if !inParts {
						y = tabled(y, k, n)
					}
				}
			}
			got := make([]float32, m*n)
			GemmTo(m, n, k, x, y, Result[float32]{Elems: got, Row: n})
			for range 60 {
				i, j := r.IntN(m), r.IntN(n)
				twin := ways[way]
				if inParts {
					twin = twinInParts
				}
				want := twin(k, func(p int) float32 { return wide(a[la.at(i, p)]) }, func(p int) float32 { return wide(b[lb.at(p, j)]) })
				if g := got[i*n+j]; g != want && (g == g || want == want) {
					t.Fatalf("%v, %d×%d×%d, layouts %v %v: element %d %d is %v, want %v", way, m, n, k, la, lb, i, j, g, want)
				}
			}
			if way != Pairs {
				continue
			}
			short := make([]uint16, m*n)
			GemmTo(m, n, k, x, y, Result[float32]{BF16: short, Row: n})
			for i, h := range short {
				if want := F32ToBF16(got[i]); h != want {
					t.Fatalf("%v, %d×%d×%d, layouts %v %v: element %d is rounded to %#x, want %#x", way, m, n, k, la, lb, i, h, want)
				}
			}
		}
	}
	if mostDot() == Strict {
		t.Log("this machine has none of the instructions")
	}
}

// TestDotStrict: in strict and in reproducible mode bfloat16 products are float32 multiply-adds in the order of k.
func TestDotStrict(t *testing.T) {
	was := Current()
	defer SetMode(was)
	defer SetDot(SetDot(Strict))
	if best() == Generic {
		t.Skip("the plain kernel may not fuse")
	}
	for _, c := range []struct {
		mode Mode
		way  Dot
	}{{Mode{AVX512, false}, Strict}, {Mode{AVX512, true}, Tiles}, {Mode{AVX2, false}, Tiles}} {
		SetMode(c.mode)
		SetDot(c.way)
		const m, n, k = 7, 9, 77
		a, b, got := make([]uint16, m*k), make([]uint16, k*n), make([]float32, m*n)
		r := rand.New(rand.NewPCG(8, 9))
		for _, x := range [][]uint16{a, b} {
			for i := range x {
				x[i] = F32ToBF16(float32(r.NormFloat64()))
			}
		}
		a[0], b[0] = 1, F32ToBF16(0x1p100) // a subnormal counts
		GemmTo(m, n, k, Matrix[float32]{Row: k, Col: 1, BF16: a}, Matrix[float32]{Row: n, Col: 1, BF16: b}, Result[float32]{Elems: got, Row: n})
		for i := range m {
			for j := range n {
				var want float32
				for p := range k {
					want = FMA32(BF16ToF32(a[i*k+p]), BF16ToF32(b[p*n+j]), want)
				}
				if got[i*n+j] != want {
					t.Fatalf("%+v: element %d %d is %v, want %v", c, i, j, got[i*n+j], want)
				}
			}
		}
	}
}

// TestResultsOfEveryFormat: what goes straight to halves, with a bias and a function, is what rounding sums afterwards gives.
func TestResultsOfEveryFormat(t *testing.T) {
	was := Current()
	defer SetMode(was)
	defer SetDot(SetDot(Strict))
	r := rand.New(rand.NewPCG(5, 6))
	eachMode(t, func(t *testing.T) {
		for way := Strict; way <= mostDot(); way++ {
			SetDot(way)
			for trial, s := range [][3]int{{1, 1, 1}, {5, 7, 3}, {33, 65, 40}, {34, 70, 1056}, {130, 300, 70}, {17, 16, 9000}, {64, 20, 5000}, {66, 64, 70}, {32, 64, 1056}} {
				m, n, k := s[0], s[1], s[2]
				if k == 1056 && way < Tiles { // for their parts of k
					continue
				}
				f16 := trial%2 == 1
				narrow := F32ToBF16
				if f16 {
					narrow = F32ToF16
				}
				a, b, bias := make([]uint16, m*k), make([]uint16, k*n), make([]float32, n)
				for _, x := range [][]uint16{a, b} {
					for i := range x {
						x[i] = narrow(float32(r.NormFloat64()))
					}
				}
				for i := range bias {
					bias[i] = float32(r.NormFloat64()) * float32(math.Ldexp(1, -140*(i%2)))
				}
				x, y := Matrix[float32]{Row: k, Col: 1, BF16: a}, Matrix[float32]{Row: n, Col: 1, BF16: b}
				if f16 {
					x, y = Matrix[float32]{Row: k, Col: 1, F16: a}, Matrix[float32]{Row: n, Col: 1, F16: b}
				}
				sums := make([]float32, m*n)
				GemmTo(m, n, k, x, y, Result[float32]{Elems: sums, Row: n})
				double := func(_, _ int, row []float32) {
					for i := range row {
						row[i] *= 2
					}
				}
				for c := range 12 {
					out := Result[float32]{Off: 3, Row: n + 2}
					h, f := make([]uint16, 3+m*(n+2)), make([]float32, 3+m*(n+2))
					switch c % 3 {
					case 0:
						out.F16 = h
					case 1:
						out.BF16 = h
					case 2:
						out.Elems = f
					}
					if c/3&1 == 1 {
						out.Bias = bias
					}
					if c/6 == 1 {
						out.Done = double
					}
					GemmTo(m, n, k, x, y, out)
					for i := range m {
						for j := range n {
							want := sums[i*n+j]
							if out.Bias != nil {
								want += bias[j]
							}
							if out.Done != nil {
								want *= 2
							}
							at := 3 + i*(n+2) + j
							if out.F16 != nil && h[at] != F32ToF16(want) || out.BF16 != nil && h[at] != F32ToBF16(want) || out.Elems != nil && f[at] != want {
								t.Fatalf("%v %v case %d: element %d %d is %04x %v, want %v", way, s, c, i, j, h[at], f[at], want)
							}
						}
					}
					if h[0] != 0 || f[2] != 0 || n > 1 && (h[3+n] != 0 || f[4+n] != 0) {
						t.Fatalf("%v %v case %d: wrote beside the result", way, s, c)
					}
				}
			}
		}
	})
}

func TestParseDot(t *testing.T) {
	for _, c := range []struct {
		in        string
		otherwise Dot
		most      Dot
		want      Dot
		bad       bool
	}{
		{"", Tiles, Tiles, Tiles, false}, {"", Strict, Pairs, Strict, false}, {"strict", Tiles, Tiles, Strict, false},
		{"Pairs", Strict, Pairs, Pairs, false}, {"tiles", Strict, Pairs, Strict, true}, {"fast", Tiles, Tiles, Tiles, true},
	} {
		if got, err := parseDot(c.in, c.otherwise, c.most); got != c.want || (err != nil) != c.bad {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}
