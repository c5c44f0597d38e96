//go:build long

package amp

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// TestDrawnProductsLong is TestDrawnProducts for larger sizes, and other seeds each time: it names the one that failed, and
// HALFTONE_TEST_SEED draws it again.
func TestDrawnProductsLong(t *testing.T) {
	first, n := uint64(time.Now().UnixNano()), 0
	if seed, err := strconv.ParseUint(os.Getenv("HALFTONE_TEST_SEED"), 10, 64); err == nil {
		checkProducts(t, seed, 1, 1<<24)
		return
	}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end) && !t.Failed(); n += 10 {
		checkProducts(t, first+uint64(n), 10, 1<<24)
	}
	t.Logf("%d cases from seed %d on", n, first)
}
