package amp

import (
	"math"
	"testing"
)

// TestHalfTables compares what is looked up with what is computed, bit for bit, for every half number, through views too.
func TestHalfTables(t *testing.T) {
	root := NewScope(Seed(1))
	defer root.Close()
	for _, dt := range []DType{Float16, BFloat16} {
		all := alloc("test", defaultDevice(), dt, []int{256, 256})
		all.rewrite("test", func(t *Tensor) {
			bits := bits16(t)
			for i := range bits {
				bits[i] = uint16(i)
			}
		})
		bits16 := func(t *Tensor) []uint16 { return bits16(t.onHost("test")) }
		dy := Randn(root, dt, 0, 1, 256, 256)
		small := func(t *Tensor, i int) *Tensor { return Narrow(root, t, 0, i, 8) } // too few for a table
		turned := Transpose(root, all, 0, 1)
		for name, f := range map[string]func(x, dy *Tensor) *Tensor{
			"gelu": func(x, _ *Tensor) *Tensor { return GELU(root, x) }, "exp": func(x, _ *Tensor) *Tensor { return Exp(root, x) },
			"sigmoid": func(x, _ *Tensor) *Tensor { return Sigmoid(root, x) }, "tanh": func(x, _ *Tensor) *Tensor { return Tanh(root, x) },
			"gelu_backward": func(x, dy *Tensor) *Tensor { o, _ := LookupOp("gelu_backward"); return root.apply(o, Attrs{}, dy, x) },
			"silu_backward": func(x, dy *Tensor) *Tensor { o, _ := LookupOp("silu_backward"); return root.apply(o, Attrs{}, dy, x) },
			"sigmoid_backward": func(x, dy *Tensor) *Tensor {
				o, _ := LookupOp("sigmoid_backward")
				return root.apply(o, Attrs{}, dy, x)
			},
			"tanh_backward": func(x, dy *Tensor) *Tensor { o, _ := LookupOp("tanh_backward"); return root.apply(o, Attrs{}, dy, x) },
		} {
			got, back := bits16(f(all, dy)), Contiguous(root, Transpose(root, f(turned, Transpose(root, dy, 0, 1)), 0, 1))
			for i := 0; i < 256; i += 8 {
				for k, want := range bits16(f(small(all, i), small(dy, i))) {
					if g := got[i*256+k]; g != want {
						t.Fatalf("%s of %v %#04x: %#04x from the table, computed %#04x", name, dt, i*256+k, g, want)
					}
				}
			}
			for i, want := range got {
				if bits16(back)[i] != want {
					t.Fatalf("%s of %v %#04x differs through a view", name, dt, i)
				}
			}
		}
		if y := GELU(root, all); !math.IsNaN(y.Float64s()[1<<16-1]) {
			t.Error("NaN lost")
		}
	}
}

// TestLookUpRun: by fours or one by one, at any place, every half finds its own entry, and nothing is written beside the run.
func TestLookUpRun(t *testing.T) {
	table := new([1 << 16]uint16)
	for i := range table {
		table[i] = uint16(i) ^ 0x5a5a
	}
	var src, dst [64]uint16
	for i := range src {
		src[i] = uint16(i * 0x1357)
	}
	for n := range 20 {
		for at := range 5 {
			clear(dst[:])
			lookUpRun(dst[at:at+n], src[at+1:at+1+n], table)
			for i, got := range dst {
				want := uint16(0)
				if i >= at && i < at+n {
					want = src[i+1] ^ 0x5a5a
				}
				if got != want {
					t.Fatalf("%d from %d on: element %d is %#x, want %#x", n, at, i, got, want)
				}
			}
		}
	}
}
