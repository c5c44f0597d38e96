package session_test

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/kernelext/session"
)

func init() {
	// parametrized N ITERATIONS: N steps of a model whose weights are computed, SpectralNorm's with so many power iterations.
	cells["parametrized"] = func(args []string) {
		n, _ := strconv.Atoi(args[0])
		iterations, _ := strconv.Atoi(args[1])
		root := session.NewScope(amp.Seed(2))
		defer root.Close()
		net := session.Model("net", func(s *amp.Scope) *nn.Sequential {
			return nn.NewSequential(nn.SpectralNorm(s, nn.NewLinear(s, 60, 70), nn.PowerIterations(iterations)), nn.Tanh, nn.WeightNorm(s, nn.NewLinear(s, 70, 9)))
		})
		opt := session.Optimizer("opt", func() *optim.SGD { return optim.NewSGD(net.Parameters(), optim.LR(0.1), optim.Momentum(0.9)) })
		for s := range root.Steps(n) {
			half := s.Autocast(amp.BFloat16)
			opt.ZeroGrad()
			nn.MSELoss(half, net.Forward(half, amp.Randn(s, amp.Float32, 0, 1, 8, 60)), amp.Ones(s, amp.Float32, 8, 9)).Backward()
			opt.Step()
		}
		h := sha256.New()
		for _, t := range append(net.Parameters(), net.Buffers()...) {
			_ = amp.WriteRaw(h, t)
		}
		fmt.Printf("%d %x\n", opt.Steps(), h.Sum(nil)[:8])
	}
}

// TestParametrizedModel: what weights are computed from, and u and v of SpectralNorm, live in the session: steps in cells equal steps at once;
// other power iterations are another model.
func TestParametrizedModel(t *testing.T) {
	whole, parts := newNotebook(t).run("parametrized", 7, 1), newNotebook(t)
	for _, steps := range []int{3, 1} {
		parts.run("parametrized", steps, 1)
	}
	if got := parts.run("parametrized", 3, 1); got != whole {
		t.Errorf("in cells %s, at once %s", got, whole)
	}
	if _, errs, err := parts.try("parametrized", 1, 2); err == nil || !strings.Contains(errs, `it was built with "iterations: 1", here "iterations: 2"`) {
		t.Errorf("%v %s", err, errs)
	}
}
