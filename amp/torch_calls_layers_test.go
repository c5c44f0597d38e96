package amp

// Convolutions, attention and recurrent cells.
func init() {
	addTorch(map[string]torchCall{
		"conv1d": torchConv(Conv1d), "conv2d": torchConv(Conv2d), "conv3d": torchConv(Conv3d),
		"conv_transpose1d": torchConv(ConvTranspose1d), "conv_transpose2d": torchConv(ConvTranspose2d), "conv_transpose3d": torchConv(ConvTranspose3d),
		"scaled_dot_product_attention": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			var mask *Tensor
			if len(x) > 3 {
				mask = x[3]
			}
			return ScaledDotProductAttention(s, x[0], x[1], x[2], mask, Attention{Causal: a.has("is_causal"), Scale: a.floatOr("scale", 0)})
		}),
		"rnn_tanh_cell": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return RNNTanhCell(s, x[0], x[1], cellWeights(x[2:]))
		}),
		"rnn_relu_cell": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return RNNReLUCell(s, x[0], x[1], cellWeights(x[2:]))
		}),
		"gru_cell": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return GRUCell(s, x[0], x[1], cellWeights(x[2:])) }),
		"lstm_cell": torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) {
			return LSTMCell(s, x[0], x[1], x[2], cellWeights(x[3:]))
		}),
		"rnn_tanh": torchRNN(RNNTanh), "rnn_relu": torchRNN(RNNReLU), "gru": torchRNN(GRU),
		"lstm": func(s *Scope, a torchArgs, x []*Tensor) []*Tensor {
			y, h, c := LSTM(s, x[0], x[1], x[2], cellWeights(x[3:]), a.bool("reverse"))
			return []*Tensor{y, h, c}
		},
	})
}

func cellWeights(w []*Tensor) CellWeights {
	return CellWeights{IH: w[0], HH: w[1], BiasIH: w[2], BiasHH: w[3]}
}

func torchRNN(f func(s *Scope, x, h *Tensor, w CellWeights, reverse bool) (y, last *Tensor)) torchCall {
	return torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) {
		return f(s, x[0], x[1], cellWeights(x[2:]), a.bool("reverse"))
	})
}

func torchConv(f func(s *Scope, x, weight, bias *Tensor, opts ...WindowOption) *Tensor) torchCall {
	return torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return f(s, x[0], x[1], x[2], torchWindow(a)...)
	})
}

// torchWindow turns PyTorch's arguments of convolutions and pools into options; those that are the default are left out.
func torchWindow(a torchArgs) []WindowOption {
	var out []WindowOption
	for _, o := range []struct {
		name   string
		option func(...int) WindowOption
		usual  int
	}{{"stride", Stride, 1}, {"padding", Padding, 0}, {"dilation", Dilation, 1}, {"output_padding", OutputPadding, 0}} {
		if n := a.ints(o.name); n != nil && (len(n) > 1 || n[0] != o.usual || a.has("kernel_size") && o.name == "stride") {
			out = append(out, o.option(n...))
		}
	}
	if a.has("groups") {
		out = append(out, Groups(a.int("groups")))
	}
	return out
}
