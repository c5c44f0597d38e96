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

// L1Loss returns the mean absolute difference of prediction and target, recorded under "loss".
func L1Loss(s *amp.Scope, prediction, target *amp.Tensor, reduction ...amp.Reduction) *amp.Tensor {
	return amp.L1Loss(s.In("loss"), prediction, target, reduction...)
}

// SmoothL1Loss returns a loss quadratic within 1 of the target and linear beyond, recorded under "loss".
func SmoothL1Loss(s *amp.Scope, prediction, target *amp.Tensor, reduction ...amp.Reduction) *amp.Tensor {
	return amp.SmoothL1Loss(s.In("loss"), prediction, target, 1, reduction...)
}

// HuberLoss returns Huber's loss with delta 1, recorded under "loss".
func HuberLoss(s *amp.Scope, prediction, target *amp.Tensor, reduction ...amp.Reduction) *amp.Tensor {
	return amp.HuberLoss(s.In("loss"), prediction, target, 1, reduction...)
}

// BCEWithLogitsLoss returns the binary cross entropy of logits and targets in [0,1], recorded under "loss".
func BCEWithLogitsLoss(s *amp.Scope, logits, target *amp.Tensor, reduction ...amp.Reduction) *amp.Tensor {
	return amp.BCEWithLogits(s.In("loss"), logits, target, reduction...)
}
