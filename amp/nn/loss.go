package nn

import "github.com/halftone-ml/halftone/amp"

// MSELoss returns the mean squared difference of prediction and target, recorded under "loss".
func MSELoss(s *amp.Scope, prediction, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.MSELoss(s.In("loss"), prediction, target, opts...)
}

// CrossEntropyLoss returns the cross entropy of logits [n classes] and int64 classes [n], recorded under "loss".
func CrossEntropyLoss(s *amp.Scope, logits, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.CrossEntropy(s.In("loss"), logits, target, opts...)
}

// L1Loss returns the mean absolute difference of prediction and target, recorded under "loss".
func L1Loss(s *amp.Scope, prediction, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.L1Loss(s.In("loss"), prediction, target, opts...)
}

// SmoothL1Loss returns a loss quadratic within 1 of the target and linear beyond, recorded under "loss".
func SmoothL1Loss(s *amp.Scope, prediction, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.SmoothL1Loss(s.In("loss"), prediction, target, 1, opts...)
}

// HuberLoss returns Huber's loss with delta 1, recorded under "loss".
func HuberLoss(s *amp.Scope, prediction, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.HuberLoss(s.In("loss"), prediction, target, 1, opts...)
}

// BCEWithLogitsLoss returns the binary cross entropy of logits and targets in [0,1], recorded under "loss".
func BCEWithLogitsLoss(s *amp.Scope, logits, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.BCEWithLogits(s.In("loss"), logits, target, opts...)
}

// NLLLoss returns the mean of minus the log-probabilities of the classes, recorded under "loss".
func NLLLoss(s *amp.Scope, logp, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.NLLLoss(s.In("loss"), logp, target, opts...)
}

// BCELoss returns the binary cross entropy of probabilities, recorded under "loss". Under autocast it panics with amp.ErrBanned: use
// BCEWithLogitsLoss.
func BCELoss(s *amp.Scope, x, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.BCE(s.In("loss"), x, target, opts...)
}

// KLDivLoss returns the mean of target·(log target - x), recorded under "loss"; amp.ReduceBatchMean makes it the divergence.
func KLDivLoss(s *amp.Scope, x, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.KLDiv(s.In("loss"), x, target, opts...)
}

// PoissonNLLLoss returns the mean of e^x - target·x for logarithms x of rates, recorded under "loss".
func PoissonNLLLoss(s *amp.Scope, x, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.PoissonNLLLoss(s.In("loss"), x, target, opts...)
}

// GaussianNLLLoss returns amp.GaussianNLLLoss with an eps of 1e-6, recorded under "loss".
func GaussianNLLLoss(s *amp.Scope, x, target, variance *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.GaussianNLLLoss(s.In("loss"), x, target, variance, 1e-6, opts...)
}

// SoftMarginLoss returns the mean of log(1 + e^(-target·x)), recorded under "loss".
func SoftMarginLoss(s *amp.Scope, x, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.SoftMarginLoss(s.In("loss"), x, target, opts...)
}

// HingeEmbeddingLoss returns amp.HingeEmbeddingLoss with a margin of 1, recorded under "loss".
func HingeEmbeddingLoss(s *amp.Scope, x, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.HingeEmbeddingLoss(s.In("loss"), x, target, 1, opts...)
}

// MarginRankingLoss returns amp.MarginRankingLoss with a margin of 0, recorded under "loss".
func MarginRankingLoss(s *amp.Scope, a, b, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.MarginRankingLoss(s.In("loss"), a, b, target, 0, opts...)
}

// CosineEmbeddingLoss returns amp.CosineEmbeddingLoss with a margin of 0, recorded under "loss".
func CosineEmbeddingLoss(s *amp.Scope, a, b, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.CosineEmbeddingLoss(s.In("loss"), a, b, target, 0, opts...)
}

// TripletMarginLoss returns amp.TripletMarginLoss with a margin of 1, 2-norms and an eps of 1e-6, recorded under "loss".
func TripletMarginLoss(s *amp.Scope, anchor, positive, negative *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.TripletMarginLoss(s.In("loss"), anchor, positive, negative, 1, 2, 1e-6, opts...)
}

// CTCLoss returns amp.CTCLoss of log-probabilities [steps n classes], recorded under "loss".
func CTCLoss(s *amp.Scope, logp, targets, inputLengths, targetLengths *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.CTCLoss(s.In("loss"), logp, targets, inputLengths, targetLengths, opts...)
}

// MultiMarginLoss returns amp.MultiMarginLoss with p and margin 1, recorded under "loss".
func MultiMarginLoss(s *amp.Scope, x, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.MultiMarginLoss(s.In("loss"), x, target, 1, 1, opts...)
}

// MultilabelMarginLoss returns amp.MultilabelMarginLoss, recorded under "loss".
func MultilabelMarginLoss(s *amp.Scope, x, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.MultilabelMarginLoss(s.In("loss"), x, target, opts...)
}

// MultilabelSoftMarginLoss returns amp.MultilabelSoftMarginLoss, recorded under "loss".
func MultilabelSoftMarginLoss(s *amp.Scope, x, target *amp.Tensor, opts ...amp.LossOption) *amp.Tensor {
	return amp.MultilabelSoftMarginLoss(s.In("loss"), x, target, opts...)
}
