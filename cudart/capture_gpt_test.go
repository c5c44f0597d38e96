package cudart_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestCapturedGPT: steps of a GPT under autocast, in which norms and sums read halves whose casts wait and products may read 8 or 4 bits, are the same captured
// and not.
func TestCapturedGPT(t *testing.T) {
	device := gpu(t)
	seen := map[string]string{}
	for name, autocast := range map[string]func(s *amp.Scope) *amp.Scope{
		"float16":  func(s *amp.Scope) *amp.Scope { return s.Autocast(amp.Float16) },
		"bfloat16": func(s *amp.Scope) *amp.Scope { return s.Autocast(amp.BFloat16) },
		"8 bits":   func(s *amp.Scope) *amp.Scope { return s.Autocast(amp.BFloat16, amp.FP8(&amp.FP8Recipe{})) },
		"8 bits, by row": func(s *amp.Scope) *amp.Scope {
			return s.Autocast(amp.Float16, amp.FP8(&amp.FP8Recipe{Granularity: amp.PerRow}))
		},
		"8 bits, by block": func(s *amp.Scope) *amp.Scope {
			return s.Autocast(amp.BFloat16, amp.FP8(&amp.FP8Recipe{Granularity: amp.PerBlock}))
		},
		"4 bits":       func(s *amp.Scope) *amp.Scope { return s.Autocast(amp.BFloat16, amp.FP4(&amp.FP4Recipe{})) },
		"4 bits of mx": func(s *amp.Scope) *amp.Scope { return s.Autocast(amp.Float16, amp.FP4(&amp.FP4Recipe{MX: true})) },
	} {
		run := func(captured bool) [][]float32 {
			root := amp.NewScope(amp.On(device), amp.Seed(1))
			defer root.Close()
			net := nn.NewGPT(root, nn.GPTConfig{Vocabulary: 32, Context: 24, Features: 32, Layers: 2, Heads: 2, Dropout: 0.1})
			opt := optim.NewAdamW(net.Parameters(), optim.LR(0.01))
			scaler := amp.NewGradScaler(amp.InitScale(128))
			x, y := amp.RandInt(root, 0, 32, 4, 24), amp.RandInt(root, 0, 32, 4, 24)
			step := func(s *amp.Scope) {
				opt.ZeroGrad()
				scaler.Scale(s, net.Loss(autocast(s), x, y)).Backward()
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
				t.Errorf("%s: parameter %d differs", name, i)
			}
		}
		key := fmt.Sprint(want)
		if other, same := seen[key]; same {
			t.Errorf("%s trains to the bits of %s", name, other)
		}
		seen[key] = name
	}
}
