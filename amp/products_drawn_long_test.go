//go:build long

package amp

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// TestDrawnProductsLong is TestDrawnProducts for larger sizes. HALFTONE_TEST_SEED=N draws from another seed on, and =now from one that nobody
// saw, and more of them: for the hours one wants to give it. It names the seed that failed.
func TestDrawnProductsLong(t *testing.T) {
	first, n := uint64(1000), 150
	if text := os.Getenv("HALFTONE_TEST_SEED"); text == "now" {
		first, n = uint64(time.Now().UnixNano()), 600
	} else if text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("HALFTONE_TEST_SEED=%q is no number, and not now", text)
		}
		first, n = seed, 600
	}
	checkProducts(t, first, n, 1<<24)
	t.Logf("%d cases from seed %d on", n, first)
}
