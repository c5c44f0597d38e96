package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

func near(a, b []float64, tol float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= tol*(1+math.Abs(y)) })
}

// recurrents makes one of each network.
func recurrents(s *amp.Scope, in, hidden int, o nn.RecurrentOptions) map[string]*nn.Recurrent {
	relu := o
	relu.ReLU = true
	return map[string]*nn.Recurrent{
		"rnn": &nn.NewRNN(s, in, hidden, o).Recurrent, "relu": &nn.NewRNN(s, in, hidden, relu).Recurrent,
		"gru": &nn.NewGRU(s, in, hidden, o).Recurrent, "lstm": &nn.NewLSTM(s, in, hidden, o).Recurrent,
	}
}

// TestRecurrentLayers builds two bidirectional layers of cells, step by step.
func TestRecurrentLayers(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	const steps, batch, in, hidden = 4, 3, 2, 5
	x := amp.Randn(root, amp.Float64, 0, 1, steps, batch, in)
	for kind, net := range recurrents(root, in, hidden, nn.RecurrentOptions{Layers: 2, Bidirectional: true, DType: amp.Float64}) {
		h0, c0 := amp.Randn(root, amp.Float64, 0, 1, 4, batch, hidden), amp.Randn(root, amp.Float64, 0, 1, 4, batch, hidden)
		start := nn.RecurrentState{H: h0}
		if kind == "lstm" {
			start.C = c0
		}
		y, last := net.Run(root, x, start)
		if !slices.Equal(y.Shape(), []int{steps, batch, 2 * hidden}) || !slices.Equal(last.H.Shape(), []int{4, batch, hidden}) || (last.C != nil) != (kind == "lstm") {
			t.Fatalf("%s: %v %v", kind, y.Shape(), last)
		}
		part := func(t *amp.Tensor, i int) *amp.Tensor {
			return amp.Reshape(root, amp.Narrow(root, t, 0, i, 1), t.Shape()[1:]...)
		}
		layer := x
		for l := range 2 {
			outs := make([][]*amp.Tensor, 2)
			for d := range 2 {
				p := net.Cells[2*l+d]
				w := amp.CellWeights{IH: p.WeightIH, HH: p.WeightHH, BiasIH: p.BiasIH, BiasHH: p.BiasHH}
				h, c := part(h0, 2*l+d), part(c0, 2*l+d)
				outs[d] = make([]*amp.Tensor, steps)
				for i := range steps {
					if d == 1 {
						i = steps - 1 - i
					}
					switch xi := part(layer, i); kind {
					case "rnn":
						h = amp.RNNTanhCell(root, xi, h, w)
					case "relu":
						h = amp.RNNReLUCell(root, xi, h, w)
					case "gru":
						h = amp.GRUCell(root, xi, h, w)
					case "lstm":
						h, c = amp.LSTMCell(root, xi, h, c, w)
					}
					outs[d][i] = h
				}
				if !near(part(last.H, 2*l+d).Float64s(), h.Float64s(), 1e-12) || kind == "lstm" && !near(part(last.C, 2*l+d).Float64s(), c.Float64s(), 1e-12) {
					t.Errorf("%s: last state of layer %d direction %d", kind, l, d)
				}
			}
			layer = amp.Cat(root, -1, amp.Stack(root, 0, outs[0]...), amp.Stack(root, 0, outs[1]...))
		}
		if !near(y.Float64s(), layer.Float64s(), 1e-12) {
			t.Errorf("%s: outputs differ from the cells'", kind)
		}
	}
}

