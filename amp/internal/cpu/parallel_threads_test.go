package cpu

import (
	"strings"
	"testing"
)

// TestParseThreads: a wrong number is told, as a wrong HALFTONE_CPU is.
func TestParseThreads(t *testing.T) {
	for in, want := range map[string]int{"": 4, "1": 1, "16": 16, "abc": -4, "0": -4, "-2": -4, "2.5": -4, "1e3": -4} {
		n, err := parseThreads(in, 4)
		if n != max(want, -want) || (err != nil) != (want < 0) || err != nil && !strings.Contains(err.Error(), "HALFTONE_THREADS="+in+":") {
			t.Errorf("%q: %d, %v", in, n, err)
		}
	}
}
