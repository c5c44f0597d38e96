package nn

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestLosses holds each loss to amp's function with PyTorch's numbers, and looks for the region it is recorded under.
func TestLosses(t *testing.T) {
	root := amp.NewScope(amp.Record(amp.Decisions))
	defer root.Close()
	s := root.In("model")
	x, y := amp.From([]float64{0.5, -1, 2, 0.3}, 2, 2), amp.From([]float64{0.2, 0.9, 0.4, 0.7}, 2, 2)
	signs, sign := amp.From([]float64{1, -1, -1, 1}, 2, 2), amp.From([]float64{1, -1})
	class, labels := amp.From([]int64{1, 0}), amp.From([]int64{1, -1, 0, -1}, 2, 2)
	steps, one, zero := amp.Unsqueeze(root, amp.LogSoftmax(root, x, -1), 1), amp.From([]int64{2}), amp.From([]int64{0})
	for name, c := range map[string]struct{ got, want *amp.Tensor }{
		"mse":             {MSELoss(s, x, y), amp.MSELoss(root, x, y)},
		"l1":              {L1Loss(s, x, y, amp.ReduceSum), amp.L1Loss(root, x, y, amp.ReduceSum)},
		"smooth l1":       {SmoothL1Loss(s, x, y), amp.SmoothL1Loss(root, x, y, 1)},
		"huber":           {HuberLoss(s, x, y), amp.HuberLoss(root, x, y, 1)},
		"bce":             {BCELoss(s, y, y), amp.BCE(root, y, y)},
		"bce with logits": {BCEWithLogitsLoss(s, x, y, amp.PosWeight(y)), amp.BCEWithLogits(root, x, y, amp.PosWeight(y))},
		"nll":             {NLLLoss(s, x, class), amp.NLLLoss(root, x, class)},
		"cross entropy":   {CrossEntropyLoss(s, x, class, amp.LabelSmoothing(0.1)), amp.CrossEntropy(root, x, class, amp.LabelSmoothing(0.1))},
		"kl":              {KLDivLoss(s, x, y, amp.ReduceBatchMean), amp.KLDiv(root, x, y, amp.ReduceBatchMean)},
		"poisson":         {PoissonNLLLoss(s, x, y), amp.PoissonNLLLoss(root, x, y)},
		"gaussian":        {GaussianNLLLoss(s, x, x, y), amp.GaussianNLLLoss(root, x, x, y, 1e-6)},
		"soft margin":     {SoftMarginLoss(s, x, signs), amp.SoftMarginLoss(root, x, signs)},
		"hinge":           {HingeEmbeddingLoss(s, x, signs), amp.HingeEmbeddingLoss(root, x, signs, 1)},
		"ranking":         {MarginRankingLoss(s, x, y, signs), amp.MarginRankingLoss(root, x, y, signs, 0)},
		"cosine":          {CosineEmbeddingLoss(s, x, y, sign), amp.CosineEmbeddingLoss(root, x, y, sign, 0)},
		"triplet":         {TripletMarginLoss(s, x, y, signs), amp.TripletMarginLoss(root, x, y, signs, 1, 2, 1e-6)},
		"ctc":             {CTCLoss(s, steps, zero, one, amp.From([]int64{1}), amp.CTCBlank(1)), amp.CTCLoss(root, steps, zero, one, amp.From([]int64{1}), amp.CTCBlank(1))},
		"multi margin":    {MultiMarginLoss(s, x, class), amp.MultiMarginLoss(root, x, class, 1, 1)},
		"multilabel":      {MultilabelMarginLoss(s, x, labels), amp.MultilabelMarginLoss(root, x, labels)},
		"multilabel soft": {MultilabelSoftMarginLoss(s, x, y), amp.MultilabelSoftMarginLoss(root, x, y)},
	} {
		if c.got.Item() != c.want.Item() || c.got.Item() == 0 {
			t.Errorf("%s: %v, want %v", name, c.got.Item(), c.want.Item())
		}
	}
	modules := map[string]bool{}
	for _, e := range root.Trace().Events {
		modules[e.Module] = true
	}
	if !modules["model/loss"] {
		t.Errorf("recorded under %v", modules)
	}
}