// TestRecurrentLayouts: batch first, no batch, and a sequence in two pieces give what the plain call gives.
func TestRecurrentLayouts(t *testing.T) {
	root := amp.NewScope(amp.Seed(2))
	defer root.Close()
	x := amp.Randn(root, amp.Float64, 0, 1, 6, 2, 3)
	for kind, net := range recurrents(root, 3, 4, nn.RecurrentOptions{Layers: 2, DType: amp.Float64}) {
		y, last := net.Run(root, x, nn.RecurrentState{})
		a, mid := net.Run(root, amp.Narrow(root, x, 0, 0, 2), nn.RecurrentState{})
		b, end := net.Run(root, amp.Narrow(root, x, 0, 2, 4), mid)
		if !near(amp.Cat(root, 0, a, b).Float64s(), y.Float64s(), 1e-12) || !near(end.H.Float64s(), last.H.Float64s(), 1e-12) {
			t.Errorf("%s: two pieces differ", kind)
		}
		one := amp.Reshape(root, amp.Narrow(root, x, 1, 1, 1), 6, 3)
		z, state := net.Run(root, one, nn.RecurrentState{})
		if want := amp.Narrow(root, y, 1, 1, 1); !slices.Equal(z.Shape(), []int{6, 4}) || !near(z.Float64s(), want.Float64s(), 1e-12) || !slices.Equal(state.H.Shape(), []int{2, 4}) {
			t.Errorf("%s: without a batch", kind)
		}
		again, _ := net.Run(root, one, state)
		if long, _ := net.Run(root, amp.Cat(root, 0, one, one), nn.RecurrentState{}); !near(again.Float64s(), amp.Narrow(root, long, 0, 6, 6).Float64s(), 1e-12) {
			t.Errorf("%s: state without a batch", kind)
		}
	}
	first := nn.NewGRU(root, 3, 4, nn.RecurrentOptions{BatchFirst: true, DType: amp.Float64})
	plain := nn.NewGRU(root, 3, 4, nn.RecurrentOptions{DType: amp.Float64})
	plain.Cells = first.Cells
	if got := first.Forward(root, amp.Transpose(root, x, 0, 1)); !slices.Equal(got.Shape(), []int{2, 6, 4}) || !near(amp.Transpose(root, got, 0, 1).Float64s(), plain.Forward(root, x).Float64s(), 1e-12) {
		t.Error("batch first differs")
	}
}

// TestRecurrentParameters looks at names, sizes, range and gradients.
func TestRecurrentParameters(t *testing.T) {
	root := amp.NewScope(amp.Seed(3))
	defer root.Close()
	net := nn.NewLSTM(root, 7, 25, nn.RecurrentOptions{Layers: 2, Bidirectional: true})
	var names []string
	for _, p := range net.Parameters() {
		names = append(names, fmt.Sprint(p.Name(), p.Shape()))
	}
	want := []string{"weight_ih_l0[100 7]", "weight_hh_l0[100 25]", "bias_ih_l0[100]", "bias_hh_l0[100]",
		"weight_ih_l0_reverse[100 7]", "weight_hh_l0_reverse[100 25]", "bias_ih_l0_reverse[100]", "bias_hh_l0_reverse[100]",
		"weight_ih_l1[100 50]", "weight_hh_l1[100 25]", "bias_ih_l1[100]", "bias_hh_l1[100]",
		"weight_ih_l1_reverse[100 50]", "weight_hh_l1_reverse[100 25]", "bias_ih_l1_reverse[100]", "bias_hh_l1_reverse[100]"}
	if !slices.Equal(names, want) {
		t.Error(names)
	}
	loss := amp.Mean(root, net.Forward(root.Autocast(amp.Float16), amp.Randn(root, amp.Float32, 0, 1, 3, 2, 7)))
	loss.Backward()
	for _, p := range net.Parameters() {
		if g := p.Grad(); g == nil || g.DType() != amp.Float32 || amp.SumOfSquares(g) == 0 {
			t.Errorf("%s has no gradient", p.Name())
		}
		largest := 0.0
		for _, v := range p.Float64s() {
			largest = math.Max(largest, math.Abs(v))
		}
		if largest > 0.2 || largest < 0.18 {
			t.Errorf("%s goes up to %v, want 1/√25", p.Name(), largest)
		}
	}
	if n := nn.NewRNN(root, 2, 3, nn.RecurrentOptions{NoBias: true}); len(n.Parameters()) != 2 {
		t.Error("biases")
	}
	for name, cell := range map[string]nn.Module{"rnn": nn.NewRNNCell(root, 3, 4), "gru": nn.NewGRUCell(root, 3, 4, nn.NoBias()), "lstm": nn.NewLSTMCell(root, 3, 4, nn.DType(amp.Float32))} {
		y := cell.Forward(root, amp.Randn(root, amp.Float32, 0, 1, 2, 3))
		if !slices.Equal(y.Shape(), []int{2, 4}) || cell.Parameters()[0].Name() != "weight_ih" {
			t.Errorf("%s: %v", name, y.Shape())
		}
	}
}

