package amp

import (
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
	_ "github.com/halftone-ml/halftone/amp/internal/poison"
)

// TestPoisonedMemory: the tests of this package run on memory in which what nobody wrote is NaN, given-back memory too.
func TestPoisonedMemory(t *testing.T) {
	defer cpu.SetPoison(cpu.SetPoison(0xff))
	nan := func(what string, list []float32) {
		t.Helper()
		for i, v := range list {
			if v == v {
				t.Fatalf("%s: element %d of %d is %v", what, i, len(list), v)
			}
		}
	}
	s := NewScope(On("cpu"))
	defer s.Close()
	for range 2 {
		c := s.Child()
		x := c.born(alloc("test", c.root.dev, Float32, []int{100, 7}))
		list := elements[float32](x)
		nan("tensor", list)
		clear(list)
		c.Close()
		nan("tensor given back", list)
	}
	if b := resize([]float64{1, 2}, 1); b[0] == b[0] {
		t.Error("scratch memory keeps its numbers")
	}
}
