package nn

import (
	"iter"
	"sync"

	"github.com/halftone-ml/halftone/amp"
)

// estimated has, while UpdateBN runs, the buffers of its module: a batch norm that finds its running mean there begins its statistics
// anew, once, and averages over all batches.
var estimated sync.Map // of *amp.Tensor to *sync.Once

// UpdateBN sets the running statistics of a model's batch norms to the means over batches, for weights that were not trained
// themselves, such as an AveragedModel's. The model runs in training, without a graph, as s says otherwise. Statistics of batch norms
// that no batch reaches stay as they are. (PyTorch: torch.optim.swa_utils.update_bn.)
func UpdateBN(s *amp.Scope, m Module, batches iter.Seq[*amp.Tensor]) {
	for _, t := range Buffers(m) {
		estimated.Store(t, new(sync.Once))
		defer estimated.Delete(t)
	}
	for x := range batches {
		step := s.Child()
		m.Forward(step.NoGrad().Train(), x)
		step.Close()
	}
}

// estimating says whether UpdateBN runs the layer. The first time its statistics begin anew.
func (b *BatchNorm) estimating(s *amp.Scope) bool {
	once, ok := estimated.Load(b.RunningMean)
	if ok {
		once.(*sync.Once).Do(func() {
			Constant(s, b.RunningMean, 0)
			Constant(s, b.RunningVar, 1)
			Constant(s, b.NumBatches, 0)
		})
	}
	return ok
}
