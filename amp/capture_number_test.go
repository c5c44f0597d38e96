package amp

import (
	"slices"
	"testing"
)

// TestCaptureComparesWithNumbers: a captured step compares what it reads anew with the same number.
func TestCaptureComparesWithNumbers(t *testing.T) {
	root := NewScope()
	defer root.Close()
	x, out := Zeros(root, Float32, 3), Zeros(root, Float32, 3)
	graph := root.Capture(func(s *Scope) {
		Assign(out, Where(s, GtScalar(s, x, 2), ScalarSub(s, 1, x), x))
	})
	Assign(x, From([]float32{1, 2, 3}))
	graph.Replay()
	if got, want := out.Float64s(), []float64{1, 2, -2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
