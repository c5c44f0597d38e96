//go:build long

package conformance

import (
	"testing"
	"time"
)

// TestLongStorms is TestStorms at lengths at which rare moments are met.
func TestLongStorms(t *testing.T) {
	for _, s := range []storm{{"rapid", 500}, {"small", 10000}, {"huge", 48}, {"garbage", 1000}, {"vanish", 5}, {"pair", 20}} {
		t.Run(s.name, func(t *testing.T) { brew(t, s.name, 2, s.size, 10*time.Minute) })
	}
	for seed := range 3 {
		t.Run("interrupts", func(t *testing.T) {
			seen := brew(t, "interrupts", 100+seed, 60, 10*time.Minute)
			if seen["error"].(float64) == 0 || seen["ok"].(float64) == 0 {
				t.Errorf("one-sided: %v", seen)
			}
		})
	}
}
