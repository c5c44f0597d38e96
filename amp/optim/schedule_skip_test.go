package optim_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// A schedule moved after a step that the scaler skipped says so, once; one that counts applied steps has nothing to say, nor has one
// that is moved without any step, to draw it.
func TestScheduleAfterSkippedStep(t *testing.T) {
	if name := amp.NewScope().Device(); name != "cpu" {
		t.Skip("a step is skipped without the host's knowledge on " + name)
	}
	var said bytes.Buffer
	defer amp.SetWarnings(amp.SetWarnings(&said))
	for _, fused := range []bool{false, true} {
		w := amp.From([]float32{1, 2}).RequireGrad()
		opts := []optim.Option{optim.LR(1)}
		if fused {
			opts = append(opts, optim.Fused())
		}
		opt := optim.NewSGD([]*amp.Tensor{w}, opts...)
		scaler := amp.NewGradScaler(amp.InitScale(2))
		step := func(factor float64, s optim.Scheduler) {
			root := amp.NewScope()
			defer root.Close()
			opt.ZeroGrad()
			scaler.Scale(root, amp.Sum(root, amp.MulScalar(root, w, factor))).Backward()
			scaler.Step(opt)
			scaler.Update()
			s.Step()
		}
		for range 3 {
			optim.NewStepLR(opt, 2, 0.5).Step()
		}
		counted := optim.CountApplied(optim.NewStepLR(opt, 2, 0.5))
		step(math.Inf(1), counted)
		step(1, counted)
		if said.Len() > 0 {
			t.Fatalf("fused %v: %s", fused, &said)
		}
		plain := optim.NewExponentialLR(opt, 0.5)
		step(1, plain)
		if said.Len() > 0 {
			t.Fatalf("fused %v: %s", fused, &said)
		}
		plain.Step()
		step(math.NaN(), plain)
		step(math.NaN(), plain)
		if text := said.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "ExponentialLR.Step: the GradScaler skipped") || !strings.Contains(text, "CountApplied(optim.NewExponentialLR(…))") {
			t.Errorf("%q", text)
		}
		said.Reset()
	}
}
