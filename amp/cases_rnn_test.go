package amp

// cellCase calls a cell with x, states of hidden 2, and weights of the given number of gates.
func cellCase(name string, gates, states int, bias bool, call func(s *Scope, x []*Tensor, w CellWeights) *Tensor, lead ...int) opCase {
	const features, hidden = 3, 2
	batch := lead
	if len(lead) > 1 {
		batch = lead[1:]
	}
	inputs := []input{in(-0.5, 0.5, append(append([]int{}, lead...), features)...)}
	for range states {
		inputs = append(inputs, in(0.2, 0.7, append(append([]int{}, batch...), hidden)...))
	}
	rows := gates * hidden
	inputs = append(inputs, in(-0.5, 0.5, rows, features), in(-0.5, 0.5, rows, hidden))
	if bias {
		inputs = append(inputs, in(0.2, 0.7, rows), in(0.2, 0.7, rows))
	}
	return opCase{name: name, terms: 4, inputs: inputs, call: func(s *Scope, x []*Tensor) *Tensor {
		k := 1 + states
		w := CellWeights{IH: x[k], HH: x[k+1]}
		if bias {
			w.BiasIH, w.BiasHH = x[k+2], x[k+3]
		}
		return call(s, x, w)
	}}
}

func init() {
	tanh := func(s *Scope, x []*Tensor, w CellWeights) *Tensor { return RNNTanhCell(s, x[0], x[1], w) }
	relu := func(s *Scope, x []*Tensor, w CellWeights) *Tensor {
		return RNNReLUCell(s, AddScalar(s, x[0], 1), x[1], CellWeights{Abs(s, w.IH), w.HH, w.BiasIH, w.BiasHH}) // off the kink
	}
	gru := func(s *Scope, x []*Tensor, w CellWeights) *Tensor { return GRUCell(s, x[0], x[1], w) }
	lstm := func(s *Scope, x []*Tensor, w CellWeights) *Tensor {
		h, c := LSTMCell(s, x[0], x[1], x[2], w)
		return Cat(s, -1, h, c)
	}
	both := func(s *Scope, y, last *Tensor) *Tensor {
		return Cat(s, 0, y, Reshape(s, last, append([]int{1}, last.shape...)...))
	}
	addCases(map[string][]opCase{
		"rnn_tanh_cell": {cellCase("", 1, 1, true, tanh, 2), cellCase("bare", 1, 1, false, tanh, 2)},
		"rnn_relu_cell": {cellCase("", 1, 1, true, relu, 2)},
		"gru_cell":      {cellCase("", 3, 1, true, gru, 2), cellCase("bare", 3, 1, false, gru, 2)},
		"lstm_cell":     {cellCase("", 4, 2, true, lstm, 2), cellCase("bare", 4, 2, false, lstm, 2)},
		"rnn_tanh": {cellCase("", 1, 1, true, func(s *Scope, x []*Tensor, w CellWeights) *Tensor {
			y, last := RNNTanh(s, x[0], x[1], w, false)
			return both(s, y, last)
		}, 3, 2)},
		"rnn_relu": {cellCase("", 1, 1, true, func(s *Scope, x []*Tensor, w CellWeights) *Tensor {
			y, _ := RNNReLU(s, AddScalar(s, x[0], 1), x[1], CellWeights{Abs(s, w.IH), Abs(s, w.HH), w.BiasIH, w.BiasHH}, true)
			return y
		}, 2, 2)},
		"gru": {cellCase("", 3, 1, true, func(s *Scope, x []*Tensor, w CellWeights) *Tensor {
			y, last := GRU(s, x[0], x[1], w, true)
			return both(s, y, last)
		}, 3, 2)},
		"lstm": {cellCase("", 4, 2, true, func(s *Scope, x []*Tensor, w CellWeights) *Tensor {
			y, h, c := LSTM(s, x[0], x[1], x[2], w, false)
			return both(s, both(s, y, h), c)
		}, 3, 2)},
	})
}
