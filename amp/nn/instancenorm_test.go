package nn_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// TestInstanceNormOfOneImage: x without a batch is one image, in training and in evaluation. The numbers are those of PyTorch 2.15's
// InstanceNorm1d(2, track_running_stats=True, momentum=0.5).
func TestInstanceNormOfOneImage(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float32{1, 2, 4, 3, 3, 9}, 2, 3)
	n := nn.NewInstanceNorm1d(s, 2, nn.TrackRunningStats(), nn.Momentum(0.5))
	training := n.Forward(s, x)
	evaluation := n.Forward(s.Eval(), x)
	for _, c := range []struct {
		what string
		got  *amp.Tensor
		want []float64
	}{
		{"training", training, []float64{-1.0690415, -0.2672603, 1.3363019, -0.7071064, -0.7071064, 1.4142127}},
		{"mean", n.RunningMean, []float64{1.1666666, 2.5}},
		{"variance", n.RunningVar, []float64{1.6666667, 6.5}},
		{"evaluation", evaluation, []float64{-0.1290990, 0.6454953, 2.1946840, 0.1961160, 0.1961160, 2.5495079}},
	} {
		if !near(c.got.Float64s(), c.want, 1e-6) {
			t.Errorf("%s: %v, torch has %v", c.what, c.got.Float64s(), c.want)
		}
	}
	if !slices.Equal(training.Shape(), x.Shape()) {
		t.Errorf("%v of %v", training.Shape(), x.Shape())
	}
	for rank, n := range []*nn.InstanceNorm{nn.NewInstanceNorm1d(s, 4), nn.NewInstanceNorm2d(s, 4), nn.NewInstanceNorm3d(s, 4)} {
		shape := append([]int{4}, slices.Repeat([]int{3}, rank+1)...)
		x := amp.Randn(s, amp.Float32, 1, 2, shape...).RequireGrad()
		one, batch := n.Forward(s, x), n.Forward(s, amp.Reshape(s, x, append([]int{1}, shape...)...))
		if !slices.Equal(one.Shape(), shape) || !slices.Equal(one.Float64s(), batch.Float64s()) {
			t.Errorf("%v: %v, want that of a batch of one", shape, one.Shape())
		}
		amp.Sum(s, amp.Mul(s, one, x)).Backward()
		for what, wrong := range map[string][]int{
			"channels":             append([]int{2, 3}, shape[1:]...),
			"one image's channels": append([]int{3}, shape[1:]...),
			"dimensions":           append([]int{2, 4, 3}, shape[1:]...),
		} {
			if err := amp.Maybe(func() { n.Forward(s, amp.Ones(s, amp.Float32, wrong...)) }); !errors.Is(err, amp.ErrShape) {
				t.Errorf("%s %v: %v", what, wrong, err)
			}
		}
	}
}

// TestInstanceNormOfNoImage: an empty batch leaves the running statistics alone, as batch norms' does.
func TestInstanceNormOfNoImage(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	n := nn.NewInstanceNorm1d(s, 2, nn.TrackRunningStats())
	y := n.Forward(s, amp.Zeros(s, amp.Float32, 0, 2, 3))
	if !slices.Equal(y.Shape(), []int{0, 2, 3}) {
		t.Errorf("%v of an empty batch", y.Shape())
	}
	if m, v := n.RunningMean.Float64s(), n.RunningVar.Float64s(); !slices.Equal(m, []float64{0, 0}) || !slices.Equal(v, []float64{1, 1}) {
		t.Errorf("mean %v, variance %v", m, v)
	}
}
