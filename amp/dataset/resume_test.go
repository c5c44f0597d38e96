package dataset_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/optim"
)

// A run trains a linear classifier on noisy squares with augmentation.
type run struct {
	root   *amp.Scope
	w, b   *amp.Tensor
	opt    optim.Optimizer
	loader *dataset.Loader
}

func newRun(prefetch int) *run {
	root := amp.NewScope(amp.Seed(3))
	r := &run{root: root, w: amp.Randn(root, amp.Float32, 0, 0.1, 2, 64).RequireGrad(), b: amp.Full(root, amp.Float32, 0, 2).RequireGrad()}
	r.opt = optim.NewSGD([]*amp.Tensor{r.w, r.b}, optim.LR(0.1))
	r.loader = dataset.NewLoader(squares(23), 4, dataset.Shuffle(11), dataset.Prefetch(prefetch), dataset.RandomCrop(2), dataset.RandomHorizontalFlip(0.5), dataset.Cutout(3))
	return r
}

// train runs until the loader has begun the given epoch and given that many samples of it.
func (r *run) train(epoch, position int) {
	for {
		for s, b := range r.loader.Epoch(r.root) {
			half := s.Autocast(amp.BFloat16)
			loss := amp.CrossEntropy(half, amp.Linear(half, amp.Reshape(half, b.X, b.Len(), 64), r.w, r.b), b.Y)
			r.opt.ZeroGrad()
			loss.Backward()
			r.opt.Step()
			if st := r.loader.State(); st.Epoch == epoch && st.Position == position {
				return
			}
		}
	}
}

// TestTrainingResumesBitExactly stops a run in the middle of an epoch, goes on in another one from what a checkpoint keeps, and
// compares the weights with those of a run that was never stopped.
func TestTrainingResumesBitExactly(t *testing.T) {
	whole := newRun(2)
	defer whole.root.Close()
	whole.train(3, 8)

	first := newRun(1)
	defer first.root.Close()
	first.train(1, 12)
	w, b := amp.Values[float32](first.w), amp.Values[float32](first.b)
	checkpoint, err := json.Marshal(first.loader.State())
	if err != nil {
		t.Fatal(err)
	}

	second := newRun(0)
	defer second.root.Close()
	amp.SetValues(second.w, w)
	amp.SetValues(second.b, b)
	var st dataset.State
	if err := json.Unmarshal(checkpoint, &st); err != nil {
		t.Fatal(err)
	}
	if err := second.loader.Load(st); err != nil {
		t.Fatal(err)
	}
	second.train(3, 8)
	if !slices.Equal(amp.Values[float32](second.w), amp.Values[float32](whole.w)) || !slices.Equal(amp.Values[float32](second.b), amp.Values[float32](whole.b)) {
		t.Error("the resumed run ends with other weights")
	}
	if slices.Equal(w, amp.Values[float32](whole.w)) {
		t.Error("the weights did not move after the checkpoint")
	}
}
