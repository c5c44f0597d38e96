package cpu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// eachMode runs f with every set of kernels that this machine has.
func eachMode(t *testing.T, f func(t *testing.T)) {
	was := Current()
	t.Cleanup(func() { SetMode(was) })
	for v := Generic; v <= best(); v++ {
		for _, r := range []bool{false, true} {
			name := v.String()
			if r {
				name += "-reproducible"
			}
			SetMode(Mode{v, r})
			t.Run(name, f)
		}
	}
}

func TestParseMode(t *testing.T) {
	for _, c := range []struct {
		in   string
		have Variant
		want Mode
		bad  bool
	}{
		{"", AVX512, Mode{AVX512, false}, false},
		{"", Generic, Mode{Generic, false}, false},
		{"avx2", AVX512, Mode{AVX2, false}, false},
		{"Generic", AVX2, Mode{Generic, false}, false},
		{"avx512", AVX2, Mode{AVX2, false}, true},
		{"reproducible", AVX2, Mode{AVX2, true}, false},
		{"reproducible,generic", AVX512, Mode{Generic, true}, false},
		{"sse9", AVX512, Mode{AVX512, false}, true},
		{"sse9,reproducible", AVX512, Mode{AVX512, true}, true},
	} {
		m, err := parseMode(c.in, c.have)
		if m != c.want || (err != nil) != c.bad {
			t.Errorf("%q on %v: %+v, %v", c.in, c.have, m, err)
		}
	}
}

// TestFMA32 compares with exact arithmetic, on values chosen to cancel, to tie, and to fall into the subnormal range.
func TestFMA32(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	ties := 0
	for i := range 400000 {
		x, y := math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
		var z float32
		switch i % 4 {
		case 0:
			z = math.Float32frombits(r.Uint32())
		case 1: // of the size of the product
			z = -x * y * (1 + float32(r.IntN(5)-2)/(1<<22))
		case 2: // a tie but for a small product
			x, y = float32(r.IntN(1<<12))*0x1p-12, float32(r.IntN(1<<12)-2048)*0x1p-60
			z = 1 + float32(r.IntN(1<<22))*0x1p-23
			x, y = x+1, y+0x1p-24
			ties++
		case 3: // results below the normal range
			x, y = float32(r.IntN(1<<20))*0x1p-80, float32(r.IntN(1<<20))*0x1p-80
			z = math.Float32frombits(r.Uint32() & 0x80ffffff)
		}
		got := FMA32(x, y, z)
		if f := float64(x) * float64(y) * float64(z); f != f || math.IsInf(f, 0) {
			if w := float32(math.FMA(float64(x), float64(y), float64(z))); w != got && (w == w || got == got) {
				t.Fatalf("FMA32(%x, %x, %x) = %x, want %x", x, y, z, got, w)
			}
			continue
		}
		var p, s big.Float
		p.SetPrec(200).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
		s.SetPrec(1200).Add(&p, big.NewFloat(float64(z)))
		want, _ := s.Float32()
		if got != want {
			t.Fatalf("FMA32(%x, %x, %x) = %x, want %x", x, y, z, got, want)
		}
	}
	if ties == 0 {
		t.Error("no ties tried")
	}
}

// TestConversionsOfEveryVariant holds the slices to the single conversions: all halves, every exponent and rounding of
// float32, every length and every place in a vector.
func TestConversionsOfEveryVariant(t *testing.T) {
	eachMode(t, func(t *testing.T) {
		halves := make([]uint16, 1<<16)
		for i := range halves {
			halves[i] = uint16(i)
		}
		f, b := make([]float32, len(halves)), make([]float32, len(halves))
		WidenF16(f, halves)
		WidenBF16(b, halves)
		for i, h := range halves {
			if math.Float32bits(f[i]) != math.Float32bits(F16ToF32(h)) {
				t.Fatalf("float16 %04x: %08x, want %08x", h, math.Float32bits(f[i]), math.Float32bits(F16ToF32(h)))
			}
			if math.Float32bits(b[i]) != math.Float32bits(BF16ToF32(h)) {
				t.Fatalf("bfloat16 %04x: %08x", h, math.Float32bits(b[i]))
			}
		}
		const n = 1 << 12
		src, half, brain := make([]float32, n), make([]uint16, n), make([]uint16, n)
		for base := uint64(0); base < 1<<32; base += n * 499 {
			for i := range src {
				src[i] = math.Float32frombits(uint32(base) + uint32(i)*499)
			}
			NarrowF16(half, src)
			NarrowBF16(brain, src)
			for i, v := range src {
				if half[i] != F32ToF16(v) || brain[i] != F32ToBF16(v) {
					t.Fatalf("%08x: %04x and %04x, want %04x and %04x", math.Float32bits(v), half[i], brain[i], F32ToF16(v), F32ToBF16(v))
				}
			}
		}
		for length := range 70 {
			d16, d32 := make([]uint16, length+1), make([]float32, length+1)
			d16[length], d32[length] = 0x1234, 7
			NarrowF16(d16[:length], src[:length])
			NarrowBF16(d16[:length], src[:length])
			WidenF16(d32[:length], halves[1000:1000+length])
			WidenBF16(d32[:length], halves[1000:1000+length])
			if d16[length] != 0x1234 || d32[length] != 7 {
				t.Fatalf("%d elements: wrote beyond", length)
			}
		}
	})
}
