package nn

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// Sequences of different lengths in one batch are run in pieces of time in which the same ones are left, as PyTorch's packed sequences are:
// no step is computed for padding.

// A span is a piece of time, and the number of sequences, of those sorted by length, that are not over in it.
type span struct{ from, to, rows int }

// lengthPlan sorts a batch by length and cuts time into spans.
type lengthPlan struct {
	steps, batch int
	spans        []span
	order, back  *amp.Tensor // of the batch, by length from the longest, and back; nil where it is in that order
}

// RunLengths is Run for sequences of which only the first lengths[i] steps count, int64 [batch], from 1 to the steps of x: outputs behind
// them are 0, the state returned is that after them, and the reverse direction begins at their last step. What lies behind is never
// read. It waits for lengths on a device. Under amp.CPULists outputs are in the lower precision, as Run's, where PyTorch's packed LSTM adds what
// it multiplied in that to float32 states and returns float32. (PyTorch: pack_padded_sequence and pad_packed_sequence around the call, with
// enforce_sorted=False and total_length.) It panics with amp.ErrShape, amp.ErrDType or amp.ErrArgument for what does not fit.
func (r *Recurrent) RunLengths(s *amp.Scope, x, lengths *amp.Tensor, state RecurrentState) (*amp.Tensor, RecurrentState) {
	r.built()
	if x.Rank() != 3 {
		misshapen("RunLengths", "use [steps batch features]; a single sequence needs no lengths", "x is %v", x.Shape())
	}
	return r.stacked(s, "RunLengths", x, state, func(x *amp.Tensor) func(layerRun) layerRun {
		p := planLengths(s, lengths, x.Dim(0), x.Dim(1))
		return func(layer layerRun) layerRun {
			return func(s *amp.Scope, x, h, c *amp.Tensor, w amp.CellWeights, reverse bool) (y, lastH, lastC *amp.Tensor) {
				return p.run(s, layer, x, h, c, w, reverse)
			}
		}
	})
}

// planLengths checks lengths and sorts by them.
func planLengths(s *amp.Scope, lengths *amp.Tensor, steps, batch int) *lengthPlan {
	const op = "RunLengths"
	if !slices.Equal(lengths.Shape(), []int{batch}) {
		misshapen(op, "use one length per sequence", "lengths are %v, the batch has %d sequences", lengths.Shape(), batch)
	}
	if lengths.DType() != amp.Int64 {
		panic(&amp.Error{Op: op, Kind: amp.ErrDType, Detail: fmt.Sprintf("lengths are %v", lengths.DType()), Fix: "use int64: amp.From([]int64{5, 3})"})
	}
	n := amp.Values[int64](lengths)
	order, back := make([]int64, batch), make([]int64, batch)
	for i := range order {
		if n[i] < 1 || n[i] > int64(steps) {
			misused(op, fmt.Sprintf("use lengths from 1 to %d", steps), "length %d is %d", i, n[i])
		}
		order[i] = int64(i)
	}
	slices.SortStableFunc(order, func(a, b int64) int { return int(n[b] - n[a]) })
	for i, k := range order {
		back[k] = int64(i)
	}
	p := &lengthPlan{steps: steps, batch: batch}
	if !slices.IsSorted(order) {
		p.order, p.back = owned(s, amp.From(order)), owned(s, amp.From(back))
	}
	for rows, from := batch, 0; rows > 0; {
		to := int(n[order[rows-1]])
		p.spans = append(p.spans, span{from, to, rows})
		for from = to; rows > 0 && int(n[order[rows-1]]) == to; rows-- {
		}
	}
	return p
}

// owned hands a tensor of no scope over to s, and its copy on the device of s where that is another.
func owned(s *amp.Scope, t *amp.Tensor) *amp.Tensor { return s.Own(s.Own(t).To(s)) }

// sorted puts the sequences along dim into an order; nil tensors and orders change nothing.
func sorted(s *amp.Scope, t *amp.Tensor, dim int, order *amp.Tensor) *amp.Tensor {
	if t == nil || order == nil {
		return t
	}
	return amp.IndexSelect(s, t, dim, order)
}

