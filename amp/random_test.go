package amp

import (
	"math"
	"slices"
	"testing"
)

func TestStreamIsReproducible(t *testing.T) {
	a, b := NewScope(Seed(7)), NewScope(Seed(7))
	defer a.Close()
	defer b.Close()
	first := Randn(a, Float64, 0, 1, 1001).Float64s()
	st := a.Random().State()
	second := Randn(a, Float64, 0, 1, 5).Float64s()
	if !slices.Equal(first, Randn(b, Float64, 0, 1, 1001).Float64s()) {
		t.Error("the same seed gave other numbers")
	}
	if slices.Equal(first[:5], second) {
		t.Error("the stream repeats")
	}
	b.Random().Load(st)
	if !slices.Equal(second, Randn(b, Float64, 0, 1, 5).Float64s()) {
		t.Error("a loaded stream goes on elsewhere")
	}
	mean, sq := 0.0, 0.0
	n := Randn(a, Float64, 3, 2, 100000).Float64s()
	for _, v := range n {
		mean += v
		sq += v * v
	}
	mean /= float64(len(n))
	if sd := math.Sqrt(sq/float64(len(n)) - mean*mean); math.Abs(mean-3) > 0.03 || math.Abs(sd-2) > 0.03 {
		t.Errorf("mean %v, deviation %v", mean, sd)
	}
}
