package optim_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// halfVectors is testdata/torch_half.json, which testdata/generate_half.py made with torch.
type halfVectors struct {
	Start      [][]float64
	Grads      [][][]float64
	Optimizers []struct {
		torchRun
		Fused bool
	}
}

// TestTorchHalfOptimizers: parameters and state of 16 bits are updated in float32 and rounded once a step, which is what torch's fused
// updates do, bit for bit. Its others round after every operation; ours may be twice as far from exact, as ops may.
func TestTorchHalfOptimizers(t *testing.T) {
	var v halfVectors
	readVectors(t, "torch_half.json", &v)
	if len(v.Optimizers) != 36 {
		t.Fatalf("%d optimizers", len(v.Optimizers))
	}
	for _, c := range v.Optimizers {
		t.Run(fmt.Sprint(c.Name, c.Config, c.DType), func(t *testing.T) {
			var ours, theirs float64 // the largest distances from exact
			o := c.follow(t, v.Start, nil, v.Grads, func(step, i int, p *amp.Tensor) {
				for k, got := range p.Float64s() {
					want, exact := c.After[step][i][k], c.Exact[step][i][k]
					if c.Fused && got != want {
						t.Fatalf("step %d parameter %d element %d: %v, torch has %v", step, i, k, got, want)
					}
					ours, theirs = max(ours, math.Abs(got-exact)), max(theirs, math.Abs(want-exact))
				}
			})
			if !(ours <= 2*theirs) {
				t.Errorf("%v from exact, torch is %v", ours, theirs)
			}
			for name, s := range o.State().Tensors {
				if s.DType() != c.DType {
					t.Errorf("%s is of %v", name, s.DType())
				}
			}
		})
	}
}
