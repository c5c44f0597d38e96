package amp

import (
	"fmt"
	"math"
	"testing"
)

// drawRecurrent draws a recurrent layer, or a cell, of any size; its outputs one after another.
func (r sizeDraw) drawRecurrent(most int) *drawnCall {
	kind, steps, batch, in, hidden := r.IntN(3), 1+r.IntN(9), r.size(40), r.size(70), r.size(70)
	alone, reverse, biased, given := r.coin(5), r.coin(2), !r.coin(4), !r.coin(4)
	if alone {
		steps = 1
	}
	for steps*batch*hidden*(in+hidden) > 8*most {
		switch r.IntN(4) {
		case 0:
			batch = batch/2 + 1
		case 1:
			in = in/2 + 1
		case 2:
			hidden = hidden/2 + 1
		case 3:
			steps, most = (steps+1)/2, most+1
		}
	}
	gates, states := []int{1, 3, 4}[kind], []int{1, 1, 2}[kind]
	rows, large := gates*hidden, 1.5/math.Sqrt(float64(max(in, hidden)))
	c := &drawnCall{lo: -large, hi: large, steep: 1}
	x := []int{steps, batch, in}
	if alone {
		x = x[1:]
	}
	c.operands = append(c.operands, r.operand(x...), r.operand(rows, in), r.operand(rows, hidden))
	if biased {
		c.operands = append(c.operands, r.operand(rows), r.operand(rows))
	}
	at := len(c.operands)
	if given {
		for range states {
			c.operands = append(c.operands, r.operand(batch, hidden))
		}
	}
	c.name = fmt.Sprintf("%s alone %v, reverse %v, biases %v, states given %v, steps %d batch %d in %d hidden %d", []string{"rnn_tanh", "gru", "lstm"}[kind], alone, reverse, biased, given, steps, batch, in, hidden)
	c.call = func(s *Scope, in []*Tensor) *Tensor {
		w, h := CellWeights{IH: in[1], HH: in[2]}, [2]*Tensor{}
		if biased {
			w.BiasIH, w.BiasHH = in[3], in[4]
		}
		copy(h[:], in[at:])
		var out [3]*Tensor
		switch {
		case kind == 0 && alone:
			out[0] = RNNTanhCell(s, in[0], h[0], w)
		case kind == 1 && alone:
			out[0] = GRUCell(s, in[0], h[0], w)
		case alone:
			out[0], out[1] = LSTMCell(s, in[0], h[0], h[1], w)
		case kind == 0:
			out[0], out[1] = RNNTanh(s, in[0], h[0], w, reverse)
		case kind == 1:
			out[0], out[1] = GRU(s, in[0], h[0], w, reverse)
		default:
			out[0], out[1], out[2] = LSTM(s, in[0], h[0], h[1], w, reverse)
		}
		var flat []*Tensor
		for _, t := range out {
			if t != nil {
				flat = append(flat, Reshape(s, t, -1))
			}
		}
		return Cat(s, 0, flat...)
	}
	c.want = func(list [][]float64) []float64 {
		state := [2][]float64{make([]float64, batch*hidden), make([]float64, batch*hidden)}
		for k, l := range list[at:] {
			copy(state[k], l)
		}
		y := make([]float64, steps*batch*hidden)
		for t := range steps {
			if reverse && !alone {
				t = steps - 1 - t
			}
			next := [2][]float64{make([]float64, batch*hidden), make([]float64, batch*hidden)}
			for b := range batch {
				var fromX, fromH [4]float64
				for j := range hidden {
					for g := range gates {
						fromX[g], fromH[g] = 0, 0
						row := g*hidden + j
						for k := range in {
							fromX[g] += list[1][row*in+k] * list[0][(t*batch+b)*in+k]
						}
						for k := range hidden {
							fromH[g] += list[2][row*hidden+k] * state[0][b*hidden+k]
						}
						if biased {
							fromX[g] += list[3][row]
							fromH[g] += list[4][row]
						}
					}
					i, old := b*hidden+j, state[0][b*hidden+j]
					open := func(g int) float64 { return 1 / (1 + math.Exp(-fromX[g]-fromH[g])) }
					switch kind {
					case 0:
						next[0][i] = math.Tanh(fromX[0] + fromH[0])
					case 1:
						fresh := math.Tanh(fromX[2] + open(0)*fromH[2])
						next[0][i] = (1-open(1))*fresh + open(1)*old
					case 2:
						next[1][i] = open(1)*state[1][i] + open(0)*math.Tanh(fromX[2]+fromH[2])
						next[0][i] = open(3) * math.Tanh(next[1][i])
					}
				}
			}
			state = next
			copy(y[t*batch*hidden:], state[0])
		}
		if !alone {
			y = append(y, state[0]...)
		}
		if kind == 2 {
			y = append(y, state[1]...)
		}
		return y
	}
	return c
}

func TestDrawnRecurrent(t *testing.T) { drawn(t, 60, 1<<16, sizeDraw.drawRecurrent) }
