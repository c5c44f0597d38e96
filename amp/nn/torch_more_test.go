package nn_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// torchMore is testdata/torch_more.json, which generate_more.py beside it wrote with torch.nn in float64. Layers here compute in float32.
type torchMore struct {
	Embeddings []struct {
		Name            string
		MaxNorm         float64 `json:"max_norm"`
		NormType        float64 `json:"norm_type"`
		State           [][2]any
		Y, Weight, Grad []float64
	}
	Projected []struct {
		torchRecurrent
		Packed bool
	}
	Transformers []torchTransformer
	Instances    []struct {
		Affine     bool
		Ys         [][]float64
		State      [][2]any
		Inputs     [][]float64
		Parameters []float64
	}
	Attentions []struct {
		BiasKV       bool `json:"bias_kv"`
		Zero, Masked bool
		State        [][2]any
		Y            []float64
		Inputs       [][]float64
		Parameters   []float64
	}
}

func readTorchMore(t *testing.T) torchMore {
	t.Helper()
	return readData[torchMore](t, "torch_more.json")
}

// TestMaxNormAsTorch: the rows looked up are shortened in the table, before they are returned, and get torch's gradients.
func TestMaxNormAsTorch(t *testing.T) {
	for _, c := range readTorchMore(t).Embeddings {
		root := amp.NewScope()
		p := c.NormType
		if p == 1e9 { // JSON has no infinity
			p = math.Inf(1)
		}
		e := nn.NewEmbedding(root, 6, 4, nn.PaddingRow(5), nn.MaxNorm(c.MaxNorm), nn.MaxNormType(p))
		prepare(t, e, c.State)
		y := e.Forward(root, amp.From([]int64{1, 3, 1, 0, 5, 3}, 2, 3))
		if !near(y.Float64s(), c.Y, 1e-6) || !near(e.Weight.Float64s(), c.Weight, 1e-6) {
			t.Errorf("%s: %v of the table %v, torch has %v of %v", c.Name, y.Float64s(), e.Weight.Float64s(), c.Y, c.Weight)
		}
		weighted(root, y).Backward()
		if g := e.Weight.Grad().Float64s(); !near(g, c.Grad, 1e-6) {
			t.Errorf("%s: gradient %v, torch has %v", c.Name, g, c.Grad)
		}
		root.Close()
	}
}

// TestMaxNormTrains: in a steady training step under autocast no row that was looked up is longer than it may be, and no buffer is taken.
func TestMaxNormTrains(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	e := nn.NewEmbedding(root, 20, 8, nn.MaxNorm(1))
	index := amp.From([]int64{3, 4, 4, 19})
	var before int64
	for s := range root.Steps(6) {
		half := s.Autocast(amp.Float16)
		e.Weight.ZeroGrad()
		amp.Sum(half, amp.Square(half, e.Forward(half, index))).Backward()
		if s.Step() == 2 {
			before = amp.MemStats()[e.Weight.Device()].NewBuffers
		}
	}
	if n := amp.MemStats()[e.Weight.Device()].NewBuffers - before; n != 0 {
		t.Errorf("three steady steps took %d buffers", n)
	}
	norms := amp.Norm(root, amp.Detach(root, e.Weight), -1).Float64s()
	for _, i := range []int{3, 4, 19} {
		if norms[i] > 1 || norms[i] < 0.999 {
			t.Errorf("row %d has a norm of %v", i, norms[i])
		}
	}
	if norms[0] < 1.01 {
		t.Errorf("row 0, which nobody asked for, has a norm of %v", norms[0])
	}
}

// TestProjectedAsTorch compares LSTMs whose state is projected, on whole sequences and on some of different lengths.
func TestProjectedAsTorch(t *testing.T) {
	for _, c := range readTorchMore(t).Projected {
		root := amp.NewScope()
		what := fmt.Sprintf("bidirectional=%v packed=%v", c.Bidirectional, c.Packed)
		net := nn.NewLSTM(root, 3, 4, nn.RecurrentOptions{Layers: 2, Bidirectional: c.Bidirectional, NoBias: c.Packed, ProjSize: 2})
		prepare(t, net, c.State)
		n := 2
		if c.Bidirectional {
			n = 4
		}
		x, h, cell := filled(1, 6, 5, 3).RequireGrad(), filled(2, n, 5, 2).RequireGrad(), filled(3, n, 5, 4).RequireGrad()
		var y *amp.Tensor
		state := nn.RecurrentState{H: h, C: cell}
		if c.Packed {
			y, state = net.RunLengths(root, x, amp.From(c.Lengths), state)
		} else {
			y, state = net.Run(root, x, state)
		}
		if !near(y.Float64s(), c.Y, 2e-5) || !near(state.H.Float64s(), c.Last[0], 2e-5) || !near(state.C.Float64s(), c.Last[1], 2e-5) {
			t.Errorf("%s: %v, torch has %v", what, y.Float64s(), c.Y)
		}
		sameGradients(t, what, weighted(root, y, state.H, state.C), []*amp.Tensor{x, h, cell}, net, c.Inputs, c.Parameters)
		if y := net.Forward(root, amp.Select(root, x, 1, 0)); len(y.Shape()) != 2 || y.Dim(1) != n {
			t.Errorf("%s: without a batch %v", what, y.Shape())
		}
		root.Close()
	}
}

