package nn

import (
	"iter"
	"sync"

	"github.com/halftone-ml/halftone/amp"
)

// estimate is the scope's value, while UpdateBN runs, that has a batch norm begin its statistics anew, once, and average over all batches.
type estimate struct{ begun sync.Map } // running means of layers that did

type estimateKey struct{}

// UpdateBN sets the running statistics of a model's batch norms to the means over batches, for weights that were not trained
// themselves, such as an AveragedModel's. The model runs in training, without a graph, as s says otherwise. Statistics of batch norms
// that no batch reaches stay as they are. It panics with amp.ErrArgument for a nil model or nil batches. (PyTorch:
// torch.optim.swa_utils.update_bn.)
func UpdateBN(s *amp.Scope, m Module, batches iter.Seq[*amp.Tensor]) {
	need("UpdateBN", m)
	if batches == nil {
		misused("UpdateBN", "pass the batches, such as slices.Values(list)", "the batches are nil")
	}
	s = s.WithValue(estimateKey{}, new(estimate))
	one := func(x *amp.Tensor) {
		step := s.Child()
		defer step.Close() // after a panic, too
		m.Forward(step.NoGrad().Train(), x)
	}
	for x := range batches {
		one(x)
	}
}

// estimating says whether UpdateBN runs the layer. The first time its statistics begin anew.
func (b *BatchNorm) estimating(s *amp.Scope) bool {
	e, ok := s.Value(estimateKey{}).(*estimate)
	if !ok {
		return false
	}
	if _, begun := e.begun.LoadOrStore(b.RunningMean, true); !begun {
		Constant(s, b.RunningMean, 0)
		Constant(s, b.RunningVar, 1)
		Constant(s, b.NumBatches, 0)
	}
	return true
}