// run is a layerRun by the plan.
func (p *lengthPlan) run(s *amp.Scope, layer layerRun, x, h, c *amp.Tensor, w amp.CellWeights, reverse bool) (y, lastH, lastC *amp.Tensor) {
	x, h, c = sorted(s, x, 1, p.order), sorted(s, h, 0, p.order), sorted(s, c, 0, p.order)
	walk := p.forward
	if reverse {
		walk = p.reverse
	}
	pieces, lastH, lastC := walk(s, h, c, func(at span, h, c *amp.Tensor) (y, nextH, nextC *amp.Tensor) {
		part := amp.Narrow(s, amp.Narrow(s, x, 0, at.from, at.to-at.from), 1, 0, at.rows)
		y, nextH, nextC = layer(s, part, h, c, w, reverse)
		if at.rows < p.batch {
			y = amp.Cat(s, 1, y, s.Own(amp.Zeros(s, y.DType(), y.Dim(0), p.batch-at.rows, y.Dim(2))))
		}
		return y, nextH, nextC
	})
	if end := p.spans[len(p.spans)-1].to; end < p.steps {
		pieces = append(pieces, s.Own(amp.Zeros(s, pieces[0].DType(), p.steps-end, p.batch, pieces[0].Dim(2))))
	}
	return sorted(s, amp.Cat(s, 0, pieces...), 1, p.back), sorted(s, lastH, 0, p.back), sorted(s, lastC, 0, p.back)
}

// A spanRun runs the sequences of a span from their states.
type spanRun func(at span, h, c *amp.Tensor) (y, nextH, nextC *amp.Tensor)

// forward puts the states of sequences that are over aside.
func (p *lengthPlan) forward(s *amp.Scope, h, c *amp.Tensor, run spanRun) (pieces []*amp.Tensor, lastH, lastC *amp.Tensor) {
	var endH, endC []*amp.Tensor // the longest first
	for i, at := range p.spans {
		var y *amp.Tensor
		y, h, c = run(at, rowsOf(s, h, 0, at.rows), rowsOf(s, c, 0, at.rows))
		left := 0
		if i+1 < len(p.spans) {
			left = p.spans[i+1].rows
		}
		pieces = append(pieces, y)
		endH = slices.Insert(endH, 0, rowsOf(s, h, left, at.rows))
		endC = slices.Insert(endC, 0, rowsOf(s, c, left, at.rows))
	}
	return pieces, stackRows(s, endH), stackRows(s, endC)
}

// reverse goes from the last span to the first; sequences join in with their first states.
func (p *lengthPlan) reverse(s *amp.Scope, firstH, firstC *amp.Tensor, run spanRun) (pieces []*amp.Tensor, h, c *amp.Tensor) {
	rows := 0
	for i := len(p.spans) - 1; i >= 0; i-- {
		at := p.spans[i]
		var y *amp.Tensor
		y, h, c = run(at, joinRows(s, h, firstH, rows, at.rows), joinRows(s, c, firstC, rows, at.rows))
		pieces = slices.Insert(pieces, 0, y)
		rows = at.rows
	}
	return pieces, h, c
}

// rowsOf returns rows from … to-1, nil of nil.
func rowsOf(s *amp.Scope, t *amp.Tensor, from, to int) *amp.Tensor {
	if t == nil || from == 0 && to == t.Dim(0) {
		return t
	}
	return amp.Narrow(s, t, 0, from, to-from)
}

// stackRows joins states one below the other; nil where there are none.
func stackRows(s *amp.Scope, parts []*amp.Tensor) *amp.Tensor {
	if parts[0] == nil || len(parts) == 1 {
		return parts[0]
	}
	return amp.Cat(s, 0, parts...)
}

// joinRows adds the rows from … to-1 of the first states, or zeros, to the states of the rows before them.
func joinRows(s *amp.Scope, now, first *amp.Tensor, from, to int) *amp.Tensor {
	switch {
	case now == nil:
		return rowsOf(s, first, from, to)
	case from == to:
		return now
	case first == nil:
		return amp.Cat(s, 0, now, s.Own(amp.Zeros(s, now.DType(), to-from, now.Dim(1))))
	}
	return amp.Cat(s, 0, now, rowsOf(s, first, from, to))
}
