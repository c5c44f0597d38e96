//go:build long

package glyphs_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/dataset/glyphs"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestGlyphsCanBeLearned trains a small convolutional network under float16 autocast: the set must be one that a network learns,
// and no trivial one.
func TestGlyphsCanBeLearned(t *testing.T) {
	set := glyphs.New(7000, 1)
	train, test := set.Slice(0, 6000), set.Slice(6000, 7000)
	mean, std := train.Stats()
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	weight := func(fan float64, shape ...int) *amp.Tensor {
		return amp.Rand(root, amp.Float32, -1/fan, 1/fan, shape...).RequireGrad()
	}
	params := []*amp.Tensor{
		weight(3, 24, 3, 3, 3), weight(8, 48, 24, 3, 3), weight(12, 64, 48, 3, 3), weight(24, 10, 64*4*4),
		amp.Full(root, amp.Float32, 0, 10).RequireGrad(),
	}
	forward := func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
		for _, w := range params[:3] {
			x = amp.MaxPool2d(s, amp.ReLU(s, amp.Conv2d(s, x, w, nil, amp.Padding(1))), 2)
		}
		return amp.Linear(s, amp.Reshape(s, x, x.Dim(0), -1), params[3], params[4])
	}
	opt, scaler := optim.NewAdam(params, optim.LR(2e-3)), amp.NewGradScaler()
	batches := dataset.NewLoader(train, 64, dataset.Shuffle(1), dataset.DropLast(), dataset.Prefetch(2), dataset.RandomCrop(2), dataset.Normalize(mean, std))
	var right int
	for epoch := range 6 {
		for s, b := range batches.Epoch(root) {
			half := s.Autocast(amp.Float16)
			loss := amp.CrossEntropy(half, forward(half, b.X), b.Y)
			opt.ZeroGrad()
			scaler.Scale(s, loss).Backward()
			scaler.Step(opt)
			scaler.Update()
		}
		right = 0
		for s, b := range dataset.NewLoader(test, 100, dataset.Normalize(mean, std)).Batches(root.NoGrad()) {
			guess := amp.Values[int64](amp.ArgMax(s, forward(s, b.X), 1))
			for i, y := range amp.Values[int64](b.Y) {
				if guess[i] == y {
					right++
				}
			}
		}
		t.Logf("epoch %d: %d of %d right", epoch, right, test.Len())
		if epoch == 0 && right > 600 {
			t.Errorf("%d of %d right after one epoch: the set is too easy to tell methods apart", right, test.Len())
		}
	}
	if right < 850 {
		t.Errorf("%d of %d right after six epochs", right, test.Len())
	}
}
