package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// attendByHand is multi-head attention of one sequence, written head by head from its definition.
func attendByHand(m *nn.MultiheadAttention, q, k, v [][]float64, allowed func(h, i, j int) bool) (out [][]float64, weights []float64) {
	rows := func(x *amp.Tensor, n int) [][]float64 {
		data := x.Float64s()
		out := make([][]float64, len(data)/n)
		for i := range out {
			out[i] = data[i*n : (i+1)*n]
		}
		return out
	}
	e := m.OutProj.Weight.Dim(0)
	d := e / m.Heads
	var w [3][][]float64
	if m.InProjWeight != nil {
		all := rows(m.InProjWeight, e)
		w = [3][][]float64{all[:e], all[e : 2*e], all[2*e:]}
	} else {
		for i, t := range []*amp.Tensor{m.QProjWeight, m.KProjWeight, m.VProjWeight} {
			w[i] = rows(t, t.Dim(1))
		}
	}
	bias := make([]float64, 3*e)
	if m.InProjBias != nil {
		bias = m.InProjBias.Float64s()
	}
	affine := func(w [][]float64, b []float64, x []float64) []float64 {
		y := make([]float64, len(w))
		for i, row := range w {
			y[i] = b[i]
			for k, v := range x {
				y[i] += row[k] * v
			}
		}
		return y
	}
	project := func(part int, xs [][]float64) (out [][]float64) {
		for _, x := range xs {
			out = append(out, affine(w[part], bias[part*e:(part+1)*e], x))
		}
		return out
	}
	qs, ks, vs := project(0, q), project(1, k), project(2, v)
	mixed := make([][]float64, len(q))
	for i := range mixed {
		mixed[i] = make([]float64, e)
	}
	for h := range m.Heads {
		for i := range qs {
			p, sum := make([]float64, len(ks)), 0.0
			for j := range ks {
				if !allowed(h, i, j) {
					continue
				}
				dot := 0.0
				for x := h * d; x < (h+1)*d; x++ {
					dot += qs[i][x] * ks[j][x]
				}
				p[j] = math.Exp(dot / math.Sqrt(float64(d)))
				sum += p[j]
			}
			for j := range ks {
				weights = append(weights, p[j]/sum)
				for x := h * d; x < (h+1)*d; x++ {
					mixed[i][x] += p[j] / sum * vs[j][x]
				}
			}
		}
	}
	ob := make([]float64, e)
	if m.OutProj.Bias != nil {
		ob = m.OutProj.Bias.Float64s()
	}
	for _, x := range mixed {
		out = append(out, affine(rows(m.OutProj.Weight, e), ob, x))
	}
	return out, weights
}

func matrix(s *amp.Scope, rows, cols int) (*amp.Tensor, [][]float64) {
	t := amp.Randn(s, amp.Float64, 0, 1, rows, cols)
	data, out := t.Float64s(), make([][]float64, rows)
	for i := range out {
		out[i] = data[i*cols : (i+1)*cols]
	}
	return t, out
}

func TestMultiheadAttentionByHand(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	everywhere := func(h, i, j int) bool { return true }
	var flags []bool
	for h := range 2 {
		for i := range 3 {
			for j := range 5 {
				flags = append(flags, (h+i+j)%3 != 0)
			}
		}
	}
	for name, c := range map[string]struct {
		opts    nn.AttentionOptions
		mask    *amp.Tensor
		causal  bool
		allowed func(h, i, j int) bool
	}{
		"cross":   {nn.AttentionOptions{}, nil, false, everywhere},
		"bare":    {nn.AttentionOptions{NoBias: true}, nil, true, func(h, i, j int) bool { return j <= i }},
		"padding": {nn.AttentionOptions{}, amp.From([]bool{true, true, true, false, false}, 1, 5), false, func(h, i, j int) bool { return j < 3 }},
		"mask":    {nn.AttentionOptions{KeyFeatures: 3, ValueFeatures: 7}, amp.From(flags, 2, 3, 5), false, func(h, i, j int) bool { return flags[(h*3+i)*5+j] }},
	} {
		c.opts.DType = amp.Float64
		m := nn.NewMultiheadAttention(root, 6, 2, c.opts)
		for _, p := range m.Parameters() { // biases start at zero
			amp.Assign(p, amp.Randn(root, amp.Float64, 0, 1, p.Shape()...))
		}
		kf, vf := max(c.opts.KeyFeatures, 0), c.opts.ValueFeatures
		if kf == 0 {
			kf, vf = 6, 6
		}
		q, qs := matrix(root, 3, 6)
		k, ks := matrix(root, 5, kf)
		v, vs := matrix(root, 5, vf)
		want, weights := attendByHand(m, qs, ks, vs, c.allowed)
		got := m.Attend(root, q, k, v, c.mask, c.causal)
		if !near(got.Float64s(), slices.Concat(want...), 1e-12) {
			t.Errorf("%s: %v, want %v", name, got.Float64s(), want)
		}
		if w := m.Weights(root, q, k, c.mask, c.causal); !slices.Equal(w.Shape(), []int{2, 3, 5}) || !near(w.Float64s(), weights, 1e-12) {
			t.Errorf("%s: weights %v, want %v", name, w.Float64s(), weights)
		}
		// A batch of the same sequence twice.
		twice := func(x *amp.Tensor) *amp.Tensor { return amp.Stack(root, 0, x, x) }
		if both := m.Attend(root, twice(q), twice(k), twice(v), c.mask, c.causal).Float64s(); !near(both, append(slices.Concat(want...), slices.Concat(want...)...), 1e-12) {
			t.Errorf("%s: a batch differs", name)
		}
	}
}

