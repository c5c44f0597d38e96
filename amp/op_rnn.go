package amp

import (
	"fmt"
	"slices"
)

// Recurrent cells and layers, made of other rows. Autocast lowers them as a whole, by the CPU lists their products (and an LSTM). Products are
// rounded to the lower dtype, what follows them runs in float32 and is rounded once, as in PyTorch's fused cells. LSTMs and GRUs, cells and
// layers, are one node of the graph (op_rnn_layer.go), which keeps the gates for backward in the lower dtype, as those do.

var opRNNTanhCell, opRNNReLUCell, opGRUCell, opLSTMCell *Op
var opRNNTanh, opRNNReLU, opGRU, opLSTM *Op

const whyRecurrent = "two matrix products and little else: half inputs, float32 accumulator"

func init() {
	args := []string{"x", "h", "weight_ih", "weight_hh", "bias_ih", "bias_hh"}
	long := []string{"x", "h", "c", "weight_ih", "weight_hh", "bias_ih", "bias_hh"}
	pair := func(name, doc string, args, parts []string, gates ...string) (cell, layer *Op) {
		o := Op{Name: name + "_cell", Doc: doc, Args: args, Class: Lower, Parts: Apart, Why: whyRecurrent, CUDA: "linear"}
		whole := append(append([]string{"linear", "narrow", "cast", "add"}, parts...), "stack", "cat")
		o.Composite = append([]string{"linear", "cast", "add"}, parts...)
		if gates != nil { // all steps at once: op_rnn_layer.go
			o.Composite, o.Backward = append([]string{"reshape", "linear", "copy_"}, gates...), layerBackward
			whole = o.Composite
		}
		cell = define(o)
		o.Name, o.Doc, o.Composite = name, "one layer of "+name+"_cell over a sequence, in one direction", whole
		if name == "lstm" { // mkldnn_rnn_layer of the reference's CPU lists; the others are their products there
			o.CPUList = Lower
		}
		return cell, define(o)
	}
	opRNNTanhCell, opRNNTanh = pair("rnn_tanh", "tanh(weight_ih·x + bias_ih + weight_hh·h + bias_hh)", args, []string{"tanh"})
	opRNNReLUCell, opRNNReLU = pair("rnn_relu", "relu(weight_ih·x + bias_ih + weight_hh·h + bias_hh)", args, []string{"relu"})
	opGRUCell, opGRU = pair("gru", "(1 - z)·n + z·h with n = tanh(x_n + r·h_n), reset gate r and update gate z", args, nil, "gru_gates_", "gru_gates_backward_", "matmul", "sum", "narrow")
	opLSTMCell, opLSTM = pair("lstm", "c' = f·c + i·g and h' = o·tanh c', with input, forget and output gates i, f, o and g = tanh", long, nil, "lstm_gates_", "lstm_gates_backward_", "matmul", "sum", "narrow")
}

// A recurrence is what tells the cells apart: the products they need and how those become the next state.
type recurrence struct {
	cell, layer *Op
	gates       int
	next        func(s *Scope, x, h *Tensor, state []*Tensor) []*Tensor // in float32 or wider
	mixes       bool                                                    // the next state is a mixture with the one before, so that its dtype counts
	whole       *wholeLayer                                             // how a layer runs all steps at once; nil for step by step
}

var (
	rnnTanh = recurrence{gates: 1, next: func(s *Scope, x, h *Tensor, _ []*Tensor) []*Tensor {
		return []*Tensor{Tanh(s, Add(s, x, h))}
	}}
	rnnReLU = recurrence{gates: 1, next: func(s *Scope, x, h *Tensor, _ []*Tensor) []*Tensor {
		return []*Tensor{ReLU(s, Add(s, x, h))}
	}}
	gru = recurrence{gates: 3, mixes: true, next: func(s *Scope, x, h *Tensor, state []*Tensor) []*Tensor {
		n := state[0].Dim(-1)
		gates := Sigmoid(s, Add(s, Narrow(s, x, -1, 0, 2*n), Narrow(s, h, -1, 0, 2*n)))
		reset, update := Narrow(s, gates, -1, 0, n), Narrow(s, gates, -1, n, n)
		fresh := Tanh(s, Add(s, Narrow(s, x, -1, 2*n, n), Mul(s, reset, Narrow(s, h, -1, 2*n, n))))
		return []*Tensor{Add(s, Mul(s, Sub(s, state[0], fresh), update), fresh)}
	}}
	lstm = recurrence{gates: 4, mixes: true, next: func(s *Scope, x, h *Tensor, state []*Tensor) []*Tensor {
		n := state[0].Dim(-1)
		sum := Add(s, x, h)
		gate := func(i int) *Tensor { return Narrow(s, sum, -1, i*n, n) }
		c := Add(s, Mul(s, Sigmoid(s, gate(1)), state[1]), Mul(s, Sigmoid(s, gate(0)), Tanh(s, gate(2))))
		return []*Tensor{Mul(s, Sigmoid(s, gate(3)), Tanh(s, c)), c}
	}}
)

