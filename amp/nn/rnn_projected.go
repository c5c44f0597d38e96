package nn

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
)

// LSTMs whose hidden state is projected to fewer features (Sak, Senior and Beaufays, 2014), as torch.nn.LSTM with proj_size.

// project gives a cell a weight that projects its hidden state, and one that takes the projected state, drawn as the others.
func (c *CellParameters) project(s *amp.Scope, hidden, size int, dt amp.DType, suffix string) {
	bound := 1 / math.Sqrt(float64(hidden))
	draw := func(name string, shape ...int) *amp.Tensor {
		return amp.Rand(s, dt, -bound, bound, shape...).SetName(name + suffix).RequireGrad()
	}
	gates := c.WeightHH.Dim(0)
	c.WeightHH.Free()
	c.WeightHH, c.WeightHR = draw("weight_hh", gates, size), draw("weight_hr", size, hidden)
}

// output is the number of features of the hidden state.
func (r *Recurrent) output() int {
	if r.opts.ProjSize > 0 {
		return r.opts.ProjSize
	}
	return r.hidden
}

// layer is what runs the k-th cell along a sequence.
func (r *Recurrent) layer(k int) layerRun {
	if hr := r.Cells[k].WeightHR; hr != nil {
		return projected(hr)
	}
	return r.run
}

// projected runs an LSTM with a projection, op by op: with the gates i, f, g and o of x·WeightIHᵀ + h·WeightHHᵀ + the biases,
//
//	c = sigmoid(f)·c + sigmoid(i)·tanh(g)
//	h = (sigmoid(o)·tanh(c))·WeightHRᵀ
func projected(hr *amp.Tensor) layerRun {
	return func(s *amp.Scope, x, h, c *amp.Tensor, w amp.CellWeights, reverse bool) (y, lastH, lastC *amp.Tensor) {
		steps, batch, hidden := x.Dim(0), x.Dim(1), hr.Dim(1)
		if steps == 0 {
			misshapen("Run", "use a sequence of at least one step", "x is %v", x.Shape())
		}
		inputs := amp.Linear(s, x, w.IH, w.BiasIH)
		if h == nil {
			h = amp.Zeros(s, inputs.DType(), batch, hr.Dim(0))
		}
		if c == nil {
			c = amp.Zeros(s, inputs.DType(), batch, hidden)
		}
		out := make([]*amp.Tensor, steps)
		for k := range steps {
			if reverse {
				k = steps - 1 - k
			}
			gates := amp.Split(s, amp.Add(s, amp.Select(s, inputs, 0, k), amp.Linear(s, h, w.HH, w.BiasHH)), hidden, -1)
			kept := amp.Mul(s, amp.Sigmoid(s, gates[1]), c)
			c = amp.Add(s, kept, amp.Mul(s, amp.Sigmoid(s, gates[0]), amp.Tanh(s, gates[2])))
			h = amp.Linear(s, amp.Mul(s, amp.Sigmoid(s, gates[3]), amp.Tanh(s, c)), hr, nil)
			out[k] = h
		}
		return amp.Stack(s, 0, out...), h, c
	}
}
