package nn_test

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestCTCLearnsStrings trains a GRU under float16 until the most likely class of each step, repetitions and blanks taken out, spells the
// strings it is given, of different lengths and with a letter twice.
func TestCTCLearnsStrings(t *testing.T) {
	const steps, n, features, classes = 14, 4, 8, 5
	words := [][]int64{{1, 2, 3, 4}, {2, 2, 1}, {4}, {3, 1, 1, 3, 2}}
	root := amp.NewScope(amp.Seed(7))
	defer root.Close()
	var letters, sizes []int64
	for _, w := range words {
		letters, sizes = append(letters, w...), append(sizes, int64(len(w)))
	}
	targets, targetLengths := amp.From(letters), amp.From(sizes)
	lengths := []int64{14, 10, 8, 13}
	x := amp.Randn(root, amp.Float32, 0, 1, steps, n, features)
	gru, head := nn.NewGRU(root, features, 32, nn.RecurrentOptions{}), nn.NewLinear(root, 32, classes)
	opt := optim.NewAdam(append(gru.Parameters(), head.Parameters()...), optim.LR(0.02))
	scaler := amp.NewGradScaler()
	forward := func(s *amp.Scope) *amp.Tensor { return head.Forward(s, gru.Forward(s, x)) }
	first, last := 0.0, 0.0
	for s := range root.Steps(120) {
		half := s.Autocast(amp.Float16)
		logits := forward(half)
		if logits.DType() != amp.Float16 {
			t.Fatalf("logits are %v", logits.DType())
		}
		loss := nn.CTCLoss(half, amp.LogSoftmax(half, logits, -1), targets, amp.From(lengths), targetLengths)
		if last = loss.Item(); first == 0 {
			first = last
		}
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		scaler.Step(opt)
		scaler.Update()
	}
	s := root.NoGrad().Autocast(amp.Float16)
	best := amp.Values[int64](amp.ArgMax(s, forward(s), -1))
	for i, w := range words {
		var got []int64
		before := int64(0)
		for step := range int(lengths[i]) {
			if c := best[step*n+i]; c != before {
				if before = c; c != 0 {
					got = append(got, c)
				}
			}
		}
		if !slices.Equal(got, w) {
			t.Errorf("string %d is read as %v, want %v; loss from %.3g to %.3g", i, got, w, first, last)
		}
	}
}
