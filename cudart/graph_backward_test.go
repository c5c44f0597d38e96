package cudart_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestBackwardOutsideOfTheStep: what a captured step makes with random numbers has the gradients of the numbers that the last replay drew, where
// backward is in a captured step of its own, or in none; masks are not kept but drawn again. The host's stream goes on as without a graph.
func TestBackwardOutsideOfTheStep(t *testing.T) {
	device := gpu(t)
	drop := func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Dropout(s, x, 0.5) }
	again := func(f func(s *amp.Scope, x *amp.Tensor) *amp.Tensor) func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
			return amp.Checkpoint(s, func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor { return f(s, in[0]) }, x)
		}
	}
	for name, f := range map[string]func(s *amp.Scope, x *amp.Tensor) *amp.Tensor{
		"dropout":       drop,
		"channels":      func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Dropout1d(s, x, 0.5) },
		"alpha dropout": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.AlphaDropout(s, x, 0.5) },
		"rrelu":         func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.RReLU(s, amp.Neg(s, x), 0.1, 0.9) },
		"attention": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
			q := amp.Unsqueeze(s, x, 0)
			return amp.ScaledDotProductAttention(s, q, q, q, nil, amp.Attention{Dropout: 0.5})
		},
		"checkpoint": again(drop),
		"checkpoints": again(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { // numbers before, in and behind another
			return drop(s, again(drop)(s, drop(s, x)))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			want := backwardApart(device, f, 3, false, false)
			for _, both := range []bool{false, true} {
				if got := backwardApart(device, f, 3, true, both); !slices.Equal(want, got) {
					t.Errorf("backward captured %v: %v, step by step %v", both, got, want)
				}
			}
			want = backwardApart(device, f, 1, false, false) // the next forward makes another result than the one that a graph reads
			if got := backwardApart(device, f, 1, false, true); !slices.Equal(want, got) {
				t.Errorf("backward alone captured: %v, step by step %v", got, want)
			}
		})
	}
}

// backwardApart takes steps of two parts, either of which may be captured, and returns results and gradients, and a number drawn behind them.
func backwardApart(device string, f func(s *amp.Scope, x *amp.Tensor) *amp.Tensor, steps int, forward, backward bool) (out []float64) {
	root := amp.NewScope(amp.On(device), amp.Seed(1))
	defer root.Close()
	w := amp.FromFloat64s(amp.Float32, numbers(32), 2, 4, 4).To(root).RequireGrad()
	var y *amp.Tensor
	part := func(captured bool, fn func(s *amp.Scope)) func() { // which has run once
		if !captured {
			fn(root)
			return func() { fn(root) }
		}
		g := root.Capture(fn)
		root.OnClose(g.Close)
		return g.Replay
	}
	first := part(forward, func(s *amp.Scope) { y = f(s, w) })
	first()
	second := part(backward, func(s *amp.Scope) {
		w.ZeroGrad()
		amp.Sum(s, amp.Mul(s, y, y)).Backward(amp.RetainGraph())
	})
	for k := range steps {
		if k > 0 {
			first()
		}
		second()
		out = slices.Concat(out, y.Float64s(), w.Grad().Float64s())
	}
	return append(out, amp.Rand(root, amp.Float32, 0, 1).Item())
}

// TestBackwardNeedsTheForwardsStream: where the numbers of a step were drawn goes with its graph, and a captured backward of it is refused then.
func TestBackwardNeedsTheForwardsStream(t *testing.T) {
	root := amp.NewScope(amp.On(gpu(t)), amp.Seed(1))
	defer root.Close()
	w := amp.Ones(root, amp.Float32, 8).RequireGrad()
	var y *amp.Tensor
	forward := root.Capture(func(s *amp.Scope) { y = s.Keep(amp.Dropout(s, w, 0.5)) })
	forward.Replay()
	backward := root.Capture(func(s *amp.Scope) {
		w.ZeroGrad()
		amp.Sum(s, y).Backward(amp.RetainGraph())
	})
	defer backward.Close()
	backward.Replay()
	if !slices.Equal(w.Grad().Float64s(), y.Float64s()) {
		t.Errorf("gradient %v of %v", w.Grad().Float64s(), y.Float64s())
	}
	if err := forward.Close(); err != nil {
		t.Fatal(err)
	}
	if err := amp.Maybe(backward.Replay); !errors.Is(err, amp.ErrCapture) {
		t.Error(err)
	}
	if err := amp.Maybe(func() { amp.Sum(root, y).Backward() }); !errors.Is(err, amp.ErrClosed) {
		t.Error(err)
	}
}
