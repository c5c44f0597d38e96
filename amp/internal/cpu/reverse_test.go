package cpu

import "testing"

// TestReverse: every word at its place and none beside them, on every variant, for lengths around the registers' and any start.
func TestReverse(t *testing.T) {
	defer SetMode(Current())
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for n := range 100 {
			for start := range 4 {
				src, dst := make([]uint32, n+8)[start:], make([]uint32, n+8)[3-start:]
				for i := range src {
					src[i] = uint32(i + 1)
				}
				done := Reverse(dst, src[:n])
				if least := n - n%max(1, 8*int(v)); v != Generic && done != least || v == Generic && done != 0 {
					t.Fatalf("%v: %d of %d words done", v, done, n)
				}
				for i, got := range dst {
					want := uint32(0)
					if i < done {
						want = uint32(n - i)
					}
					if got != want {
						t.Fatalf("%v, %d words: word %d is %d, want %d", v, n, i, got, want)
					}
				}
			}
		}
	}
}
