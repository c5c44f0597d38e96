package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// CellParameters are the weights of a recurrent cell, gate after gate in PyTorch's order.
type CellParameters struct {
	WeightIH *amp.Tensor // [gates·hidden in]
	WeightHH *amp.Tensor // [gates·hidden hidden]
	BiasIH   *amp.Tensor // [gates·hidden], nil without
	BiasHH   *amp.Tensor // [gates·hidden], nil without
	WeightHR *amp.Tensor // [projected hidden], nil without; WeightHH is [gates·hidden projected] then
}

// newCell draws weights and biases uniform in ±1/√hidden, as PyTorch does; suffix completes their names.
func newCell(s *amp.Scope, gates, in, hidden int, bias bool, dt amp.DType, suffix string) CellParameters {
	bound := 1 / math.Sqrt(float64(hidden))
	draw := func(name string, shape ...int) *amp.Tensor {
		return amp.Rand(s, dt, -bound, bound, shape...).SetName(name + suffix).RequireGrad()
	}
	c := CellParameters{WeightIH: draw("weight_ih", gates*hidden, in), WeightHH: draw("weight_hh", gates*hidden, hidden)}
	if bias {
		c.BiasIH, c.BiasHH = draw("bias_ih", gates*hidden), draw("bias_hh", gates*hidden)
	}
	return c
}

// Parameters returns the weights, then the biases, then the weight of a projection.
func (c CellParameters) Parameters() []*amp.Tensor {
	return present(c.WeightIH, c.WeightHH, c.BiasIH, c.BiasHH, c.WeightHR)
}

func (c CellParameters) weights() amp.CellWeights {
	return amp.CellWeights{IH: c.WeightIH, HH: c.WeightHH, BiasIH: c.BiasIH, BiasHH: c.BiasHH}
}

// RNNCell is one step of a plain recurrent network.
type RNNCell struct {
	CellParameters
	ReLU bool // relu for tanh
}

// GRUCell is one step of a gated recurrent unit.
type GRUCell struct{ CellParameters }

// LSTMCell is one step of a long short-term memory.
type LSTMCell struct{ CellParameters }

// NewRNNCell returns a cell with tanh from in features to hidden ones. Cells and layers draw their parameters uniform in ±1/√hidden
// and panic with amp.ErrArgument for sizes below 1.
func NewRNNCell(s *amp.Scope, in, hidden int, opts ...LinearOption) *RNNCell {
	return &RNNCell{CellParameters: cellOf(s, "NewRNNCell", 1, in, hidden, opts)}
}

// NewGRUCell returns a cell from in features to hidden ones; see NewRNNCell.
func NewGRUCell(s *amp.Scope, in, hidden int, opts ...LinearOption) *GRUCell {
	return &GRUCell{cellOf(s, "NewGRUCell", 3, in, hidden, opts)}
}

// NewLSTMCell returns a cell from in features to hidden ones; see NewRNNCell.
func NewLSTMCell(s *amp.Scope, in, hidden int, opts ...LinearOption) *LSTMCell {
	return &LSTMCell{cellOf(s, "NewLSTMCell", 4, in, hidden, opts)}
}

func cellOf(s *amp.Scope, op string, gates, in, hidden int, opts []LinearOption) CellParameters {
	checkSizes(op, []int{in, hidden})
	c := linearConfig{bias: true, dtype: amp.Float32}
	optional.Apply(op, opts, &c, misused)
	return newCell(s, gates, in, hidden, c.bias, c.dtype, "")
}

// Step returns the state that follows h [… hidden], nil for zeros, given x [… in].
func (c *RNNCell) Step(s *amp.Scope, x, h *amp.Tensor) *amp.Tensor {
	if c.ReLU {
		return amp.RNNReLUCell(s, x, h, c.weights())
	}
	return amp.RNNTanhCell(s, x, h, c.weights())
}

// Step returns the state that follows h [… hidden], nil for zeros, given x [… in].
func (c *GRUCell) Step(s *amp.Scope, x, h *amp.Tensor) *amp.Tensor {
	return amp.GRUCell(s, x, h, c.weights())
}

// Step returns the hidden and cell state that follow h and cell [… hidden], nil for zeros, given x [… in].
func (c *LSTMCell) Step(s *amp.Scope, x, h, cell *amp.Tensor) (hNext, cellNext *amp.Tensor) {
	return amp.LSTMCell(s, x, h, cell, c.weights())
}

// Forward is Step from a state of zeros.
func (c *RNNCell) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return c.Step(s, x, nil) }

// Forward is Step from a state of zeros.
func (c *GRUCell) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return c.Step(s, x, nil) }

// Forward is Step from a state of zeros; it returns the hidden state.
func (c *LSTMCell) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	h, _ := c.Step(s, x, nil, nil)
	return h
}

