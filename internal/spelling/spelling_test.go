package spelling

import "testing"

// TestNearest checks typing errors against words that are none.
func TestNearest(t *testing.T) {
	known := []string{"status", "trace", "scale", "session", "ops"}
	for word, want := range map[string]string{"staus": "status", "sttaus": "status", "trcae": "trace", "op": "ops", "sess": "session", "SCALE": "scale", "zebra": "", "": "", "o": "", "tracesession": ""} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if d := Distance("ab", "ba"); d != 1 {
		t.Errorf("two letters swapped: %d", d)
	}
}
