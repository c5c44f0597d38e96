package amp

import (
	"fmt"
	"math"
	"testing"
)

// torchFP8 is testdata/torch/fp8.json.gz.
type torchFP8 struct {
	Cases []struct { // roundings of one tensor
		Name  string
		DType DType
		In    *torchTensor
		Cases []struct {
			Format, Granularity string
			Dim                 int
			Out                 *torchTensor
		}
	}
	Linears []struct { // recipes for one linear layer
		DType DType
		In    []*torchTensor // x, weight, bias and the gradient of the result
		Cases []struct {
			Granularity string
			E4M3        bool
			Margin      int
			Out         []*torchTensor // the result, and the gradients of x, weight and bias
		}
	}
}

func readFP8(t *testing.T) (v torchFP8) {
	t.Helper()
	readTorch(t, "testdata/torch/fp8.json.gz", &v)
	return v
}

func granularityNamed(t *testing.T, name string) Granularity {
	t.Helper()
	g, err := ParseGranularity(name)
	if err != nil || g.String() != name {
		t.Fatal(name, g, err)
	}
	return g
}

// TestTorchFP8Roundings asks for the bits of torch's casts to float8, times their scale, of views too.
func TestTorchFP8Roundings(t *testing.T) {
	formats := map[string]Format{"e4m3": FormatE4M3, "e5m2": FormatE5M2}
	s := NewScope()
	defer s.Close()
	for _, in := range readFP8(t).Cases {
		x := in.In.tensor(in.DType)
		views := map[string]func(y *Tensor) *Tensor{
			"contiguous": func(y *Tensor) *Tensor { return y },
			"transposed": func(y *Tensor) *Tensor { return Transpose(s, y, 0, 1) },
		}
		for _, c := range in.Cases {
			want := bitsAs(c.Out.DType, c.Out.Bits)
			for view, of := range views {
				arg, dim := of(x), c.Dim
				if view == "transposed" {
					dim = 1 - dim
				}
				got := of(QuantizeScaled(s, arg, formats[c.Format], granularityNamed(t, c.Granularity), dim)).Float64s()
				for i := range want {
					if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
						t.Fatalf("%s %v to %s, a scale per %s along %d, %s: element %d is %v, torch's %v", in.Name, in.DType, c.Format, c.Granularity, c.Dim, view, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// TestTorchFP8Linear holds a layer under FP8, forward and backward, to the products of torch's float8 numbers: one rounding of the result away.
func TestTorchFP8Linear(t *testing.T) {
	for _, layer := range readFP8(t).Linears {
		for _, c := range layer.Cases {
			recipe := &FP8Recipe{Granularity: granularityNamed(t, c.Granularity), E4M3: c.E4M3, Margin: c.Margin}
			t.Run(fmt.Sprintf("%v/%v", layer.DType, recipe), func(t *testing.T) {
				s := NewScope(Record(Decisions))
				defer s.Close()
				x, w, b := layer.In[0].tensor(layer.DType).RequireGrad(), layer.In[1].tensor(layer.DType).RequireGrad(), layer.In[2].tensor(layer.DType).RequireGrad()
				y := Linear(s.Autocast(layer.DType, FP8(recipe)), x, w, b)
				y.Backward(GradOutputs(layer.In[3].tensor(layer.DType)))
				f, _ := FormatOf(layer.DType)
				for i, got := range []*Tensor{y, x.Grad(), w.Grad(), b.Grad()} {
					want := bitsAs(c.Out[i].DType, c.Out[i].Bits)
					size := 0.0
					for _, v := range want {
						size = max(size, math.Abs(v))
					}
					for k, v := range got.Float64s() {
						// half a unit of the result, and float32 sums of up to 64 terms
						if limit := math.Abs(want[k])*f.Epsilon()/2 + 8*size*0x1p-24; math.Abs(v-want[k]) > limit {
							t.Fatalf("%s, element %d: %v, want %v ± %v", []string{"result", "gradient of x", "gradient of weight", "gradient of bias"}[i], k, v, want[k], limit)
						}
					}
				}
			})
		}
	}
}