// RecurrentOptions are the settings of RNN, GRU and LSTM; the zero value is PyTorch's default.
type RecurrentOptions struct {
	Layers        int       // stacked layers; 0 stands for 1
	Bidirectional bool      // a second set of cells runs from the last step to the first, and outputs are joined
	BatchFirst    bool      // x is [batch steps in] instead of [steps batch in]
	NoBias        bool      // leave the biases out
	ReLU          bool      // of RNN: relu for tanh
	Dropout       float64   // probability of dropout after each layer but the last
	DType         amp.DType // of the parameters; the zero value stands for float32
	ProjSize      int       // of an LSTM: features that its hidden state is projected to, fewer than hidden; 0 for no projection
}

// RecurrentState is what a recurrent network carries from one piece of a sequence to the next.
type RecurrentState struct {
	H *amp.Tensor // [layers·directions batch hidden], of an LSTM with ProjSize as many in place of hidden; nil stands for zeros
	C *amp.Tensor // cell state of an LSTM, [layers·directions batch hidden]; nil otherwise, or for zeros
}

// A layerRun runs one layer in one direction.
type layerRun func(s *amp.Scope, x, h, c *amp.Tensor, w amp.CellWeights, reverse bool) (y, lastH, lastC *amp.Tensor)

// Recurrent is what RNN, GRU and LSTM share.
type Recurrent struct {
	Cells  []CellParameters // layer by layer, in a bidirectional network forward before reverse
	opts   RecurrentOptions
	hidden int
	run    layerRun
	cell   bool // there is a cell state
}

// RNN is a plain recurrent network over a sequence.
type RNN struct{ Recurrent }

// GRU is a network of gated recurrent units over a sequence.
type GRU struct{ Recurrent }

// LSTM is a network of long short-term memories over a sequence.
type LSTM struct{ Recurrent }

// NewRNN returns a network from in features to hidden ones. Parameters have PyTorch's names, weight_ih_l0 to bias_hh_l1_reverse, and
// are drawn uniform in ±1/√hidden. It panics with amp.ErrArgument for sizes below 1 or a dropout outside 0 … 1.
func NewRNN(s *amp.Scope, in, hidden int, opts RecurrentOptions) *RNN {
	layer := amp.RNNTanh
	if opts.ReLU {
		layer = amp.RNNReLU
	}
	return &RNN{newRecurrent(s, "NewRNN", 1, in, hidden, opts, func(s *amp.Scope, x, h, _ *amp.Tensor, w amp.CellWeights, reverse bool) (y, lastH, lastC *amp.Tensor) {
		y, lastH = layer(s, x, h, w, reverse)
		return y, lastH, nil
	})}
}

// NewGRU returns a network from in features to hidden ones; see NewRNN.
func NewGRU(s *amp.Scope, in, hidden int, opts RecurrentOptions) *GRU {
	return &GRU{newRecurrent(s, "NewGRU", 3, in, hidden, opts, func(s *amp.Scope, x, h, _ *amp.Tensor, w amp.CellWeights, reverse bool) (y, lastH, lastC *amp.Tensor) {
		y, lastH = amp.GRU(s, x, h, w, reverse)
		return y, lastH, nil
	})}
}

// NewLSTM returns a network from in features to hidden ones; see NewRNN.
func NewLSTM(s *amp.Scope, in, hidden int, opts RecurrentOptions) *LSTM {
	l := &LSTM{newRecurrent(s, "NewLSTM", 4, in, hidden, opts, amp.LSTM)}
	l.cell = true
	return l
}

// mostLayers is far above what trains, and below what would take a machine's time and memory to make before anybody is told.
const mostLayers = 1 << 12

func newRecurrent(s *amp.Scope, op string, gates, in, hidden int, opts RecurrentOptions, run layerRun) Recurrent {
	if opts.Layers < 0 || opts.Layers > mostLayers {
		misused(op, fmt.Sprintf("use 1 to %d layers; 0 stands for 1", mostLayers), "%d layers", opts.Layers)
	}
	opts.Layers = max(opts.Layers, 1)
	checkSizes(op, []int{in, hidden})
	if !(opts.Dropout >= 0 && opts.Dropout <= 1) {
		misused(op, "use a probability from 0 to 1", "dropout is %v", opts.Dropout)
	}
	if opts.ProjSize != 0 && (op != "NewLSTM" || opts.ProjSize < 0 || opts.ProjSize >= hidden) {
		misused(op, "use it for an LSTM, with fewer features than hidden ones", "ProjSize is %d of %d", opts.ProjSize, hidden)
	}
	if opts.DType == amp.NoDType {
		opts.DType = amp.Float32
	}
	r := Recurrent{opts: opts, hidden: hidden, run: run}
	for layer := range opts.Layers {
		for d := range r.directions() {
			suffix := fmt.Sprintf("_l%d%s", layer, []string{"", "_reverse"}[d])
			cell := newCell(s, gates, in, hidden, !opts.NoBias, opts.DType, suffix)
			if opts.ProjSize > 0 {
				cell.project(s, hidden, opts.ProjSize, opts.DType, suffix)
			}
			r.Cells = append(r.Cells, cell)
		}
		in = r.output() * r.directions()
	}
	return r
}

