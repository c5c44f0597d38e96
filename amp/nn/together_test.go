package nn_test

import (
	"math"
	"sync"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// TestBackwardTogether: goroutines run a model that they share over batches of their own, in one scope or each in its own, and their
// gradients add up as if one had done it all. The order of the sums is theirs.
func TestBackwardTogether(t *testing.T) {
	for name, own := range map[string]bool{"scopes of their own": true, "one scope": false} {
		t.Run(name, func(t *testing.T) {
			root := amp.NewScope(amp.Seed(1))
			defer root.Close()
			net := nn.NewSequential(nn.NewLinear(root, 8, 32), nn.NewLayerNorm(root, 32), nn.GELU, nn.NewLinear(root, 32, 4))
			x, y := amp.Randn(root, amp.Float32, 0, 1, 6, 16, 8), amp.Randn(root, amp.Float32, 0, 1, 6, 16, 4)
			pass := func(s *amp.Scope, i int) {
				if own {
					s = s.Child()
					defer s.Close()
				}
				half := s.Autocast(amp.Float16)
				nn.MSELoss(half, net.Forward(half, amp.Select(s, x, 0, i)), amp.Select(s, y, 0, i)).Backward()
			}
			grads := func() (out [][]float64) {
				for _, p := range net.Parameters() {
					out = append(out, p.Grad().Float64s())
					p.ZeroGrad()
				}
				return out
			}
			for i := range x.Dim(0) {
				pass(root, i)
			}
			want := grads()
			for s := range root.Steps(15) {
				var wg sync.WaitGroup
				for i := range x.Dim(0) {
					wg.Go(func() { pass(s, i) })
				}
				wg.Wait()
				for i, g := range grads() {
					for j, v := range g {
						if math.Abs(v-want[i][j]) > 1e-5*(1+math.Abs(want[i][j])) {
							t.Fatalf("gradient %d[%d] is %v, want %v", i, j, v, want[i][j])
						}
					}
				}
			}
		})
	}
}
