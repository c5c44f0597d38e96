package amp

import (
	"math/bits"
	"slices"
	"testing"
)

// TestHadamard holds the transform to the matrix, along every dimension, of views too, its inverse to it, and a product over a transformed dimension
// to one without: exactly, since all numbers are small.
func TestHadamard(t *testing.T) {
	s := NewScope(Seed(1))
	defer s.Close()
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		for d, shape := range [][]int{{32, 3, 5}, {2, 48, 5}, {3, 2, 16}} {
			x := To(s, RandInt(s, -4, 5, shape...), dt)
			for name, view := range map[string]*Tensor{"contiguous": x, "transposed": Contiguous(s, Transpose(s, x, 0, 2))} {
				at := d
				if name == "transposed" {
					view = Transpose(s, view, 0, 2)
				}
				y := Hadamard(s, view, at)
				lines, got := Transpose(s, view, at, -1), Contiguous(s, Transpose(s, y, at, -1)).Float64s()
				in := Contiguous(s, lines).Float64s()
				for i := range got {
					want, first := 0.0, i/16*16
					for k, v := range in[first : first+16] {
						if bits.OnesCount(uint(k&(i%16)))%2 == 1 {
							v = -v
						}
						if HadamardSigns>>k&1 == 1 {
							v = -v
						}
						want += v
					}
					if got[i] != want/4 {
						t.Fatalf("%v %s along %d of %v: element %d is %v, want %v", dt, name, at, shape, i, got[i], want/4)
					}
				}
				if back := HadamardInverse(s, y, at).Float64s(); !slices.Equal(back, Contiguous(s, view).Float64s()) {
					t.Fatalf("%v %s along %d of %v: the inverse gives something else", dt, name, at, shape)
				}
			}
		}
	}
	x, dy := To(s, RandInt(s, -4, 5, 64, 6), Float32), To(s, RandInt(s, -4, 5, 64, 10), Float32)
	plain := MatMul(s, Transpose(s, dy, 0, 1), x).Float64s()
	if turned := MatMul(s, Transpose(s, Hadamard(s, dy, 0), 0, 1), Hadamard(s, x, 0)).Float64s(); !slices.Equal(turned, plain) {
		t.Error("the gradient of a weight changes")
	}
}