func (r *Recurrent) built() {
	built("Recurrent", r != nil && r.run != nil && len(r.Cells) > 0, "nn.NewRNN", "nn.NewGRU", "nn.NewLSTM")
}

func (r *Recurrent) directions() int {
	if r.opts.Bidirectional {
		return 2
	}
	return 1
}

// Parameters returns the cells' parameters, layer by layer.
func (r *Recurrent) Parameters() []*amp.Tensor {
	var out []*amp.Tensor
	for _, c := range r.Cells {
		out = append(out, c.Parameters()...)
	}
	return out
}

// Forward returns the outputs of Run from a state of zeros.
func (r *Recurrent) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	y, _ := r.Run(s, x, RecurrentState{})
	return y
}

// Run returns the last layer's states for all steps of x [steps batch in] ([batch steps in] if BatchFirst, [steps in] without a
// batch): [steps batch directions·hidden] (of an LSTM with ProjSize as many in place of hidden), and the state of all layers after the last
// step. It starts from state, whose zero value stands for zeros. It panics with amp.ErrShape for tensors that do not fit. RunLengths is for
// sequences of different lengths.
func (r *Recurrent) Run(s *amp.Scope, x *amp.Tensor, state RecurrentState) (*amp.Tensor, RecurrentState) {
	return r.stacked(s, "Run", x, state, func(*amp.Tensor) func(layerRun) layerRun {
		return func(layer layerRun) layerRun { return layer }
	})
}

// stacked runs layer after layer; made returns, for a batch [steps batch in], what a layer's run in one direction becomes.
func (r *Recurrent) stacked(s *amp.Scope, op string, x *amp.Tensor, state RecurrentState, made func(x *amp.Tensor) func(layerRun) layerRun) (*amp.Tensor, RecurrentState) {
	r.built()
	alone := x.Rank() == 2
	if alone {
		x = amp.Reshape(s, x, x.Dim(0), 1, x.Dim(1))
	}
	if x.Rank() != 3 {
		misshapen(op, "use [steps batch features], or [steps features]", "x is %v", x.Shape())
	}
	if r.opts.BatchFirst && !alone {
		x = amp.Transpose(s, x, 0, 1)
	}
	if state.C != nil && !r.cell {
		misused(op, "leave C nil: only an LSTM has one", "a cell state")
	}
	run := made(x)
	h, c := r.states(s, op, state.H, x.Dim(1), r.output(), alone), r.states(s, op, state.C, x.Dim(1), r.hidden, alone)
	dirs := r.directions()
	for i := 0; i < len(r.Cells); i += dirs {
		if i > 0 {
			x = amp.Dropout(s, x, r.opts.Dropout)
		}
		out := make([]*amp.Tensor, dirs)
		for d := range dirs {
			out[d], h[i+d], c[i+d] = run(r.layer(i+d))(s, x, h[i+d], c[i+d], r.Cells[i+d].weights(), d == 1)
		}
		x = out[0]
		if dirs == 2 {
			x = amp.Cat(s, -1, out...)
		}
	}
	switch {
	case alone:
		x = amp.Reshape(s, x, x.Dim(0), x.Dim(2))
	case r.opts.BatchFirst:
		x = amp.Transpose(s, x, 0, 1)
	}
	return x, RecurrentState{H: joined(s, h, alone), C: joined(s, c, alone)}
}

// states cuts a state into those of the cells; nil ones without a state.
func (r *Recurrent) states(s *amp.Scope, op string, t *amp.Tensor, batch, features int, alone bool) []*amp.Tensor {
	out := make([]*amp.Tensor, len(r.Cells))
	if t == nil {
		return out
	}
	want := []int{len(r.Cells), batch, features}
	if alone {
		want = []int{len(r.Cells), features}
	}
	if !slices.Equal(t.Shape(), want) {
		misshapen(op, fmt.Sprintf("use a state of %v, or none for zeros", want), "state is %v", t.Shape())
	}
	for i := range out {
		out[i] = amp.Reshape(s, amp.Narrow(s, t, 0, i, 1), batch, features)
	}
	return out
}

// joined stacks the states of the cells; nil where there are none.
func joined(s *amp.Scope, states []*amp.Tensor, alone bool) *amp.Tensor {
	if states[0] == nil {
		return nil
	}
	if alone {
		states = slices.Clone(states)
		for i, t := range states {
			states[i] = amp.Reshape(s, t, t.Dim(1))
		}
	}
	return amp.Stack(s, 0, states...)
}
