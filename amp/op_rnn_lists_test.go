package amp

import "testing"

// TestRecurrentOnCPULists holds layers and cells to what PyTorch 2.15 does under torch.autocast("cpu", torch.bfloat16): an LSTM is lowered as a
// whole (mkldnn_rnn_layer), of all others the products are. What mixes the state before with the next one keeps that state's dtype.
func TestRecurrentOnCPULists(t *testing.T) {
	s := NewScope(Seed(5))
	defer s.Close()
	rows := map[string]struct {
		gates      int
		call       func(s *Scope, x, h *Tensor, w CellWeights) *Tensor
		cell       bool
		fresh, low DType // of a float32 state, of a bfloat16 one
	}{
		"lstm":      {4, func(s *Scope, x, h *Tensor, w CellWeights) *Tensor { y, _, _ := LSTM(s, x, h, h, w, false); return y }, false, BFloat16, BFloat16},
		"gru":       {3, func(s *Scope, x, h *Tensor, w CellWeights) *Tensor { y, _ := GRU(s, x, h, w, true); return y }, false, Float32, BFloat16},
		"rnn":       {1, func(s *Scope, x, h *Tensor, w CellWeights) *Tensor { y, _ := RNNTanh(s, x, h, w, false); return y }, false, BFloat16, BFloat16},
		"lstm_cell": {4, func(s *Scope, x, h *Tensor, w CellWeights) *Tensor { y, _ := LSTMCell(s, x, h, h, w); return y }, true, Float32, BFloat16},
		"gru_cell":  {3, GRUCell, true, Float32, BFloat16},
		"rnn_cell":  {1, RNNReLUCell, true, BFloat16, BFloat16},
	}
	half := s.Autocast(BFloat16, UseLists(CPULists))
	for name, r := range rows {
		const in, hidden = 12, 10
		shape := []int{5, 2, in}
		if r.cell {
			shape = shape[1:]
		}
		x, h := Randn(s, Float32, 0, 1, shape...), Randn(s, Float32, 0, 1, 2, hidden)
		w := CellWeights{Randn(s, Float32, 0, .3, r.gates*hidden, in).RequireGrad(), Randn(s, Float32, 0, .3, r.gates*hidden, hidden), nil, nil}
		if y := r.call(half, x, To(s, h, BFloat16), w); y.dt != r.low {
			t.Errorf("%s of a bfloat16 state is %v, want %v", name, y.dt, r.low)
		}
		exact, y := r.call(s, x, h, w), r.call(half, x, h, w)
		if y.dt != r.fresh {
			t.Errorf("%s is %v, want %v", name, y.dt, r.fresh)
		}
		if off := Amax(s, Abs(s, Sub(s, y, exact))).Item(); off < 1e-4 || off > 5e-2 {
			t.Errorf("%s is %g off float32: its products are to be of bfloat16", name, off)
		}
		Sum(half, y).Backward()
		got := MulScalar(s, w.IH.Grad(), 1) // a copy: SetGrad frees what it replaces
		w.IH.SetGrad(nil)
		Sum(s, exact).Backward()
		if off := Amax(s, Abs(s, Sub(s, got, w.IH.Grad()))).Item(); !(off > 0 && off < .3) {
			t.Errorf("%s: the gradient is %g off float32's", name, off)
		}
	}
}
