package stretch

import "testing"

func TestRunnable(t *testing.T) {
	for text, want := range map[string]int{"0.20 0.18 0.12 3/80 11206\n": 3, "12.00 1.00 0.12 117/2080 1\n": 117, "": 1, "x": 1} {
		if got := runnable([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
