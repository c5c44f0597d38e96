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

// A model that translates: sources of 5 and 3 tokens, targets of 4, in float16.
func ExampleTransformer() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := nn.NewTransformer(root, nn.TransformerConfig{
		Features: 16, Heads: 2, EncoderLayers: 1, DecoderLayers: 1, Hidden: 32,
		Options: nn.TransformerOptions{Causal: true, Activation: nn.GELU},
	})
	source, target := amp.Randn(root, amp.Float32, 0, 1, 2, 5, 16), amp.Randn(root, amp.Float32, 0, 1, 2, 4, 16)
	padding := nn.KeyPaddingMask(root, nn.LengthMask(root, amp.From([]int64{5, 3}), 5))

	half := root.Autocast(amp.Float16)
	y := net.Run(half, source, target, nn.TransformerMasks{Source: padding, Memory: padding})
	fmt.Println(y.Shape(), len(nn.StateDict(net)))
	fmt.Println(net)
	// Output:
	// [2 4 16] 34
	// Transformer(
	//   (encoder): TransformerEncoder(
	//     (layers.0): TransformerEncoderLayer(
	//       (self_attn): MultiheadAttention(in_proj_weight=[48 16], in_proj_bias=[48], weight=[16 16], bias=[16])
	//       (linear1): Linear(weight=[32 16], bias=[32])
	//       (linear2): Linear(weight=[16 32], bias=[16])
	//       (norm1): LayerNorm(weight=[16], bias=[16])
	//       (norm2): LayerNorm(weight=[16], bias=[16])
	//       (activation): GELU()
	//     )
	//     (norm): LayerNorm(weight=[16], bias=[16])
	//   )
	//   (decoder): TransformerDecoder(
	//     (layers.0): TransformerDecoderLayer(
	//       (self_attn): MultiheadAttention(in_proj_weight=[48 16], in_proj_bias=[48], weight=[16 16], bias=[16])
	//       (multihead_attn): MultiheadAttention(in_proj_weight=[48 16], in_proj_bias=[48], weight=[16 16], bias=[16])
	//       (linear1): Linear(weight=[32 16], bias=[32])
	//       (linear2): Linear(weight=[16 32], bias=[16])
	//       (norm1): LayerNorm(weight=[16], bias=[16])
	//       (norm2): LayerNorm(weight=[16], bias=[16])
	//       (norm3): LayerNorm(weight=[16], bias=[16])
	//       (activation): GELU()
	//       causal
	//     )
	//     (norm): LayerNorm(weight=[16], bias=[16])
	//   )
	// )
}

// TestTransformerModules: Forward is the case of one sequence, dropout acts in training alone, and the lower precisions train.
func TestTransformerModules(t *testing.T) {
	root := amp.NewScope(amp.Seed(7))
	defer root.Close()
	x := amp.Randn(root, amp.Float32, 0, 1, 2, 5, 8)
	for _, pre := range []bool{false, true} {
		opts := nn.TransformerOptions{PreNorm: pre, Dropout: 0.5, Causal: true, FinalNorm: true, Eps: 1e-3}
		d := nn.NewTransformerDecoder(root, 2, 8, 2, 16, opts)
		e := nn.NewTransformerEncoder(root, 2, 8, 2, 16, opts)
		m := nn.NewTransformer(root, nn.TransformerConfig{Features: 8, Heads: 2, EncoderLayers: 1, DecoderLayers: 1, Hidden: 16, Options: opts})
		if d.Norm.Eps != 1e-3 || d.Layers[1].Norm3.Eps != 1e-3 {
			t.Error("eps is not the norms'")
		}
		eval := root.NoGrad().Eval()
		for name, same := range map[string][2]*amp.Tensor{
			"decoder layer": {d.Layers[0].Forward(eval, x), d.Layers[0].Run(eval, x, x, nil, nil)},
			"decoder":       {d.Forward(eval, x), d.Run(eval, x, x, nil, nil)},
			"encoder":       {e.Forward(eval, x), e.Run(eval, x, nil)},
			"model":         {m.Forward(eval, x), m.Run(eval, x, x, nn.TransformerMasks{})},
		} {
			if !slices.Equal(same[0].Float64s(), same[1].Float64s()) {
				t.Errorf("%s: Forward and Run differ", name)
			}
		}
		for name, net := range map[string]nn.Module{"decoder": d, "encoder": e, "model": m} {
			if slices.Equal(net.Forward(root, x).Float64s(), net.Forward(eval, x).Float64s()) {
				t.Errorf("%s: no dropout in training", name)
			}
			y := net.Forward(root.Autocast(amp.BFloat16), x)
			amp.Sum(root, amp.Mul(root, y, amp.Randn(root, y.DType(), 0, 1, y.Shape()...))).Backward()
			for _, p := range net.Parameters() {
				if g := p.Grad(); g == nil || !(amp.SumOfSquares(g) > 0) {
					t.Errorf("%s: %s has no gradient", name, p.Name())
				}
			}
		}
	}
}

// TestTransformerDefaults: sizes of PyTorch, Xavier's bounds for all matrices, and the encoder sees everything.
func TestTransformerDefaults(t *testing.T) {
	root := amp.NewScope(amp.Seed(8))
	defer root.Close()
	m := nn.NewTransformer(root, nn.TransformerConfig{EncoderLayers: 1, DecoderLayers: 1, Options: nn.TransformerOptions{Causal: true}})
	for name, bound := range map[string]float64{
		"encoder.layers.0.linear1.weight":                math.Sqrt(6.0 / (512 + 2048)),
		"decoder.layers.0.multihead_attn.in_proj_weight": math.Sqrt(6.0 / (512 + 1536)),
		"decoder.layers.0.self_attn.out_proj.weight":     math.Sqrt(6.0 / 1024),
	} {
		largest := 0.0
		for _, v := range nn.StateDict(m)[name].Float64s() {
			largest = math.Max(largest, math.Abs(v))
		}
		if largest > bound || largest < 0.999*bound {
			t.Errorf("%s reaches %v, want %v", name, largest, bound)
		}
	}
	eval := root.NoGrad().Eval()
	x := amp.Randn(root, amp.Float32, 0, 1, 3, 512)
	other := amp.Cat(root, 0, amp.Narrow(root, x, 0, 0, 2), amp.Randn(root, amp.Float32, 0, 1, 1, 512))
	first := func(y *amp.Tensor) []float64 { return amp.Narrow(root, y, 0, 0, 1).Float64s() }
	if slices.Equal(first(m.Encoder.Forward(eval, x)), first(m.Encoder.Forward(eval, other))) {
		t.Error("the encoder is causal")
	}
	if !slices.Equal(first(m.Decoder.Run(eval, x, x, nil, nil)), first(m.Decoder.Run(eval, other, x, nil, nil))) {
		t.Error("the decoder is not causal")
	}
	for name, f := range map[string]func(){
		"layers": func() { nn.NewTransformerEncoder(root, 0, 8, 2, 16, nn.TransformerOptions{}) },
		"heads":  func() { nn.NewTransformerDecoder(root, 1, 8, 3, 16, nn.TransformerOptions{}) },
		"hidden": func() { nn.NewTransformer(root, nn.TransformerConfig{Hidden: -1, EncoderLayers: 1, DecoderLayers: 1}) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
