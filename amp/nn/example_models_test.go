package nn_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// A sequence in two pieces: the state of the first is where the second begins.
func ExampleRecurrent_Run() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := nn.NewLSTM(root, 4, 8, nn.RecurrentOptions{Layers: 2, Bidirectional: true})
	first, second := amp.Randn(root, amp.Float32, 0, 1, 5, 3, 4), amp.Randn(root, amp.Float32, 0, 1, 2, 3, 4)
	_, state := net.Run(root, first, nn.RecurrentState{})
	y, state := net.Run(root, second, state)
	fmt.Println(y.Shape(), state.H.Shape(), net.Parameters()[4].Name())
	// Output: [2 3 16] [4 3 8] weight_ih_l0_reverse
}

// Positions of a batch of two look at each other but not at the padding of the second sequence.
func ExampleMultiheadAttention_Attend() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	m := nn.NewMultiheadAttention(root, 16, 4, nn.AttentionOptions{})
	x := amp.Randn(root, amp.Float32, 0, 1, 2, 3, 16)
	real := amp.From([]bool{true, true, true, true, true, false}, 2, 1, 1, 3)
	y := m.Attend(root.Autocast(amp.Float16), x, x, x, real, false)
	w := m.Weights(root, x, x, real, false)
	fmt.Println(y.Shape(), y.DType(), w.Shape(), w.Float64s()[w.Len()-1])
	// Output: [2 3 16] float16 [2 4 3 3] 0
}

// A model of bytes with one table for its tokens and its output layer.
func ExampleGPT() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	g := nn.NewGPT(root, nn.GPTConfig{Context: 32, Features: 64, Layers: 2, Heads: 4, Tied: true})
	tokens, next := amp.From([]int64{'h', 'e', 'l', 'l'}, 1, 4), amp.From([]int64{'e', 'l', 'l', 'o'}, 1, 4)
	loss := g.Loss(root.Autocast(amp.Float16), tokens, next)
	fmt.Printf("%.1f nats per byte, logits %v\n", loss.Item(), g.Forward(root, tokens).Shape())
	fmt.Println(len(g.Generate(root, []int64{'h'}, 9, 0.8, 40)), "tokens")
	// Output:
	// 5.5 nats per byte, logits [1 4 256]
	// 10 tokens
}

// A vision transformer for images of 32×32 in patches of 4×4.
func ExampleViT() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	v := nn.NewViT(root, nn.ViTConfig{Image: 32, Patch: 4, Features: 64, Layers: 2, Heads: 4, Classes: 10})
	y := v.Forward(root.Autocast(amp.BFloat16), amp.Randn(root, amp.Float32, 0, 1, 2, 3, 32, 32))
	fmt.Println(y.Shape(), y.DType(), v.Positions.Table.Shape())
	// Output: [2 10] bfloat16 [65 64]
}