func init() {
	rnnTanh.cell, rnnTanh.layer = opRNNTanhCell, opRNNTanh
	rnnReLU.cell, rnnReLU.layer = opRNNReLUCell, opRNNReLU
	gru.cell, gru.layer, gru.whole = opGRUCell, opGRU, &wholeGRU
	lstm.cell, lstm.layer, lstm.whole = opLSTMCell, opLSTM, &wholeLSTM
}

// A CellWeights holds the parameters of a recurrent cell: of gates·hidden rows, gate after gate in PyTorch's order (r z n for a GRU,
// i f g o for an LSTM). The biases may be nil, both of them.
type CellWeights struct {
	IH, HH         *Tensor // [gates·hidden in] and [gates·hidden hidden]
	BiasIH, BiasHH *Tensor // [gates·hidden]
}

// RNNTanhCell returns tanh(w.IH·x + w.BiasIH + w.HH·h + w.BiasHH) for x [… in] and h [… hidden]: [… hidden]. A nil state stands for
// zeros. In the lower dtype under autocast. Like all cells it panics with ErrShape or ErrDType for tensors that do not fit. (PyTorch:
// torch.rnn_tanh_cell.)
func RNNTanhCell(s *Scope, x, h *Tensor, w CellWeights) *Tensor {
	return rnnTanh.step(s, x, []*Tensor{h}, w)[0]
}

// RNNReLUCell is RNNTanhCell with relu for tanh.
func RNNReLUCell(s *Scope, x, h *Tensor, w CellWeights) *Tensor {
	return rnnReLU.step(s, x, []*Tensor{h}, w)[0]
}

// GRUCell returns the next state of a gated recurrent unit for x [… in] and h [… hidden]. In the lower dtype under autocast.
// (PyTorch: torch.gru_cell, whose reset gate acts on weight·h + bias.)
func GRUCell(s *Scope, x, h *Tensor, w CellWeights) *Tensor {
	return gru.step(s, x, []*Tensor{h}, w)[0]
}

// LSTMCell returns the next hidden and cell state of a long short-term memory for x [… in], h and c [… hidden]. In the lower dtype
// under autocast. (PyTorch: torch.lstm_cell.)
func LSTMCell(s *Scope, x, h, c *Tensor, w CellWeights) (hNext, cNext *Tensor) {
	out := lstm.step(s, x, []*Tensor{h, c}, w)
	return out[0], out[1]
}

// RNNTanh runs RNNTanhCell along the first dimension of x [steps batch in] from the state h [batch hidden], from the last step to
// the first if reverse. It returns the states of all steps, in the order of x, and the one it ended with. In the lower dtype under
// autocast by the CUDA lists, whose cuDNN layer this is, and of an LSTM by the CPU lists, too; else the products alone are lowered there, and a
// GRU's states keep their dtype. Without steps it panics with ErrShape.
func RNNTanh(s *Scope, x, h *Tensor, w CellWeights, reverse bool) (y, last *Tensor) {
	y, state := rnnTanh.run(s, x, []*Tensor{h}, w, reverse)
	return y, state[0]
}

// RNNReLU is RNNTanh with relu for tanh.
func RNNReLU(s *Scope, x, h *Tensor, w CellWeights, reverse bool) (y, last *Tensor) {
	y, state := rnnReLU.run(s, x, []*Tensor{h}, w, reverse)
	return y, state[0]
}

// GRU is RNNTanh with GRUCell.
func GRU(s *Scope, x, h *Tensor, w CellWeights, reverse bool) (y, last *Tensor) {
	y, state := gru.run(s, x, []*Tensor{h}, w, reverse)
	return y, state[0]
}

// LSTM is RNNTanh with LSTMCell, which has a cell state too.
func LSTM(s *Scope, x, h, c *Tensor, w CellWeights, reverse bool) (y, lastH, lastC *Tensor) {
	y, state := lstm.run(s, x, []*Tensor{h, c}, w, reverse)
	return y, state[0], state[1]
}

// step is one call of a cell.
func (r *recurrence) step(s *Scope, x *Tensor, state []*Tensor, w CellWeights) []*Tensor {
	s, x, state, w = r.begin(s, r.cell, x, state, w)
	if r.whole != nil && !s.auto.on {
		_, next := r.runWhole(s, r.cell, Reshape(s, x, append([]int{1}, x.shape...)...), state, w, false)
		return next
	}
	return r.advance(s, Linear(s, x, w.IH, w.BiasIH), state, w)
}

// run is a layer. The products with x, which need no state, are one for all steps.
func (r *recurrence) run(s *Scope, x *Tensor, state []*Tensor, w CellWeights, reverse bool) (*Tensor, []*Tensor) {
	x.live(r.layer.Name)
	if len(x.shape) < 2 || x.shape[0] == 0 {
		fail(r.layer.Name, ErrShape, "use [steps batch features] with at least one step", "x is %v", x.shape)
	}
	s, x, state, w = r.begin(s, r.layer, x, state, w)
	if r.whole != nil && !s.auto.on { // on where the parts decide for themselves
		return r.runWhole(s, r.layer, x, state, w, reverse)
	}
	return r.stepwise(s, x, state, w, reverse)
}

