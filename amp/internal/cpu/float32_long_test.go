//go:build long

package cpu

import (
	"math"
	"sync"
	"testing"
)

// TestFloat32FunctionsOfAll holds the functions in float32 to their bounds for every number.
func TestFloat32FunctionsOfAll(t *testing.T) {
	for name := range float32Bounds {
		var wg sync.WaitGroup
		const parts = 16
		worst := make([]float64, parts)
		for part := range parts {
			wg.Go(func() {
				worst[part] = checkFloat32(t, name, 1<<32/parts, func(i int) float32 { return math.Float32frombits(uint32(i)*parts + uint32(part)) })
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
