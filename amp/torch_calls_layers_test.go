package amp

// Attention and recurrent cells.
func init() {
	addTorch(map[string]torchCall{
		"scaled_dot_product_attention": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			var mask *Tensor
			if len(x) > 3 {
				mask = x[3]
			}
			return ScaledDotProductAttention(s, x[0], x[1], x[2], mask, Attention{Causal: a.has("is_causal"), Scale: a.or("scale", 0)})
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
