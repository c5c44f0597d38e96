package cudart

import (
	"math/rand/v2"
	"testing"
)

// TestDividers: the multiplication is the division, for all that the kernels divide.
func TestDividers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200_000 {
		by := 1 + i
		if i > 3000 {
			by = 1 + int(r.Uint32()>>(1+r.UintN(31)))
		}
		d := dividerOf(by)
		for _, n := range []uint32{0, uint32(by) - 1, uint32(by), r.Uint32() >> 1, r.Uint32() >> 1 / uint32(by) * uint32(by), r.Uint32() >> r.UintN(31) >> 1, 1<<31 - 1} {
			if n >= 1<<31 {
				continue
			}
			got := n
			if d.by != 1 {
				got = uint32(uint64(n)*uint64(d.times)>>32) >> d.shift
			}
			if want := n / uint32(by); got != want {
				t.Fatalf("%d / %d is %d, want %d", n, by, got, want)
			}
		}
	}
}
