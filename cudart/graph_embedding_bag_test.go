package cudart_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestCapturedBags: bags of every mode are trained by a captured step with other indices and offsets in each replay, as step by step, bit for bit,
// and as on the CPU.
func TestCapturedBags(t *testing.T) {
	device := gpu(t)
	indices := [][]int64{{1, 3, 1, 0, 5, 3, 6}, {5, 5, 2, 2, 4, 4, 4}, {0, 1, 2, 3, 4, 5, 6}}
	offsets := [][]int64{{0, 2, 2, 7}, {0, 1, 2, 7}, {0, 0, 7, 7}}
	run := func(device string, mode nn.BagMode, max float64, captured bool) (out [][]float64) {
		root := amp.NewScope(amp.On(device), amp.Seed(3))
		defer root.Close()
		opts := []nn.EmbeddingOption{nn.LastOffset(), nn.PaddingRow(5)}
		if max > 0 {
			opts = append(opts, nn.MaxNorm(max))
		}
		bag := nn.NewEmbeddingBag(root, 7, 4, mode, opts...)
		index, begins := amp.From(indices[2]).To(root), amp.From(offsets[2]).To(root)
		opt := optim.NewSGD(bag.Parameters(), optim.LR(0.1))
		var y *amp.Tensor
		step := func(s *amp.Scope) {
			opt.ZeroGrad()
			half := s.Autocast(amp.BFloat16)
			y = bag.Run(half, index, begins, nil)
			amp.Sum(s, amp.Square(s, amp.AddScalar(s, y, 1))).Backward()
			opt.Step()
		}
		replay, done := firstStep(root, captured, step)
		defer done()
		for i := range indices {
			amp.SetValues(index, indices[i])
			amp.SetValues(begins, offsets[i])
			replay()
			out = append(out, y.Float64s(), bag.Weight.Float64s())
		}
		return out
	}
	for _, mode := range []nn.BagMode{nn.MeanBag, nn.SumBag, nn.MaxBag} {
		for _, max := range []float64{0, 1.5} {
			t.Run(fmt.Sprint(mode, max), func(t *testing.T) {
				got, want, host := run(device, mode, max, true), run(device, mode, max, false), run("cpu", mode, max, false)
				for i, v := range want {
					if !slices.Equal(got[i], v) {
						t.Errorf("list %d of the replays: %v, step by step %v", i, got[i], v)
					}
					if !slices.EqualFunc(v, host[i], func(a, b float64) bool { return a-b < 1e-5 && b-a < 1e-5 }) {
						t.Errorf("list %d: %v, on the CPU %v", i, v, host[i])
					}
				}
				if slices.Equal(want[0], want[2]) || slices.Equal(want[2], want[4]) {
					t.Errorf("%v with other indices", want)
				}
			})
		}
	}
}
