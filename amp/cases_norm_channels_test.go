package amp

// batchNormCase normalizes by the statistics of the batch.
func batchNormCase(name string, inputs ...input) opCase {
	return opCase{name: name, terms: 40, inputs: inputs, call: func(s *Scope, in []*Tensor) *Tensor {
		in = append(in[:len(in):len(in)], nil, nil)
		return BatchNorm(s, in[0], in[1], in[2], BatchNormState{Eps: 1e-2})
	}}
}

func init() {
	running := func(dt DType) BatchNormState {
		if dt != Float64 {
			dt = Float32
		}
		return BatchNormState{RunningMean: fixedAs(dt, []float64{0.5, -0.25}, []int{2}), RunningVar: fixedAs(dt, []float64{2, 0.5}, []int{2}), Eps: 1e-2, Momentum: 0.1}
	}
	// gradients calls the two rows of the gradient.
	gradients := func(s *Scope, mode string, dy, x, weight, stats *Tensor) *Tensor {
		at := Attrs{Scalar: 1e-2, Mode: mode}
		dy, x = Contiguous(s, dy), Contiguous(s, x)
		if stats == nil {
			stats = s.apply(opBatchStats, Attrs{}, x)
		}
		return s.apply(opBatchNormBackward, at, dy, x, weight, stats, s.batchSums(at, dy, x, stats))
	}
	addCases(map[string][]opCase{
		"batch_norm": {
			batchNormCase("affine", in(-2, 2, 2, 2, 3), in(0.5, 1.5, 2), in(-1, 1, 2)),
			batchNormCase("bare", in(-2, 2, 2, 2, 2, 2)),
			batchNormCase("flat", in(-2, 2, 4, 2), in(0.5, 1.5, 2)),
			{name: "eval", terms: 40, inputs: []input{in(-2, 2, 2, 2, 3), in(0.5, 1.5, 2), in(-1, 1, 2)}, call: func(s *Scope, in []*Tensor) *Tensor {
				return BatchNorm(s.Eval(), in[0], in[1], in[2], running(in[0].dt))
			}},
		},
		"batch_norm_backward": {
			{name: "batch", terms: 40, inputs: []input{in(-1, 1, 2, 2, 3), in(-2, 2, 2, 2, 3), in(0.5, 1.5, 2)}, call: func(s *Scope, in []*Tensor) *Tensor {
				return gradients(s, "", in[0], in[1], in[2], nil)
			}},
			{name: "running", terms: 40, inputs: []input{in(-1, 1, 2, 2, 2), in(0.5, 1.5, 2)}, call: func(s *Scope, in []*Tensor) *Tensor {
				st := running(in[0].dt)
				x := FromFloat64s(in[0].dt, []float64{1, -2, 0.5, 0.25, -1, 3, 2, -0.5}, 2, 2, 2)
				return gradients(s, modeRunning, in[0], x, in[1], Stack(s, 0, st.RunningMean, st.RunningVar))
			}},
		},
		"batch_norm_sums": {{terms: 40, inputs: []input{in(-1, 1, 2, 2, 3), in(-2, 2, 2, 2, 3)}, call: func(s *Scope, in []*Tensor) *Tensor {
			x := Contiguous(s, in[1])
			return s.apply(opBatchSums, Attrs{Scalar: 1e-2}, Contiguous(s, in[0]), s.apply(opBatchStats, Attrs{}, x), x)
		}}},
		"group_norm": {
			{name: "affine", terms: 40, inputs: []input{in(-2, 2, 2, 4, 3), in(0.5, 1.5, 4), in(-1, 1, 4)}, call: func(s *Scope, in []*Tensor) *Tensor { return GroupNorm(s, in[0], 2, in[1], in[2], 1e-2) }},
			{name: "bare", terms: 40, inputs: []input{in(-2, 2, 2, 3, 2, 2)}, call: func(s *Scope, in []*Tensor) *Tensor { return GroupNorm(s, in[0], 3, nil, nil, 1e-2) }},
		},
		"instance_norm": {
			{name: "affine", terms: 40, inputs: []input{in(-2, 2, 2, 2, 3), in(0.5, 1.5, 2), in(-1, 1, 2)}, call: func(s *Scope, in []*Tensor) *Tensor { return InstanceNorm(s, in[0], in[1], in[2], 1e-2) }},
			{name: "bare", terms: 40, inputs: []input{in(-2, 2, 2, 2, 2, 2)}, call: func(s *Scope, in []*Tensor) *Tensor { return InstanceNorm(s, in[0], nil, nil, 1e-2) }},
		},
	})
}
