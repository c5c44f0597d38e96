package amp_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

func TestTryRounding(t *testing.T) {
	for _, dt := range []amp.DType{amp.Float32, amp.Float16, amp.BFloat16} {
		s := amp.NewScope(amp.Seed(3))
		net := nn.NewSequential(nn.NewLinear(s, 8, 32), nn.NewLayerNorm(s, 32), nn.ReLU, nn.NewLinear(s, 32, 4))
		x, y := amp.Randn(s, amp.Float32, 0, 1, 64, 8), amp.Randn(s, amp.Float32, 0, 1, 64, 4)
		loss, r := amp.TraceRounding(s, func(s *amp.Scope) *amp.Tensor {
			if dt != amp.Float32 {
				s = s.Autocast(dt)
			}
			return amp.MSELoss(s, net.Forward(s, x), y)
		})
		loss.Backward()
		fmt.Println(dt, r.Loss, r.Exact, r.Loss-r.Exact, r.First, r.Spread, math.Abs(r.Loss-r.Exact-r.First))
		for _, e := range r.Events {
			fmt.Printf("  %-12s %-14s %-14s %v→%v own %.2e total %.2e share %+.2e spread %.2e bad %d %v %s:%d %s %v\n", e.Op, e.For, e.Of, e.Compute, e.DType, e.Own/e.Size, e.Total/e.Size, e.Share, e.Spread, e.Bad, e.If, e.File, e.Line, e.Module, e.Err)
		}
		s.Close()
	}
}
