package amp

import "slices"

// The gates of one step of an LSTM or GRU, and their gradients: everything between the products of two steps, in one pass, in place.
// Layers call them on pieces of tensors that hold all steps. As in the fused cells of PyTorch (_thnn_fused_lstm_cell), what is kept for the
// gradient are the gates after σ and tanh, in the dtype of the products; the arithmetic is float32, or float64 for float64.

var opLSTMGates, opLSTMGatesBackward, opGRUGates, opGRUGatesBackward *Op

const whyGates = "follows the products, whose dtype autocast chose; arithmetic in float32 inside"

func init() {
	opLSTMGates = define(Op{
		Name: "lstm_gates_", Doc: "gates = σ or tanh of gates + products, gate after gate i f g o; c_next = f·c + i·g, h_next = o·tanh c_next",
		Args: []string{"gates", "h_next", "c_next", "products", "c"}, Why: whyGates, InPlace: true, Changes: 3, CUDA: "lstm_gates",
		Check: func(c *Call) []int { return c.gates(4, 1, 2, 4) }, CPU: lstmGatesCPU,
	})
	opLSTMGatesBackward = define(Op{
		Name: "lstm_gates_backward_", Doc: "gradients of the gates before σ and tanh, from dy + dh and dc, the gradients of h_next and c_next; dc becomes that of c",
		Args: []string{"d_gates", "dc", "gates", "c", "c_next", "dy", "dh"}, Why: whyGates, InPlace: true, Changes: 2, CUDA: "lstm_gates_backward",
		Check: func(c *Call) []int { return c.gates(4, 1, 3, 4, 5, 6) }, CPU: lstmGatesBackwardCPU,
	})
	opGRUGates = define(Op{
		Name: "gru_gates_", Doc: "gates = σ of gates + products for r and z, n = tanh(gate + r·product); h_next = (h - n)·z + n",
		Args: []string{"gates", "h_next", "products", "h"}, Why: whyGates, InPlace: true, Changes: 2, CUDA: "gru_gates",
		Check: func(c *Call) []int { return c.gates(3, 1, 3) }, CPU: gruGatesCPU,
	})
	opGRUGatesBackward = define(Op{
		Name: "gru_gates_backward_", Doc: "gradients of gates and products before σ and tanh, from dh + dy + dh_product; dh becomes that of h but for what the products pass on",
		Args: []string{"d_gates", "d_products", "dh", "gates", "products", "h", "dy", "dh_product"}, Why: whyGates, InPlace: true, Changes: 3, CUDA: "gru_gates_backward",
		Check: func(c *Call) []int { return c.gates(3, 2, 5, 6, 7) }, CPU: gruGatesBackwardCPU,
	})
}

// gates checks the inputs of the rows above: those at the places of states are [rows hidden], all others [rows n·hidden]. They lie without
// gaps; the carried gradients, dc and dh, are float32 beside halves. The last may be nil.
func (c *Call) gates(n int, states ...int) []int {
	all := c.In[0].shape
	if len(all) != 2 || all[1]%n != 0 {
		fail(c.Op.Name, ErrShape, "use [rows gates·hidden]", "%s", c.shapes())
	}
	state := []int{all[0], all[1] / n}
	for i, t := range c.In {
		if t == nil {
			continue
		}
		want, dt := all, c.In[0].dt
		if slices.Contains(states, i) {
			want = state
		}
		if name := c.Op.argName(i); name == "dc" || name == "dh" && i < c.Op.Changed() {
			dt = carried(dt)
		}
		if !slices.Equal(t.shape, want) || !t.contiguous() {
			fail(c.Op.Name, ErrShape, "use tensors without gaps of [rows hidden] and [rows gates·hidden]", "%s: %s is %v", c.shapes(), c.Op.argName(i), t.shape)
		}
		if t.dt != dt || !dt.IsFloat() {
			fail(c.Op.Name, ErrDType, "use one float dtype, and float32 for gradients that are carried on beside halves", "%s is %v, %s %v", c.Op.argName(0), c.In[0].dt, c.Op.argName(i), t.dt)
		}
	}
	return all
}

// carried is the dtype of gradients that are carried from step to step.
func carried(dt DType) DType {
	if dt.IsHalf() {
		return Float32
	}
	return dt
}