// TestBiaslessAsTorch compares transformers without biases.
func TestBiaslessAsTorch(t *testing.T) {
	for _, c := range readTorchMore(t).Transformers {
		root := amp.NewScope()
		what := fmt.Sprintf("norm_first=%v", c.NormFirst)
		m := nn.NewTransformer(root, nn.TransformerConfig{Features: 8, Heads: 2, EncoderLayers: 2, DecoderLayers: 2, Hidden: 12,
			Options: nn.TransformerOptions{PreNorm: c.NormFirst, NoBias: true}})
		prepare(t, m, c.State)
		source, target := filled(1, 2, 5, 8).RequireGrad(), filled(2, 2, 4, 8).RequireGrad()
		y := m.Run(root, source, target, nn.TransformerMasks{})
		if !near(y.Float64s(), c.Y, 2e-5) {
			t.Errorf("%s: %v, torch has %v", what, y.Float64s(), c.Y)
		}
		sameGradients(t, what, weighted(root, y), []*amp.Tensor{target, source}, m, c.Inputs, c.Parameters)
		root.Close()
	}
}

// TestInstanceStatsAsTorch compares instance norms that keep running statistics, in training and in evaluation.
func TestInstanceStatsAsTorch(t *testing.T) {
	for _, c := range readTorchMore(t).Instances {
		root := amp.NewScope()
		opts := []nn.NormOption{nn.TrackRunningStats(), nn.Momentum(0.3)}
		if c.Affine {
			opts = append(opts, nn.Affine())
		}
		net := nn.NewInstanceNorm2d(root, 3, opts...)
		for _, p := range net.Parameters() {
			amp.Assign(p, filled(4, 3))
		}
		x := filled(1, 2, 3, 4, 5).RequireGrad()
		ys := []*amp.Tensor{net.Forward(root, x), net.Forward(root, filled(7, 4, 3, 2, 2))}
		ys = append(ys, net.Forward(root.Eval(), x))
		for i, y := range ys {
			if !near(y.Float64s(), c.Ys[i], 2e-5) {
				t.Errorf("affine=%v, output %d: %v, torch has %v", c.Affine, i, y.Float64s(), c.Ys[i])
			}
		}
		for name, got := range nn.StateDict(net) {
			found := false
			for _, entry := range c.State {
				if found = found || entry[0] == name; entry[0] != name {
					continue
				}
				var want []float64
				for _, v := range entry[1].([]any) {
					want = append(want, v.(float64))
				}
				if !near(got.Float64s(), want, 1e-6) {
					t.Errorf("affine=%v: %s is %v, torch has %v", c.Affine, name, got.Float64s(), want)
				}
			}
			if !found {
				t.Errorf("affine=%v: torch has no %s", c.Affine, name)
			}
		}
		if n := len(nn.StateDict(net)); n != len(c.State) {
			t.Errorf("affine=%v: %d tensors of state, torch has %d", c.Affine, n, len(c.State))
		}
		sameGradients(t, fmt.Sprint("affine=", c.Affine), weighted(root, ys[0], ys[2]), []*amp.Tensor{x}, net, c.Inputs, c.Parameters)
		root.Close()
	}
}

// TestMoreKeysAsTorch compares attention with a learned key, one of zeros, and both, with and without masks.
func TestMoreKeysAsTorch(t *testing.T) {
	for _, c := range readTorchMore(t).Attentions {
		root := amp.NewScope()
		what := fmt.Sprintf("bias_kv=%v zero=%v masked=%v", c.BiasKV, c.Zero, c.Masked)
		m := nn.NewMultiheadAttention(root, 8, 2, nn.AttentionOptions{BiasKV: c.BiasKV, ZeroAttn: c.Zero})
		prepare(t, m, c.State)
		q, k := filled(1, 2, 4, 8).RequireGrad(), filled(2, 2, 5, 8).RequireGrad()
		var mask *amp.Tensor
		if c.Masked { // torch's mask has true where a key is 2 or more places behind
			seen := amp.Tril(root, amp.Full(root, amp.Bool, 1, 4, 5), 1)
			mask = amp.LogicalAnd(root, seen, nn.KeyPaddingMask(root, nn.LengthMask(root, amp.From([]int64{5, 3}), 5)))
		}
		y := m.Attend(root, q, k, k, mask, false)
		if !near(y.Float64s(), c.Y, 2e-5) {
			t.Errorf("%s: %v, torch has %v", what, y.Float64s(), c.Y)
		}
		sameGradients(t, what, weighted(root, y), []*amp.Tensor{q, k}, m, c.Inputs, c.Parameters)
		keys := 5
		for _, more := range []bool{c.BiasKV, c.Zero} {
			if more {
				keys++
			}
		}
		w := m.Weights(root, q, k, nil, true)
		if w.Dim(-1) != keys {
			t.Errorf("%s: weights %v, want %d keys", what, w.Shape(), keys)
		}
		if first := amp.Select(root, amp.Select(root, amp.Select(root, w, 0, 0), 0, 0), 0, 0).Float64s(); first[1] != 0 || first[keys-1] == 0 {
			t.Errorf("%s: the first query of a causal pattern has weights %v", what, first)
		}
		root.Close()
	}
}

// TestMoreLayersRefuse what they can't be.
func TestMoreLayersRefuse(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	for name, f := range map[string]func(){
		"no norm":         func() { nn.NewEmbedding(root, 4, 3, nn.MaxNorm(0)) },
		"negative norm":   func() { nn.NewEmbedding(root, 4, 3, nn.MaxNorm(-1)) },
		"norm type":       func() { nn.NewEmbedding(root, 4, 3, nn.MaxNorm(1), nn.MaxNormType(0)) },
		"as many":         func() { nn.NewLSTM(root, 4, 3, nn.RecurrentOptions{ProjSize: 3}) },
		"negative":        func() { nn.NewLSTM(root, 4, 3, nn.RecurrentOptions{ProjSize: -1}) },
		"GRU":             func() { nn.NewGRU(root, 4, 3, nn.RecurrentOptions{ProjSize: 2}) },
		"cumulative norm": func() { nn.NewInstanceNorm2d(root, 3, nn.TrackRunningStats(), nn.CumulativeAverage()) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
