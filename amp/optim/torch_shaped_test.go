package optim_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// shapedVectors are runs of an optimizer to which the parameters' shapes matter: testdata/torch_muon.json and torch_adafactor.json, which
// programs beside them made with torch.
type shapedVectors struct {
	Shapes [][]int
	Start  [][]float64
	Grads  [][][]float64
	Runs   []torchRun
}

func readShaped(t *testing.T, file string, runs int) (v shapedVectors) {
	t.Helper()
	readVectors(t, file, &v)
	if len(v.Runs) != runs {
		t.Fatalf("%d runs", len(v.Runs))
	}
	return v
}

// distances returns how far numbers, and torch's, are from exact at most, and the largest exact one.
func distances(got, want, exact []float64) (ours, theirs, largest float64) {
	for k, e := range exact {
		ours, theirs, largest = max(ours, math.Abs(got[k]-e)), max(theirs, math.Abs(want[k]-e)), max(largest, math.Abs(e))
	}
	return ours, theirs, largest
}

// TestTorchMuon: after each of six steps the weights are at most twice as far from where an iteration without rounding takes them as torch's
// are, whose products of bfloat16 add up in another order; the momentum is torch's.
func TestTorchMuon(t *testing.T) {
	v := readShaped(t, "torch_muon.json", 15)
	for _, c := range v.Runs {
		t.Run(fmt.Sprint(c.Config, c.DType), func(t *testing.T) {
			o := c.follow(t, v.Start, v.Shapes, v.Grads, func(step, i int, p *amp.Tensor) {
				if ours, theirs, _ := distances(p.Float64s(), c.After[step][i], c.Exact[step][i]); !(ours <= 2*theirs) {
					t.Errorf("step %d, shape %v: %v from exact, torch is %v", step, v.Shapes[i], ours, theirs)
				}
			})
			ulp := map[amp.DType]float64{amp.Float64: 0x1p-52, amp.Float32: 0x1p-23, amp.BFloat16: 0x1p-8}[c.DType]
			c.compareState(t, o, func(name string, momentum []float64) {
				for k, got := range momentum {
					if want := c.State[name][k]; !(math.Abs(got-want) <= 4*ulp) { // of numbers up to 1.3
						t.Errorf("%s, element %d: %v, torch has %v", name, k, got, want)
					}
				}
			})
		})
	}
}

// TestTorchAdafactor: weights and averages of squares after each of six steps are torch's to a few units in the last place; of bfloat16, which
// torch rounds after every operation, they are as far from exact as a rounding a step takes them, or twice as far as torch's.
func TestTorchAdafactor(t *testing.T) {
	v := readShaped(t, "torch_adafactor.json", 9)
	for _, c := range v.Runs {
		t.Run(fmt.Sprint(c.Config, c.DType), func(t *testing.T) {
			compare := func(what string, steps int, got, want, exact []float64) {
				t.Helper()
				if c.DType == amp.BFloat16 {
					if ours, theirs, largest := distances(got, want, exact); !(ours <= max(2*theirs, float64(steps)*0x1p-9*largest)) {
						t.Errorf("%s: %v from exact, torch is %v", what, ours, theirs)
					}
					return
				}
				for k, g := range got {
					if !near(g, want[k], 1, c.DType) {
						t.Errorf("%s, element %d: %v, torch has %v", what, k, g, want[k])
					}
				}
			}
			o := c.follow(t, v.Start, v.Shapes, v.Grads, func(step, i int, p *amp.Tensor) {
				compare(fmt.Sprintf("step %d, shape %v", step, v.Shapes[i]), step+1, p.Float64s(), c.After[step][i], c.Exact[step][i])
			})
			c.compareState(t, o, func(name string, got []float64) {
				compare(name, len(v.Grads), got, c.State[name], c.ExactState[name])
			})
		})
	}
}
