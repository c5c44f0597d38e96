package amp

import (
	"maps"
	"slices"
)

// signs gives ±1 in turns, in the dtype of x.
func signs(x *Tensor, shape ...int) *Tensor {
	v := make([]float64, length(shape))
	for i := range v {
		v[i] = float64(1 - 2*(i%2))
	}
	return fixedAs(x.dt, v, shape)
}

// optionCases are the calls of a loss with each of some options.
func optionCases(inputs []input, flat bool, call func(s *Scope, x []*Tensor, o ...LossOption) *Tensor, options map[string]func(x *Tensor) []LossOption) []opCase {
	var out []opCase
	for i, name := range []string{"mean", "sum", "none"} {
		out = append(out, opCase{name: name, inputs: inputs, flat: flat, call: func(s *Scope, x []*Tensor) *Tensor { return call(s, x, Reduction(i)) }})
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		o := options[name]
		out = append(out, opCase{name: name, inputs: inputs, flat: flat, call: func(s *Scope, x []*Tensor) *Tensor { return call(s, x, o(x[0])...) }})
	}
	return out
}

func only(o ...LossOption) func(*Tensor) []LossOption {
	return func(*Tensor) []LossOption { return o }
}

func init() {
	pair := []input{in(-2, 2, 2, 3), in(0.1, 2, 2, 3)}
	logits := []input{in(-2, 2, 4, 3)}
	grid := []input{in(-2, 2, 2, 3, 2, 2)}
	gridClasses := func() *Tensor { return fixed([]int64{0, 2, 1, IgnoreIndex, 1, 1, 0, 2}, 2, 2, 2) }
	weight := func(x *Tensor) LossOption { return LossWeight(fixedAs(x.dt, []float64{0.5, 1.25, 2}, []int{3})) }
	nll := func(s *Scope, x []*Tensor, o ...LossOption) *Tensor { return NLLLoss(s, x[0], classes(), o...) }
	ce := func(s *Scope, x []*Tensor, o ...LossOption) *Tensor { return CrossEntropy(s, x[0], classes(), o...) }
	weighted := func(o ...LossOption) func(x *Tensor) []LossOption {
		return func(x *Tensor) []LossOption { return append([]LossOption{weight(x)}, o...) }
	}
	addCases(map[string][]opCase{
		"nll_loss": append(optionCases([]input{in(-3, 0, 4, 3)}, false, nll, map[string]func(*Tensor) []LossOption{
			"weighted mean": weighted(), "weighted none": weighted(ReduceNone), "ignoring": only(IgnoreClass(1), ReduceSum),
		})[1:2], named("vector", unaryCase(func(s *Scope, x *Tensor) *Tensor {
			return NLLLoss(s, x, fixture(func() *Tensor { return Scalar[int64](1) }))
		}, in(-3, 0, 3)))),
		"nll_loss2d": optionCases(grid, false, func(s *Scope, x []*Tensor, o ...LossOption) *Tensor { return NLLLoss(s, x[0], gridClasses(), o...) }, map[string]func(*Tensor) []LossOption{
			"weighted mean": weighted(), "weighted none": weighted(ReduceNone)}),
		"nll_loss2d_backward": {{inputs: []input{in(-2, 2, 2, 2, 2)}, call: func(s *Scope, x []*Tensor) *Tensor {
			return s.apply(byName["nll_loss2d_backward"], Attrs{Shape: []int{2, 3, 2, 2}, Ignore: IgnoreIndex, Reduce: ReduceNone}, x[0], gridClasses())
		}}},
		"cross_entropy": append(optionCases(logits, false, ce, map[string]func(*Tensor) []LossOption{
			"weighted": weighted(), "smoothed": only(LabelSmoothing(0.2)), "smoothed none": only(LabelSmoothing(0.2), ReduceNone), "smoothed weighted": weighted(LabelSmoothing(0.2)),
			"smoothed sum": weighted(LabelSmoothing(1), ReduceSum),
		})[1:], opCase{name: "probabilities", inputs: []input{in(-2, 2, 2, 3), in(0.1, 0.9, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
			return CrossEntropy(s, x[0], x[1], weight(x[0]), LabelSmoothing(0.1))
		}}, opCase{name: "image", inputs: grid, call: func(s *Scope, x []*Tensor) *Tensor {
			return CrossEntropy(s, x[0], gridClasses(), weight(x[0]), LabelSmoothing(0.1))
		}}, opCase{name: "vector", inputs: []input{in(-2, 2, 3), in(0.1, 0.9, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return CrossEntropy(s, x[0], x[1], ReduceNone) }}),
		"kl_div": optionCases(pair, false, func(s *Scope, x []*Tensor, o ...LossOption) *Tensor { return KLDiv(s, x[0], x[1], o...) }, map[string]func(*Tensor) []LossOption{
			"batchmean": only(ReduceBatchMean), "log": only(LogTarget()), "log none": only(LogTarget(), ReduceNone),
		}),
		"poisson_nll_loss": append(optionCases(pair, false, func(s *Scope, x []*Tensor, o ...LossOption) *Tensor { return PoissonNLLLoss(s, x[0], x[1], o...) }, map[string]func(*Tensor) []LossOption{
			"full small": only(FullLikelihood()),
		}), opCase{name: "rate full", inputs: []input{in(0.5, 2, 2, 3), in(1.1, 3, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
			return PoissonNLLLoss(s, x[0], x[1], RateInput(1e-8), FullLikelihood())
		}}),
		"gaussian_nll_loss": append(optionCases([]input{in(-2, 2, 2, 3), in(-2, 2, 2, 3), in(0.5, 2, 2, 3)}, false, func(s *Scope, x []*Tensor, o ...LossOption) *Tensor {
			return GaussianNLLLoss(s, x[0], x[1], x[2], 1e-6, o...)
		}, map[string]func(*Tensor) []LossOption{"full": only(FullLikelihood())}),
			opCase{name: "rows", inputs: []input{in(-2, 2, 2, 3), in(-2, 2, 2, 3), in(0.5, 2, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return GaussianNLLLoss(s, x[0], x[1], x[2], 1e-6) }}),
		"soft_margin_loss": lossCases(func(s *Scope, x, t *Tensor, r Reduction) *Tensor { return SoftMarginLoss(s, x, t, r) }, in(-3, 3, 2, 3), in(0.5, 1, 2, 3), false),
		"hinge_embedding_loss": append(optionCases([]input{in(-2, 0.9, 2, 3)}, true, func(s *Scope, x []*Tensor, o ...LossOption) *Tensor {
			return HingeEmbeddingLoss(s, x[0], signs(x[0], 2, 3), 1, o...)
		}, nil), opCase{name: "beyond", flat: true, inputs: []input{in(1.1, 2, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
			return HingeEmbeddingLoss(s, x[0], signs(x[0], 2, 3), 1)
		}}),
	})
	bceCases()
	marginCases()
}

func bceCases() {
	with := func(f func(s *Scope, x, t *Tensor, o ...LossOption) *Tensor, p bool, r Reduction) func(s *Scope, x []*Tensor) *Tensor {
		return func(s *Scope, x []*Tensor) *Tensor {
			o := []LossOption{r, LossWeight(x[2])}
			if p {
				o = append(o, PosWeight(x[3]))
			}
			return f(s, x[0], x[1], o...)
		}
	}
	inputs := []input{in(-3, 3, 2, 3), in(0, 1, 2, 3), in(0.5, 2, 2, 1), in(0.5, 2, 3)}
	shares := []input{in(0.2, 0.8, 2, 3), in(0, 1, 2, 3), in(0.5, 2, 3)}
	addCases(map[string][]opCase{
		"binary_cross_entropy_with_logits": {
			{name: "weighted mean", inputs: inputs, call: with(BCEWithLogits, true, ReduceMean)}, {name: "weighted none", inputs: inputs, call: with(BCEWithLogits, true, ReduceNone)},
			{name: "weight", inputs: inputs[:3], call: with(BCEWithLogits, false, ReduceSum)},
		},
		"binary_cross_entropy": {{name: "weighted", inputs: shares, call: with(BCE, false, ReduceMean)}, {name: "weighted none", inputs: shares, call: with(BCE, false, ReduceNone)}},
	})
}

func marginCases() {
	named := func() *Tensor { return fixed([]int64{1, 3, -1, 0, 0, -1, 2, 2}, 2, 4) }
	rows := []input{in(-2, 2, 4, 3), in(-2, 2, 4, 3)}
	triplet := []input{in(-2, 2, 3, 4), in(-2, 2, 3, 4), in(-2, 2, 3, 4)}
	class := func() *Tensor { return fixed([]int64{1, 0, 2, 1}) }
	weight := func(x *Tensor) []LossOption {
		return []LossOption{LossWeight(fixedAs(x.dt, []float64{0.5, 1.25, 2}, []int{3}))}
	}
	multi := func(p int, margin float64) func(s *Scope, x []*Tensor, o ...LossOption) *Tensor {
		return func(s *Scope, x []*Tensor, o ...LossOption) *Tensor {
			return MultiMarginLoss(s, x[0], class(), p, margin, o...)
		}
	}
	addCases(map[string][]opCase{
		"margin_ranking_loss": optionCases([]input{in(1, 2, 4), in(-1, 0.5, 4)}, true, func(s *Scope, x []*Tensor, o ...LossOption) *Tensor {
			return MarginRankingLoss(s, x[0], x[1], signs(x[0], 4), 0.3, o...)
		}, nil),
		"cosine_embedding_loss": optionCases(rows, false, func(s *Scope, x []*Tensor, o ...LossOption) *Tensor {
			return CosineEmbeddingLoss(s, x[0], x[1], signs(x[0], 4), -0.9, o...)
		}, nil),
		"triplet_margin_loss": optionCases(triplet, false, func(s *Scope, x []*Tensor, o ...LossOption) *Tensor {
			return TripletMarginLoss(s, x[0], x[1], x[2], 5, 2, 1e-6, o...)
		}, map[string]func(*Tensor) []LossOption{"swap": only(SwapNegatives())}),
		"multi_margin_loss": append(append(optionCases([]input{in(-2, 2, 4, 3)}, true, multi(1, 5), map[string]func(*Tensor) []LossOption{"weighted": weight}),
			optionCases([]input{in(-2, 2, 4, 3)}, false, multi(2, 5), nil)...),
			opCase{name: "vector", inputs: []input{in(-2, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
				return MultiMarginLoss(s, x[0], fixture(func() *Tensor { return Scalar[int64](2) }), 2, 5, weight(x[0])...)
			}}),
		"multilabel_margin_loss": append(optionCases([]input{in(-0.4, 0.4, 2, 4)}, true, func(s *Scope, x []*Tensor, o ...LossOption) *Tensor {
			return MultilabelMarginLoss(s, x[0], named(), o...)
		}, nil), opCase{name: "vector", flat: true, inputs: []input{in(-0.4, 0.4, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
			return MultilabelMarginLoss(s, x[0], fixed([]int64{2, -1, 5}))
		}}),
		"multilabel_margin_loss_backward": {{flat: true, inputs: []input{in(-2, 2, 2)}, call: func(s *Scope, x []*Tensor) *Tensor {
			return s.apply(opMultilabelMarginLossBackward, Attrs{Reduce: ReduceNone}, x[0], fixedAs(x[0].dt, []float64{1, 0.5, 0, 2, 3, 1, 0, 0.5}, []int{2, 4}), named())
		}}},
		"multilabel_soft_margin_loss": optionCases([]input{in(-2, 2, 2, 3), in(0, 1, 2, 3)}, false, func(s *Scope, x []*Tensor, o ...LossOption) *Tensor {
			return MultilabelSoftMarginLoss(s, x[0], x[1], o...)
		}, map[string]func(*Tensor) []LossOption{"weighted": weight}),
	})
}
