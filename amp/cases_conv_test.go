package amp

// convFunc is the form of the six public convolutions.
type convFunc func(s *Scope, x, weight, bias *Tensor, opts ...WindowOption) *Tensor

// convCase calls f with x, weight and, if there is a third input, bias.
func convCase(name string, f convFunc, opts []WindowOption, inputs ...input) opCase {
	return opCase{name: name, inputs: inputs, terms: 40, call: func(s *Scope, in []*Tensor) *Tensor {
		var bias *Tensor
		if len(in) > 2 {
			bias = in[2]
		}
		return f(s, in[0], in[1], bias, opts...)
	}}
}

func options(opts ...WindowOption) []WindowOption { return opts }

func init() {
	addCases(map[string][]opCase{
		"conv1d": {
			convCase("bias", Conv1d, nil, in(-1, 1, 2, 2, 5), in(-1, 1, 3, 2, 2), in(-1, 1, 3)),
			convCase("strided", Conv1d, options(Stride(2), Padding(2), Dilation(2)), in(-1, 1, 1, 2, 6), in(-1, 1, 2, 2, 3)),
		},
		"conv2d": {
			convCase("bias", Conv2d, options(Padding(1)), in(-1, 1, 2, 2, 3, 4), in(-1, 1, 2, 2, 3, 3), in(-1, 1, 2)),
			convCase("strided", Conv2d, options(Stride(2, 3), Padding(1, 2), Dilation(2, 1)), in(-1, 1, 1, 1, 5, 4), in(-1, 1, 2, 1, 2, 3)),
			convCase("groups", Conv2d, options(Groups(2), Stride(2)), in(-1, 1, 2, 4, 3, 3), in(-1, 1, 4, 2, 1, 2), in(-1, 1, 4)),
			convCase("depthwise", Conv2d, options(Groups(3), Padding(1)), in(-1, 1, 1, 3, 3, 3), in(-1, 1, 3, 1, 3, 3)),
			convCase("1x1", Conv2d, nil, in(-1, 1, 2, 3, 2, 2), in(-1, 1, 2, 3, 1, 1)),
			convCase("same", Conv2d, options(SamePadding()), in(-1, 1, 1, 1, 3, 3), in(-1, 1, 1, 1, 2, 4)),
			convCase("unbatched", Conv2d, nil, in(-1, 1, 2, 3, 3), in(-1, 1, 1, 2, 2, 2)),
		},
		"conv3d": {convCase("", Conv3d, options(Stride(2, 1, 1), Padding(0, 1, 0)), in(-1, 1, 1, 2, 4, 2, 2), in(-1, 1, 2, 2, 2, 2, 1), in(-1, 1, 2))},
		"conv_transpose1d": {
			convCase("bias", ConvTranspose1d, options(Stride(2)), in(-1, 1, 2, 2, 3), in(-1, 1, 2, 2, 3), in(-1, 1, 2)),
			convCase("dilated", ConvTranspose1d, options(Dilation(3), OutputPadding(2), Padding(1)), in(-1, 1, 1, 2, 3), in(-1, 1, 2, 1, 2)),
		},
		"conv_transpose2d": {
			convCase("bias", ConvTranspose2d, options(Stride(2), Padding(1), OutputPadding(1)), in(-1, 1, 2, 2, 2, 3), in(-1, 1, 2, 2, 3, 3), in(-1, 1, 2)),
			convCase("groups", ConvTranspose2d, options(Groups(2), Stride(3, 1), Dilation(1, 2)), in(-1, 1, 1, 4, 2, 2), in(-1, 1, 4, 1, 2, 2), in(-1, 1, 2)),
			convCase("sparse", ConvTranspose2d, options(Stride(2)), in(-1, 1, 1, 2, 2, 2), in(-1, 1, 2, 2, 1, 1), in(-1, 1, 2)),
		},
		"conv_transpose3d": {convCase("", ConvTranspose3d, options(Stride(1, 2, 1), Padding(0, 0, 1)), in(-1, 1, 1, 2, 2, 2, 2), in(-1, 1, 2, 1, 1, 2, 3))},
		"conv_weight_grad": {{terms: 20, inputs: []input{in(-1, 1, 2, 2, 3, 3), in(-1, 1, 2, 2, 2, 2)}, call: func(s *Scope, in []*Tensor) *Tensor {
			w := newWindow("conv2d", 2, []int{2, 2}, nil, nil)
			return s.apply(opConvWeight, Attrs{Window: &w.Window, Shape: []int{2, 2, 2, 2}}, Contiguous(s, in[0]), Contiguous(s, in[1]))
		}}},
	})
}
