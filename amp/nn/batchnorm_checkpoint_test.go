package nn

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestBatchNormInCheckpoint: a checkpointed batch norm runs twice, and moves its running statistics and its count once.
func TestBatchNormInCheckpoint(t *testing.T) {
	root := amp.NewScope(amp.Seed(2))
	defer root.Close()
	x := amp.Randn(root, amp.Float32, 3, 1, 8, 2, 4).RequireGrad()
	for _, opts := range [][]NormOption{nil, {CumulativeAverage()}} {
		train := func(run func(s *amp.Scope, fn func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor, in ...*amp.Tensor) *amp.Tensor) (state [][]float64) {
			layer := NewBatchNorm1d(root, 2, opts...)
			for range 2 {
				x.ZeroGrad()
				y := run(root, func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor { return amp.Square(s, layer.Forward(s, in[0])) }, x)
				amp.Sum(root, amp.Mul(root, y, y)).Backward()
			}
			state = append(state, x.Grad().Float64s())
			for _, b := range layer.Buffers() {
				state = append(state, b.Float64s())
			}
			return state
		}
		plain := train(func(s *amp.Scope, fn func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor, in ...*amp.Tensor) *amp.Tensor {
			return fn(s, in...)
		})
		kept := train(amp.Checkpoint)
		for i := range plain {
			if !slices.Equal(plain[i], kept[i]) {
				t.Errorf("%d options: %v in a checkpoint, %v without", len(opts), kept[i], plain[i])
			}
		}
		if n := kept[3][0]; n != 2 {
			t.Errorf("%v batches counted of two", n)
		}
	}
}
