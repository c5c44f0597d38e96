package cudart_test

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestCapturedGPT: steps of a GPT under autocast, in which norms and sums read halves whose casts wait, are the same captured and not.
func TestCapturedGPT(t *testing.T) {
	device := gpu(t)
	for _, half := range []amp.DType{amp.Float16, amp.BFloat16} {
		run := func(captured bool) [][]float32 {
			root := amp.NewScope(amp.On(device), amp.Seed(1))
			defer root.Close()
			net := nn.NewGPT(root, nn.GPTConfig{Vocabulary: 32, Context: 24, Features: 32, Layers: 2, Heads: 2, Dropout: 0.1})
			opt := optim.NewAdamW(net.Parameters(), optim.LR(0.01))
			scaler := amp.NewGradScaler(amp.InitScale(128))
			x, y := amp.RandInt(root, 0, 32, 3, 24), amp.RandInt(root, 0, 32, 3, 24)
			step := func(s *amp.Scope) {
				opt.ZeroGrad()
				scaler.Scale(s, net.Loss(s.Autocast(half), x, y)).Backward()
				scaler.Step(opt)
				scaler.Update()
			}
			takeSteps(root, 4, captured, step)
			if n := scaler.History().Skipped; n > 0 {
				t.Errorf("%d steps skipped", n)
			}
			return bits(net)
		}
		want, got := run(false), run(true)
		for i := range want {
			if !slices.Equal(want[i], got[i]) {
				t.Errorf("%v: parameter %d differs", half, i)
			}
		}
	}
}
