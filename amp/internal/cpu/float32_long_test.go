//go:build long

package cpu

import (
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
)

// TestFloat32FunctionsOfAll holds the functions in float32 to their bounds for every 16th number, from a random one on; for every number
// there is, which takes six minutes of a processor, where HALFTONE_ALL_FLOATS is set.
func TestFloat32FunctionsOfAll(t *testing.T) {
	step := 16
	if os.Getenv("HALFTONE_ALL_FLOATS") != "" {
		step = 1
	}
	first := rand.IntN(step)
	for name := range float32Bounds {
		far := functionsByName[name].f.far
		var wg sync.WaitGroup
		const parts = 16
		worst := make([]float64, parts)
		for part := range parts {
			wg.Go(func() {
				n := 1 << 32 / parts / step
				worst[part] = checkFloat32(t, name, n, func(i int) float32 {
					x := math.Float32frombits(uint32((part*n+i)*step + first))
					if far && !(math.Abs(float64(x)) <= trigReach) && (i/4096%64 != 0 || i%16 != 0) { // computed in large integers, so only some
						x = 1
					}
					return x
				})
			})
		}
		wg.Wait()
		most := 0.0
		for _, w := range worst {
			most = max(most, w)
		}
		t.Logf("%s: %.2f ulp", name, most)
	}
}