func TestMultiheadAttentionParameters(t *testing.T) {
	root := amp.NewScope(amp.Seed(2), amp.Record(amp.Decisions))
	defer root.Close()
	m := nn.NewMultiheadAttention(root, 32, 4, nn.AttentionOptions{})
	var names []string
	for _, p := range m.Parameters() {
		names = append(names, fmt.Sprint(p.Name(), p.Shape()))
	}
	if !slices.Equal(names, []string{"in_proj_weight[96 32]", "in_proj_bias[96]", "out_proj.weight[32 32]", "out_proj.bias[32]"}) {
		t.Error(names)
	}
	largest := func(p *amp.Tensor) (most float64) {
		for _, v := range p.Float64s() {
			most = math.Max(most, math.Abs(v))
		}
		return most
	}
	if b := math.Sqrt(6.0 / 128); largest(m.InProjWeight) > b || largest(m.InProjWeight) < 0.98*b {
		t.Errorf("in_proj_weight up to %v, want %v", largest(m.InProjWeight), b)
	}
	if largest(m.InProjBias) != 0 || largest(m.OutProj.Bias) != 0 || largest(m.OutProj.Weight) > 1/math.Sqrt(32) {
		t.Error("biases or output weight")
	}
	half := root.Autocast(amp.Float16)
	y := m.Forward(half, amp.Randn(root, amp.Float32, 0, 1, 2, 5, 32))
	amp.Mean(root, amp.Mul(root, y, y)).Backward()
	for _, p := range m.Parameters() {
		if g := p.Grad(); g == nil || amp.SumOfSquares(g) == 0 {
			t.Errorf("%s has no gradient", p.Name())
		}
	}
	for _, e := range root.Trace().Events {
		if (e.Op == "linear" || e.Op == "scaled_dot_product_attention") && e.Compute != amp.Float16 {
			t.Errorf("%s ran in %v", e.Op, e.Compute)
		}
	}
	x := amp.Randn(root, amp.Float32, 0, 1, 5, 32)
	dropping := nn.NewMultiheadAttention(root, 32, 4, nn.AttentionOptions{Dropout: 0.5})
	if slices.Equal(dropping.Forward(root, x).Float64s(), dropping.Forward(root.Eval(), x).Float64s()) {
		t.Error("no dropout in training")
	}
	for name, f := range map[string]func(){
		"heads":   func() { nn.NewMultiheadAttention(root, 5, 2, nn.AttentionOptions{}) },
		"sizes":   func() { nn.NewMultiheadAttention(root, 0, 1, nn.AttentionOptions{}) },
		"dropout": func() { nn.NewMultiheadAttention(root, 4, 1, nn.AttentionOptions{Dropout: -1}) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := amp.Maybe(func() { m.Forward(root, amp.From([]float32{1})) }); !errors.Is(err, amp.ErrShape) {
		t.Error(err)
	}
}

// TestTransformerEncoderLayer compares both orders of norms with the sums they stand for.
func TestTransformerEncoderLayer(t *testing.T) {
	root := amp.NewScope(amp.Seed(3))
	defer root.Close()
	x := amp.Randn(root, amp.Float32, 0, 1, 2, 5, 8)
	for _, pre := range []bool{false, true} {
		l := nn.NewTransformerEncoderLayer(root, 8, 2, 16, nn.TransformerOptions{PreNorm: pre, Causal: true, Activation: nn.GELU})
		for _, n := range []*nn.LayerNorm{l.Norm1, l.Norm2} { // ones and zeros would hide a swap
			amp.Assign(n.Weight, amp.Rand(root, amp.Float32, 0.5, 1.5, 8))
			amp.Assign(n.Bias, amp.Rand(root, amp.Float32, -1, 1, 8))
		}
		attend := func(y *amp.Tensor) *amp.Tensor { return l.SelfAttn.Attend(root, y, y, y, nil, true) }
		feed := func(y *amp.Tensor) *amp.Tensor {
			return l.Linear2.Forward(root, amp.GELU(root, l.Linear1.Forward(root, y)))
		}
		var want *amp.Tensor
		if pre {
			want = amp.Add(root, x, attend(l.Norm1.Forward(root, x)))
			want = amp.Add(root, want, feed(l.Norm2.Forward(root, want)))
		} else {
			want = l.Norm1.Forward(root, amp.Add(root, x, attend(x)))
			want = l.Norm2.Forward(root, amp.Add(root, want, feed(want)))
		}
		if got := l.Forward(root, x); !slices.Equal(got.Float64s(), want.Float64s()) {
			t.Errorf("pre-norm %v differs", pre)
		}
		var names []string
		for _, p := range l.Parameters() {
			names = append(names, p.Name())
		}
		if !slices.Equal(names, []string{"self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight", "self_attn.out_proj.bias",
			"linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias", "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"}) {
			t.Error(names)
		}
	}
	l := nn.NewTransformerEncoderLayer(root, 8, 2, 16, nn.TransformerOptions{})
	mask := amp.From([]bool{true, true, false, false, false}, 1, 5)
	a := l.Run(root, x, mask)
	changed := amp.Cat(root, 1, amp.Narrow(root, x, 1, 0, 2), amp.Randn(root, amp.Float32, 0, 1, 2, 3, 8))
	if b := l.Run(root, changed, mask); !slices.Equal(amp.Narrow(root, a, 1, 0, 2).Float64s(), amp.Narrow(root, b, 1, 0, 2).Float64s()) {
		t.Error("masked positions are seen")
	}
}

func TestPositions(t *testing.T) {
	root := amp.NewScope(amp.Seed(4))
	defer root.Close()
	table := nn.SinusoidalPositions(root, amp.Float64, 3, 4).Float64s()
	want := []float64{0, 1, 0, 1, math.Sin(1), math.Cos(1), math.Sin(0.01), math.Cos(0.01), math.Sin(2), math.Cos(2), math.Sin(0.02), math.Cos(0.02)}
	if !near(table, want, 1e-12) {
		t.Errorf("%v, want %v", table, want)
	}
	x := amp.Randn(root, amp.Float32, 0, 1, 2, 3, 4)
	fixed, learned := nn.NewPositionalEncoding(root, 5, 4), nn.NewLearnedPositions(root, 5, 4)
	if len(fixed.Parameters()) != 0 || len(learned.Parameters()) != 1 {
		t.Error("parameters")
	}
	y := amp.Sub(root, fixed.Forward(root, x), x).Float64s()
	if !near(y[12:], table, 1e-6) {
		t.Errorf("%v", y[12:])
	}
	amp.Sum(root, learned.Forward(root, x)).Backward()
	if g := learned.Table.Grad().Float64s(); !slices.Equal(g[:12], slices.Repeat([]float64{2}, 12)) || !slices.Equal(g[12:], make([]float64, 8)) {
		t.Error(g)
	}
	if err := amp.Maybe(func() { fixed.Forward(root, amp.Full(root, amp.Float32, 0, 6, 4)) }); !errors.Is(err, amp.ErrShape) {
		t.Error(err)
	}
	if err := amp.Maybe(func() { nn.NewPositionalEncoding(root, 5, 3) }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
}

// TestAttentionOfOtherBatches: a memory of one sequence is not repeated for a batch, nor a target for a batch of memories.
func TestAttentionOfOtherBatches(t *testing.T) {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	one, three := amp.Ones(s, amp.Float32, 1, 5, 8), amp.Ones(s, amp.Float32, 3, 4, 8)
	layer := nn.NewTransformerDecoderLayer(s, 8, 2, 16, nn.TransformerOptions{})
	m := layer.MultiheadAttn
	for want, f := range map[string]func(){
		"queries [3 4 8], keys [1 5 8]: the batches differ": func() { layer.Run(s, three, one, nil, nil) },
		"queries [1 5 8], keys [3 4 8]: the batches differ": func() { layer.Run(s, one, three, nil, nil) },
		"keys [1 5 8], values [3 4 8]: the batches differ":  func() { m.Attend(s, one, one, three, nil, false) },
		"keys [3 4 8], values [3 2 8]":                      func() { m.Attend(s, three, three, amp.Ones(s, amp.Float32, 3, 2, 8), nil, false) },
		"queries [3 4 8], keys [4 8]: the batches differ":   func() { m.Weights(s, three, amp.Ones(s, amp.Float32, 4, 8), nil, false) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrShape) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if y := m.Attend(s, three, amp.Expand(s, one, 3, 5, 8), amp.Expand(s, one, 3, 5, 8), nil, false); y.Dim(0) != 3 {
		t.Error(y.Shape())
	}
}
