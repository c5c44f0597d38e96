package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestRound: many numbers are rounded as one is, in every variant, for lengths that leave parts of a register and of a buffer, without memory.
func TestRound(t *testing.T) {
	now := Current()
	defer SetMode(now)
	r := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 65519.999, 65520, -1e300, 1e-300, math.SmallestNonzeroFloat64, math.MaxFloat32, -math.MaxFloat64}
	for len(numbers) < 3000 {
		h := uint16(r.IntN(0x7bff))
		mid := (float64(F16ToF32(h)) + float64(F16ToF32(h+1))) / 2
		wide := float64(BF16ToF32(uint16(r.IntN(0x7f7f)))) * (1 + 0x1p-9)
		numbers = append(numbers, mid, math.Nextafter(mid, 0), -math.Nextafter(mid, 1e9), wide, math.Nextafter(wide, 0), -math.Nextafter(wide, math.Inf(1)), r.NormFloat64())
	}
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for _, n := range []int{0, 1, 7, 8, 15, 16, 255, 256, 257, 600, len(numbers)} {
			t.Run(fmt.Sprint(v, n), func(t *testing.T) {
				src, dst := numbers[:n], make([]uint16, n)
				for _, k := range []struct {
					all   func([]uint16, []float64)
					one   func(float64) uint16
					width uint16 // of the infinity
				}{{RoundF16, F64ToF16, 0x7c00}, {RoundBF16, F64ToBF16, 0x7f80}} {
					if a := testing.AllocsPerRun(3, func() { k.all(dst, src) }); a != 0 {
						t.Errorf("%v allocations", a)
					}
					for i, x := range src {
						if want := k.one(x); dst[i] != want && !(x != x && dst[i]&0x7fff > k.width) {
							t.Fatalf("%v: %04x, want %04x", x, dst[i], want)
						}
					}
				}
			})
		}
	}
}