// TestRecurrentDropout drops between layers while training, and nowhere else.
func TestRecurrentDropout(t *testing.T) {
	root := amp.NewScope(amp.Seed(4))
	defer root.Close()
	x := amp.Randn(root, amp.Float32, 0, 1, 3, 2, 4)
	net := nn.NewGRU(root, 4, 4, nn.RecurrentOptions{Layers: 2, Dropout: 0.5})
	eval, again := net.Forward(root.Eval(), x).Float64s(), net.Forward(root.Eval(), x).Float64s()
	if !slices.Equal(eval, again) || slices.Equal(eval, net.Forward(root, x).Float64s()) {
		t.Error("dropout in evaluation, or none in training")
	}
	one := nn.NewGRU(root, 4, 4, nn.RecurrentOptions{Dropout: 0.5})
	if !slices.Equal(one.Forward(root, x).Float64s(), one.Forward(root.Eval(), x).Float64s()) {
		t.Error("dropout after the last layer")
	}
}

// TestLSTMLearns: the sum of a sequence's signs, in float16 autocast.
func TestLSTMLearns(t *testing.T) {
	root := amp.NewScope(amp.Seed(5))
	defer root.Close()
	net, head := nn.NewLSTM(root, 1, 8, nn.RecurrentOptions{}), nn.NewLinear(root, 8, 1)
	opt := optim.NewAdam(append(net.Parameters(), head.Parameters()...), optim.LR(0.02))
	scaler := amp.NewGradScaler()
	x := amp.Rand(root, amp.Float32, -1, 1, 6, 32, 1)
	y := amp.Reshape(root, amp.Sum(root, amp.Sign(root, x), 0), 32, 1)
	first, last := 0.0, 0.0
	for s := range root.Steps(80) {
		half := s.Autocast(amp.Float16)
		_, state := net.Run(half, x, nn.RecurrentState{})
		loss := nn.MSELoss(half, head.Forward(half, amp.Reshape(half, state.H, 32, 8)), y)
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		scaler.Step(opt)
		scaler.Update()
		last = loss.Item()
		if s.Step() == 0 {
			first = last
		}
	}
	if !(last < first/3) {
		t.Errorf("loss from %v to %v", first, last)
	}
}

func TestRecurrentRefusals(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	net := nn.NewGRU(root, 3, 4, nn.RecurrentOptions{})
	x := amp.Full(root, amp.Float32, 0, 5, 2, 3)
	for name, c := range map[string]struct {
		call func()
		kind error
	}{
		"sizes":   {func() { nn.NewRNN(root, 0, 3, nn.RecurrentOptions{}) }, amp.ErrArgument},
		"cell":    {func() { nn.NewLSTMCell(root, 3, 0) }, amp.ErrArgument},
		"dropout": {func() { nn.NewLSTM(root, 3, 3, nn.RecurrentOptions{Dropout: 2}) }, amp.ErrArgument},
		"nil":     {func() { net.Forward(root, nil) }, amp.ErrArgument},
		"rank":    {func() { net.Forward(root, amp.Full(root, amp.Float32, 0, 3)) }, amp.ErrShape},
		"state":   {func() { net.Run(root, x, nn.RecurrentState{H: x}) }, amp.ErrShape},
		"c":       {func() { net.Run(root, x, nn.RecurrentState{C: x}) }, amp.ErrArgument},
		"steps":   {func() { net.Forward(root, amp.Full(root, amp.Float32, 0, 0, 2, 3)) }, amp.ErrShape},
		"in":      {func() { net.Forward(root, amp.Full(root, amp.Float32, 0, 5, 2, 9)) }, amp.ErrShape},
	} {
		if err := amp.Maybe(c.call); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
