package nn

import "github.com/halftone-ml/halftone/amp"

// MSELoss returns the mean squared difference of prediction and target, recorded under "loss".
func MSELoss(s *amp.Scope, prediction, target *amp.Tensor, reduction ...amp.Reduction) *amp.Tensor {
	return amp.MSELoss(s.In("loss"), prediction, target, reduction...)
}

// CrossEntropyLoss returns the cross entropy of logits [n classes] and int64 classes [n], recorded under "loss".
func CrossEntropyLoss(s *amp.Scope, logits, target *amp.Tensor, reduction ...amp.Reduction) *amp.Tensor {
	return amp.CrossEntropy(s.In("loss"), logits, target, reduction...)
}
