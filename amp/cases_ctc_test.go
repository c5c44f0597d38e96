package amp

// ctcLists are targets in one dimension: two equal labels, none, one.
func ctcLists() (targets, inputs, sizes *Tensor) {
	return fixed([]int64{1, 1, 2}), fixed([]int64{4, 3, 2}), fixed([]int64{2, 0, 1})
}

// ctcLengths is what the rows take for ctcLists.
func ctcLengths() *Tensor { return fixed([]int64{4, 3, 2, 2, 0, 1}, 2, 3) }

// ctcLogp gives log-probabilities [4 3 3] that every dtype holds.
func ctcLogp(dt DType) *Tensor {
	v := make([]float64, 36)
	for i := range v {
		v[i] = -0.25 * float64(1+i*7%9)
	}
	return fixedAs(dt, v, []int{4, 3, 3})
}

// normal makes log-probabilities of x in its own dtype, under autocast too: the gradient of ctc_loss is that for such.
func normal(s *Scope, x *Tensor) *Tensor {
	return LogSoftmax(s.Autocast(NoDType, Enabled(false)), x, -1)
}

func init() {
	list := func(s *Scope, x []*Tensor, o ...LossOption) *Tensor {
		targets, inputs, sizes := ctcLists()
		return CTCLoss(s, normal(s, x[0]), targets, inputs, sizes, o...)
	}
	rows := func(s *Scope, x []*Tensor, o ...LossOption) *Tensor {
		targets, inputs, sizes := fixed([]int64{0, 1, 0, 1, 9, 9}, 2, 3), fixed([]int64{5, 3}), fixed([]int64{3, 1})
		return CTCLoss(s, normal(s, x[0]), targets, inputs, sizes, append(o, CTCBlank(2))...)
	}
	back := func(s *Scope, x []*Tensor) *Tensor {
		targets, _, _ := ctcLists()
		logp, lengths := ctcLogp(x[0].dt), ctcLengths()
		return s.apply(opCTCLossBackward, Attrs{Reduce: ReduceNone}, x[0], logp, targets, lengths, s.apply(opCTCAlpha, Attrs{}, logp, targets, lengths))
	}
	curvature := func(s *Scope, x []*Tensor) *Tensor {
		targets, _, _ := ctcLists()
		logp, lengths := ctcLogp(x[0].dt), ctcLengths()
		return s.apply(opCTCLossCurvature, Attrs{Reduce: ReduceNone}, x[0], x[1], logp, targets, lengths, s.apply(opCTCAlpha, Attrs{}, logp, targets, lengths))
	}
	given := func(s *Scope, x []*Tensor, o Reduction) *Tensor {
		targets, _, _ := ctcLists()
		logp, lengths := normal(s, x[0]), ctcLengths()
		return s.apply(opCTCNLL, Attrs{Reduce: o}, logp, targets, lengths, s.apply(opCTCAlpha, Attrs{}, logp, targets, lengths))
	}
	addCases(map[string][]opCase{
		"ctc_loss": append(append(optionCases([]input{in(-2, 2, 4, 3, 3)}, false, list, nil), optionCases([]input{in(-2, 2, 5, 2, 3)}, false, rows, nil)...),
			opCase{name: "infinite", inputs: []input{in(-2, 2, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
				items, sizes := fixed([]int64{2, 2}), fixed([]int64{2, 1})
				logp := Stack(s, 1, normal(s, x[0]), normal(s, x[0]))
				return CTCLoss(s, logp, fixed([]int64{1, 1, 2}), items, sizes, ZeroInfinity())
			}},
			opCase{name: "one", inputs: []input{in(-2, 2, 4, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
				size := fixture(func() *Tensor { return Scalar[int64](2) })
				steps := fixture(func() *Tensor { return Scalar[int64](3) })
				return CTCLoss(s, normal(s, x[0]), fixed([]int64{2, 1}), steps, size, ReduceNone)
			}}),
		"ctc_nll": {{inputs: []input{in(-2, 2, 4, 3, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return given(s, x, ReduceNone) }},
			{name: "mean", inputs: []input{in(-2, 2, 4, 3, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return given(s, x, ReduceMean) }}},
		"ctc_loss_backward":  {{flat: true, inputs: []input{in(-2, 2, 3)}, call: back}},
		"ctc_loss_curvature": {{inputs: []input{in(-2, 2, 4, 3, 3), in(-2, 2, 3)}, call: curvature}},
	})
	answerCases["ctc_alpha"] = []answerCase{
		{[][]int{{4, 3, 3}}, 0, func(s *Scope, in []*Tensor) *Tensor {
			targets, _, _ := ctcLists()
			return s.apply(opCTCAlpha, Attrs{}, in[0], targets, ctcLengths())
		}},
		{[][]int{{7, 2, 5}}, 0, func(s *Scope, in []*Tensor) *Tensor {
			return s.apply(opCTCAlpha, Attrs{Ignore: 4}, in[0], fixed([]int64{0, 1, 1, 2, 9, 9}, 2, 3), fixed([]int64{7, 4, 3, 1}, 2, 2))
		}},
	}
}
