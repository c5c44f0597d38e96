package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// Two sequences of 3 steps and 1.
func ExampleRecurrent_RunLengths() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := nn.NewGRU(root, 4, 1, nn.RecurrentOptions{BatchFirst: true})
	x := amp.Randn(root, amp.Float32, 0, 1, 2, 3, 4)
	y, last := net.RunLengths(root, x, amp.From([]int64{3, 1}), nn.RecurrentState{})
	v, h := y.Float64s(), last.H.Float64s()
	fmt.Println(y.Shape(), v[4], v[5], h[0] == v[2], h[1] == v[3])
	// Output: [2 3 1] 0 0 true true
}

type torchRecurrent struct {
	Name          string
	Bidirectional bool
	Lengths       []int64
	State         [][2]any
	Y             []float64
	Last, Inputs  [][]float64
	Parameters    []float64
}

func TestRecurrentLengthsAsTorch(t *testing.T) {
	for _, c := range readTorch(t).Recurrent {
		for _, batchFirst := range []bool{false, true} {
			root := amp.NewScope()
			what := fmt.Sprintf("%s bidirectional=%v batch first=%v", c.Name, c.Bidirectional, batchFirst)
			opts := nn.RecurrentOptions{Layers: 2, Bidirectional: c.Bidirectional, BatchFirst: batchFirst}
			n := 2
			if c.Bidirectional {
				n = 4
			}
			x := filled(1, 6, 5, 3).RequireGrad()
			state := nn.RecurrentState{H: filled(2, n, 5, 4).RequireGrad()}
			inputs := []*amp.Tensor{x, state.H}
			var net *nn.Recurrent
			switch c.Name {
			case "RNN":
				net = &nn.NewRNN(root, 3, 4, opts).Recurrent
			case "GRU":
				net = &nn.NewGRU(root, 3, 4, opts).Recurrent
			case "LSTM":
				net = &nn.NewLSTM(root, 3, 4, opts).Recurrent
				state.C = filled(3, n, 5, 4).RequireGrad()
				inputs = append(inputs, state.C)
			}
			prepare(t, net, c.State)
			in := x
			if batchFirst {
				in = amp.Transpose(root, x, 0, 1)
			}
			y, last := net.RunLengths(root, in, amp.From(c.Lengths), state)
			if batchFirst {
				y = amp.Transpose(root, y, 0, 1)
			}
			outputs := []*amp.Tensor{y, last.H}
			if last.C != nil {
				outputs = append(outputs, last.C)
			}
			for i, want := range slices.Concat([][]float64{c.Y}, c.Last) {
				if got := outputs[i].Float64s(); !near(got, want, 1e-5) {
					t.Errorf("%s: output %d is %v, torch's %v", what, i, got, want)
				}
			}
			sameGradients(t, what, weighted(root, outputs...), inputs, net, c.Inputs, c.Parameters)
			root.Close()
		}
	}
}

// TestRecurrentLengths: each sequence runs as it does alone, whatever lies behind it, and equal lengths give what Run does.
func TestRecurrentLengths(t *testing.T) {
	root := amp.NewScope(amp.Seed(12))
	defer root.Close()
	lengths := []int64{3, 6, 3, 1}
	for name, net := range recurrents(root, 3, 4, nn.RecurrentOptions{Layers: 2, Bidirectional: true}) {
		x := amp.Randn(root, amp.Float32, 0, 1, 7, 4, 3)
		keep := amp.Unsqueeze(root, amp.Transpose(root, nn.LengthMask(root, amp.From(lengths), 7), 0, 1), -1)
		x = amp.Where(root, keep, x, amp.Scalar(float32(math.NaN())))
		y, last := net.RunLengths(root, x, amp.From(lengths), nn.RecurrentState{})
		for i, n := range lengths {
			alone, state := net.Run(root, amp.Narrow(root, amp.Narrow(root, x, 1, i, 1), 0, 0, int(n)), nn.RecurrentState{})
			got := amp.Narrow(root, y, 1, i, 1)
			if !near(amp.Narrow(root, got, 0, 0, int(n)).Float64s(), alone.Float64s(), 1e-6) || amp.SumOfSquares(amp.Contiguous(root, amp.Narrow(root, got, 0, int(n), 7-int(n)))) != 0 {
				t.Errorf("%s: sequence %d is %v, alone %v", name, i, got.Float64s(), alone.Float64s())
			}
			if h := amp.Narrow(root, last.H, 1, i, 1).Float64s(); !near(h, state.H.Float64s(), 1e-6) {
				t.Errorf("%s: state of sequence %d is %v, alone %v", name, i, h, state.H.Float64s())
			}
			if state.C != nil && !near(amp.Narrow(root, last.C, 1, i, 1).Float64s(), state.C.Float64s(), 1e-6) {
				t.Errorf("%s: cell state of sequence %d differs", name, i)
			}
		}
		x = amp.Randn(root, amp.Float32, 0, 1, 7, 4, 3)
		half := root.Autocast(amp.Float16)
		y, last = net.RunLengths(half, x, amp.From([]int64{7, 7, 7, 7}), nn.RecurrentState{})
		want, state := net.Run(half, x, nn.RecurrentState{})
		if !slices.Equal(y.Float64s(), want.Float64s()) || !slices.Equal(last.H.Float64s(), state.H.Float64s()) || y.DType() != want.DType() {
			t.Errorf("%s: full lengths differ from none", name)
		}
		y, _ = net.RunLengths(half, x, amp.From(lengths), nn.RecurrentState{H: amp.Randn(root, amp.Float32, 0, 1, 4, 4, 4)})
		amp.Sum(root, amp.Mul(root, y, y)).Backward()
		for _, p := range net.Parameters() {
			if g := p.Grad(); g == nil || !(amp.SumOfSquares(g) > 0) {
				t.Errorf("%s: %s has no gradient in float16", name, p.Name())
			}
		}
	}
}

func TestRecurrentLengthErrors(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	net := nn.NewGRU(root, 3, 4, nn.RecurrentOptions{})
	x := amp.Zeros(root, amp.Float32, 5, 2, 3)
	for name, c := range map[string]struct {
		kind    error
		x       *amp.Tensor
		lengths *amp.Tensor
	}{
		"none":   {amp.ErrArgument, x, amp.From([]int64{0, 5})},
		"beyond": {amp.ErrArgument, x, amp.From([]int64{1, 6})},
		"fewer":  {amp.ErrShape, x, amp.From([]int64{1})},
		"floats": {amp.ErrDType, x, amp.From([]float32{1, 2})},
		"alone":  {amp.ErrShape, amp.Zeros(root, amp.Float32, 5, 3), amp.From([]int64{1})},
	} {
		if err := amp.Maybe(func() { net.RunLengths(root, c.x, c.lengths, nn.RecurrentState{}) }); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