// stepwise is run in ops that have gradients of their own.
func (r *recurrence) stepwise(s *Scope, x *Tensor, state []*Tensor, w CellWeights, reverse bool) (*Tensor, []*Tensor) {
	parts := unbind(s, Linear(s, x, w.IH, w.BiasIH))
	states := make([]*Tensor, len(parts))
	for i := range parts {
		if reverse {
			i = len(parts) - 1 - i
		}
		state = r.advance(s, parts[i], state, w)
		states[i] = state[0]
	}
	return Stack(s, 0, states...), state
}

// begin checks the shapes and lets autocast decide.
func (r *recurrence) begin(s *Scope, o *Op, x *Tensor, state []*Tensor, w CellWeights) (*Scope, *Tensor, []*Tensor, CellWeights) {
	x.live(o.Name)
	if len(x.shape) == 0 {
		fail(o.Name, ErrShape, "give x its features as last dimension", "x is %v", x.shape)
	}
	for i, t := range []*Tensor{w.IH, w.HH} {
		if t == nil {
			panic(o.missing(1 + len(state) + i))
		}
	}
	state = r.start(s, o, x, state, w)
	all := slices.Concat([]*Tensor{x}, state, []*Tensor{w.IH, w.HH, w.BiasIH, w.BiasHH})
	for _, t := range all {
		if t != nil {
			t.live(o.Name)
		}
	}
	lead := x.shape[:max(0, len(x.shape)-1)]
	if o == r.layer {
		lead = lead[1:]
	}
	hidden := state[0].shape[max(0, len(state[0].shape)-1):]
	for i, h := range state {
		if len(hidden) == 0 || !slices.Equal(h.shape, append(slices.Clone(lead), hidden[0])) {
			fail(o.Name, ErrShape, "a state has the batch of x and the hidden size last", "x %v, %s %v", x.shape, o.argName(1+i), h.shape)
		}
	}
	rows := r.gates * hidden[0]
	if len(w.HH.shape) != 2 || w.HH.shape[0] != rows || w.HH.shape[1] != hidden[0] || len(w.IH.shape) != 2 || w.IH.shape[0] != rows {
		fail(o.Name, ErrShape, fmt.Sprintf("weight_ih is [%d in], weight_hh [%d %d]", rows, rows, hidden[0]), "weight_ih %v, weight_hh %v, h %v", w.IH.shape, w.HH.shape, state[0].shape)
	}
	if (w.BiasIH == nil) != (w.BiasHH == nil) {
		fail(o.Name, ErrArgument, "give both biases or none", "one bias is nil")
	}
	s, in := s.enter(o, all...)
	k := 1 + len(state)
	for i, t := range in {
		if t != nil && (!t.dt.IsFloat() || t.dt != in[0].dt && !s.auto.on) {
			fail(o.Name, ErrDType, "run it in an Autocast scope, or convert with amp.To", "x is %v, %s %v", in[0].dt, o.argName(i), t.dt)
		}
	}
	return s, in[0], in[1:k], CellWeights{in[k], in[k+1], in[k+2], in[k+3]}
}

// start gives zeros for states that are nil.
func (r *recurrence) start(s *Scope, o *Op, x *Tensor, state []*Tensor, w CellWeights) []*Tensor {
	lead := slices.Clone(x.shape[:max(0, len(x.shape)-1)])
	if o == r.layer {
		lead = lead[1:]
	}
	state = slices.Clone(state)
	for i, t := range state {
		if t == nil {
			state[i] = s.filled(w.HH.dt, 0, append(slices.Clone(lead), w.HH.shape[max(0, len(w.HH.shape)-1):]...))
		}
	}
	return state
}

// advance makes the next state of the products with x.
func (r *recurrence) advance(s *Scope, x *Tensor, state []*Tensor, w CellWeights) []*Tensor {
	h := Linear(s, state[0], w.HH, w.BiasHH)
	dt := h.dt
	if r.mixes {
		dt = promoteTypes(dt, state[len(state)-1].dt)
	}
	wider := make([]*Tensor, len(state))
	for i, t := range state {
		wider[i] = wide(s, t)
	}
	next := r.next(s, wide(s, x), wide(s, h), wider)
	for i, t := range next {
		next[i] = To(s, t, dt)
	}
	return next
}

// unbind cuts x along its first dimension into views. It halves again and again: the gradient of a range is as large as what it
// was cut from, so that single cuts from the whole would take quadratic time.
func unbind(s *Scope, x *Tensor) []*Tensor {
	n := x.shape[0]
	if n == 1 {
		return []*Tensor{Reshape(s, x, x.shape[1:]...)}
	}
	return append(unbind(s, Narrow(s, x, 0, 0, n/2)), unbind(s, Narrow(s, x, 0, n/2, n-n/2))...)
}
