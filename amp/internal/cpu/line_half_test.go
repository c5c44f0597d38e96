package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLinesOfHalves: the forms for halves give the bits of widening, the plain form in float32 and rounding, whatever the variant, the length, the
// start and the numbers, NaN, infinities and subnormals among them, and write nothing beside their lines.
func TestLinesOfHalves(t *testing.T) {
	defer SetMode(Current())
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		forms := 0
		for name, k := range lineKernels {
			for _, bfloat := range []bool{false, true} {
				if form := map[bool]*[AVX512 + 1]func(int, *Line){false: &k.f16, true: &k.bf16}[bfloat]; form[v] != nil {
					forms++
					checkHalves(t, name, k, bfloat)
				} else if k.RunHalf(1, bfloat, &Line{}) {
					t.Errorf("%v: %s has no form for halves and says it has run", v, name)
				}
			}
		}
		if (forms > 0) != (v != Generic) {
			t.Errorf("%v: %d forms for halves", v, forms)
		}
	}
}

func checkHalves(t *testing.T, name string, k *LineKernel, bfloat bool) {
	rng := rand.New(rand.NewPCG(4, 9))
	for round := range 120 {
		n := 1 + rng.IntN(200)
		io, plain := &Line{}, &Line{}
		for j := range io.Half {
			guarded := make([]uint16, n+40)
			for i := range guarded {
				guarded[i] = uint16(rng.Uint32())
				if round%2 == 0 { // numbers of middling size
					guarded[i] = F32ToBF16(float32(rng.NormFloat64() * 3))
					if !bfloat {
						guarded[i] = F32ToF16(float32(rng.NormFloat64() * 3))
					}
				}
			}
			io.Half[j] = guarded[rng.IntN(20):][:n]
			plain.F32[j] = make([]float32, n)
			if bfloat {
				WidenBF16(plain.F32[j], io.Half[j])
			} else {
				WidenF16(plain.F32[j], io.Half[j])
			}
		}
		for i := range io.Arg {
			io.Arg[i] = float32(rng.NormFloat64())
		}
		plain.Arg = io.Arg
		var beside [lineCount][]uint16
		for j, h := range io.Half {
			beside[j] = append([]uint16(nil), h[:cap(h)]...)
		}
		if !k.RunHalf(n, bfloat, io) {
			t.Fatalf("%s has a form and did not run", name)
		}
		if whole := n &^ (lineLanes - 1); whole > 0 { // a sum's last block is one of its own
			k.plain(0, whole, plain)
		}
		if n%lineLanes != 0 {
			k.plain(n&^(lineLanes-1), n, plain)
		}
		for s := range io.Acc {
			for l, got := range io.Acc[s] {
				if want := plain.Acc[s][l]; math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
					t.Fatalf("%s, bfloat %v, round %d: lane %d of sum %d over %d is %v, want %v", name, bfloat, round, l, s, n, got, want)
				}
			}
		}
		for j, h := range io.Half {
			want := beside[j][:n]
			for _, w := range k.written {
				if w == j && bfloat {
					NarrowBF16(want, plain.F32[j])
				} else if w == j {
					NarrowF16(want, plain.F32[j])
				}
			}
			for i, got := range h[:cap(h)] {
				wide := F16ToF32
				if bfloat {
					wide = BF16ToF32
				}
				if a, b := wide(got), wide(beside[j][i]); got != beside[j][i] && (i >= n || !math.IsNaN(float64(a)) || !math.IsNaN(float64(b))) {
					t.Fatalf("%s, bfloat %v, round %d: line %d element %d of %d is %v, want %v", name, bfloat, round, j, i, n, a, b)
				}
			}
		}
	}
}
