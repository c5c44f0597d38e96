package cudart_test

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestSamplingOnDevice: draws by probabilities on the device, and counts of a given length, are the CPU's, and nothing is read for them.
func TestSamplingOnDevice(t *testing.T) {
	device := gpu(t)
	for name, f := range map[string]func(s *amp.Scope, p *amp.Tensor) *amp.Tensor{
		"Bernoulli":        amp.Bernoulli,
		"one of each row":  func(s *amp.Scope, p *amp.Tensor) *amp.Tensor { return amp.Multinomial(s, p, 1, true) },
		"without":          func(s *amp.Scope, p *amp.Tensor) *amp.Tensor { return amp.Multinomial(s, p, 5, false) },
		"with replacement": func(s *amp.Scope, p *amp.Tensor) *amp.Tensor { return amp.Multinomial(s, p, 40, true) },
		"of a list": func(s *amp.Scope, p *amp.Tensor) *amp.Tensor {
			return amp.Multinomial(s, amp.Select(s, p, 0, 1), 40, true)
		},
		"Bincount": func(s *amp.Scope, p *amp.Tensor) *amp.Tensor { return amp.Bincount(s, amp.ArgMax(s, p, 1), nil, 12) },
		"NanToNum": func(s *amp.Scope, p *amp.Tensor) *amp.Tensor {
			return amp.NanToNum(s, amp.Div(s, amp.AddScalar(s, amp.Round(s, p), -1), amp.Round(s, p)))
		},
	} {
		run := func(on string) []float64 {
			s := amp.NewScope(amp.On(on), amp.Seed(4)).NoGrad()
			defer s.Close()
			p := amp.Rand(s, amp.Float32, 0, 1, 9, 12)
			before := cudart.CountsOf(device).Downloads
			y := f(s, p)
			if now := cudart.CountsOf(device).Downloads; now != before {
				t.Errorf("%s read from the device %d times", name, now-before)
			}
			return y.Float64s()
		}
		if got, want := run(device), run("cpu"); !slices.Equal(got, want) {
			t.Errorf("%s: %v, the CPU's %v", name, got, want)
		}
	}
}

// TestSamplingIsCaptured: a captured step samples, each replay anew and as the step would have.
func TestSamplingIsCaptured(t *testing.T) {
	device := gpu(t)
	step := func(s *amp.Scope, p, total *amp.Tensor) {
		s = s.NoGrad()
		amp.AddInPlace(s, total, amp.Reshape(s, amp.Multinomial(s, p, 1, false), -1))
		amp.AddInPlace(s, total, amp.Multinomial(s, amp.Select(s, p, 0, 0), 3, true))
		amp.AddInPlace(s, total, amp.To(s, amp.Sum(s, amp.Bernoulli(s, p), 1), amp.Int64))
		amp.CopyInPlace(s, total, amp.Remainder(s, total, amp.Full(s, amp.Int64, 3, 3)))
		amp.AddInPlace(s, total, amp.Bincount(s, total, nil, 3))
	}
	run := func(captured bool) (all []float64) {
		root := amp.NewScope(amp.On(device), amp.Seed(1))
		defer root.Close()
		p, total := amp.Rand(root, amp.Float32, 0, 1, 3, 6), amp.Zeros(root, amp.Int64, 3)
		if !captured {
			for s := range root.Steps(5) {
				step(s, p, total)
				all = append(all, total.Float64s()...)
			}
			return all
		}
		g := root.Capture(func(s *amp.Scope) { step(s, p, total) })
		all = append(all, total.Float64s()...)
		for range 4 {
			g.Replay()
			all = append(all, total.Float64s()...)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		return all
	}
	if got, want := run(true), run(false); !slices.Equal(got, want) {
		t.Errorf("replays %v, steps %v", got, want)
	}
}
