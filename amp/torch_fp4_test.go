package amp

import (
	"math"
	"testing"
)

// torchFP4 is testdata/torch/fp4.json.gz.
type torchFP4 struct {
	Cases []struct {
		Name  string
		DType DType
		In    *torchTensor
		Out   map[string]*torchTensor
	}
}

// TestTorchFP4 holds the roundings and transforms to torchao's: bit for bit, but for what lies halfway between two numbers in NVFP4, and one rounding of
// a transform's result.
func TestTorchFP4(t *testing.T) {
	var v torchFP4
	readTorch(t, "testdata/torch/fp4.json.gz", &v)
	s := NewScope()
	defer s.Close()
	ways := map[string]fp4Casting{
		"nv": {true, false, 1}, "nv of columns": {true, false, 0}, "nv squares": {true, true, 0}, "mx": {false, false, 1}, "mx of columns": {false, false, 0},
	}
	for _, c := range v.Cases {
		x := c.In.tensor(c.DType)
		in := x.Float64s()
		for name, out := range c.Out {
			want := bitsAs(out.DType, out.Bits)
			way, rounds := ways[name]
			if !rounds {
				for i, got := range Hadamard(s, x, 0).Float64s() {
					if math.Abs(got-want[i]) > math.Abs(want[i])*0x1p-7 {
						t.Fatalf("%s %s: element %d is %v, torchao's %v", c.Name, name, i, got, want[i])
					}
				}
				continue
			}
			got, scales := s.quantizeScaled(x, way.casting()).Float64s(), way.scales(c.DType, in, x.shape)
			ties := 0
			for i, y := range got {
				if math.Float64bits(y) == math.Float64bits(want[i]) {
					continue
				}
				between := (math.Abs(y) + math.Abs(want[i])) / 2
				if ties++; !way.nv || between != math.Abs(in[i]) || math.Abs(math.Abs(y)-math.Abs(want[i])) > 2*scales[i] {
					t.Fatalf("%s %v %s: element %d, %v, becomes %v, torchao's %v", c.Name, c.DType, name, i, in[i], y, want[i])
				}
			}
			if ties > len(got)/50 {
				t.Errorf("%s %v %s: %d of %d differ", c.Name, c.DType, name, ties, len(got))
			}
		}
	}
}
