package amp

import (
	"maps"
	"strconv"
)

// options reads a loss's options; weight is the input that weights it, if there is one.
func (a torchArgs) options(weight ...*Tensor) []LossOption {
	out := []LossOption{a.reduction()}
	if a.string("reduction") == "batchmean" {
		out = []LossOption{ReduceBatchMean}
	}
	if len(weight) > 0 && weight[0] != nil {
		out = append(out, LossWeight(weight[0]))
	}
	if len(weight) > 1 {
		out = append(out, PosWeight(weight[1]))
	}
	for name, o := range map[string]func() LossOption{
		"label_smoothing": func() LossOption { return LabelSmoothing(a.float("label_smoothing")) },
		"log_target":      LogTarget,
		"full":            FullLikelihood,
		"swap":            SwapNegatives,
	} {
		if v := a[name]; v != nil && v != false && v != 0.0 {
			out = append(out, o())
		}
	}
	if a.has("log_input") && !a.bool("log_input") {
		out = append(out, RateInput(a.float("eps")))
	}
	return out
}

// torchOptions calls a loss whose third input, where there is one, weights it, and whose fourth weights the positive.
func torchOptions(f func(s *Scope, x, t *Tensor, o ...LossOption) *Tensor) torchCall {
	return torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return f(s, x[0], x[1], a.options(x[2:]...)...) })
}

// as gives the ±1 or 0 and 1 of a target in the dtype of x.
func as(s *Scope, x, t *Tensor) *Tensor { return To(s, t, x.dt) }

// order is a norm's order, which the vectors spell in words where JSON has none.
func (a torchArgs) order() float64 {
	if v, ok := a["p"].(string); ok {
		p, err := strconv.ParseFloat(v, 64)
		if err != nil {
			panic(err)
		}
		return p
	}
	return a.or("p", 2)
}

func torchDistance(f func(s *Scope, a, b *Tensor, p float64) *Tensor) torchCall {
	return torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return f(s, x[0], x[1], a.float("p")) })
}

func init() {
	maps.Copy(torchCalls, map[string]torchCall{
		"nll_loss": torchOptions(NLLLoss), "cross_entropy": torchOptions(CrossEntropy), "binary_cross_entropy_with_logits": torchOptions(BCEWithLogits),
		"kl_div": torchOptions(KLDiv), "poisson_nll_loss": torchOptions(PoissonNLLLoss), "multilabel_margin_loss": torchOptions(MultilabelMarginLoss),
		"gaussian_nll_loss": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return GaussianNLLLoss(s, x[0], x[1], x[2], a.float("eps"), a.options()...)
		}),
		"ctc_loss": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			o := append(a.options(), CTCBlank(a.int("blank")))
			if a.bool("zero_infinity") {
				o = append(o, ZeroInfinity())
			}
			return CTCLoss(s, x[0], x[1], x[2], x[3], o...)
		}),
		"soft_margin_loss": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return SoftMarginLoss(s, x[0], as(s, x[0], x[1]), a.reduction())
		}),
		"hinge_embedding_loss": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return HingeEmbeddingLoss(s, x[0], as(s, x[0], x[1]), a.float("margin"), a.reduction())
		}),
		"margin_ranking_loss": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return MarginRankingLoss(s, x[0], x[1], as(s, x[0], x[2]), a.float("margin"), a.reduction())
		}),
		"cosine_embedding_loss": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return CosineEmbeddingLoss(s, x[0], x[1], as(s, x[0], x[2]), a.float("margin"), a.reduction())
		}),
		"triplet_margin_loss": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return TripletMarginLoss(s, x[0], x[1], x[2], a.float("margin"), 2, 1e-6, a.options()...)
		}),
		"multi_margin_loss": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return MultiMarginLoss(s, x[0], x[1], a.int("p"), a.float("margin"), a.reduction())
		}),
		"multilabel_soft_margin_loss": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return MultilabelSoftMarginLoss(s, x[0], as(s, x[0], x[1]), a.reduction())
		}),
		"cosine_similarity": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return CosineSimilarity(s, x[0], x[1], a.int("dim"), a.float("eps"))
		}),
		"pairwise_distance": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return PairwiseDistance(s, x[0], x[1], a.float("p"), a.float("eps"), false)
		}),
		"cdist": torchDistance(Cdist), "dist": torchDistance(Dist),
		"pdist": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Pdist(s, x[0], a.float("p")) }),
		"normalize": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Normalize(s, x[0], a.or("p", 2), a.int("dim"), 1e-12)
		}),
		"norm":    torchReduction(Norm),
		"maximum": torchBinary(Maximum), "minimum": torchBinary(Minimum),
		"lerp": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			if a.has("weight") {
				return LerpScalar(s, x[0], x[1], a.float("weight"))
			}
			return Lerp(s, x[0], x[1], x[2])
		}),
	})
	plain := torchCalls["norm"]
	torchCalls["norm"] = func(s *Scope, a torchArgs, x []*Tensor) []*Tensor {
		if a.has("p") {
			return []*Tensor{NormP(s, x[0], a.order(), a.ints("dim")...)}
		}
		return plain(s, a, x)
	}
}
