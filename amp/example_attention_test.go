package amp_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// Two queries and two keys: causal, with a mask that hides the second key, and in float16.
func ExampleScaledDotProductAttention() {
	root := amp.NewScope()
	defer root.Close()
	q := amp.From([]float32{1, 0, 0, 20}, 2, 2)
	k := amp.From([]float32{1, 0, 0, 1}, 2, 2)
	v := amp.From([]float32{10, 20}, 2, 1)
	causal := amp.ScaledDotProductAttention(root, q, k, v, nil, amp.Attention{Causal: true})
	padded := amp.ScaledDotProductAttention(root, q, k, v, amp.From([]bool{true, false}), amp.Attention{})
	half := amp.ScaledDotProductAttention(root.Autocast(amp.Float16), q, k, v, nil, amp.Attention{})
	fmt.Println(causal.Float64s()[0], padded.Float64s(), half.DType())
	// Output: 10 [10 10] float16
}

// A layer of LSTM cells over three steps of a batch of two; the products of all steps with x are one.
func ExampleLSTM() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	x := amp.Randn(root, amp.Float32, 0, 1, 3, 2, 4)
	w := amp.CellWeights{IH: amp.Randn(root, amp.Float32, 0, 0.1, 4*5, 4), HH: amp.Randn(root, amp.Float32, 0, 0.1, 4*5, 5)}
	y, h, c := amp.LSTM(root.Autocast(amp.BFloat16), x, nil, nil, w, false)
	fmt.Println(y.Shape(), h.Shape(), c.DType())
	// Output: [3 2 5] [2 5] bfloat16
}

// What a piece of a model does, without a mark on the scope's own trace.
func ExampleScope_Observe() {
	root := amp.NewScope()
	defer root.Close()
	x := amp.From([]float32{1, 2}, 1, 2)
	trace := root.Autocast(amp.Float16).Observe(func(s *amp.Scope) { amp.Softmax(s, amp.MatMul(s, x, amp.Transpose(s, x, 0, 1)), -1) })
	for _, e := range trace.Events {
		if e.Cast == nil && e.Op != "transpose" {
			fmt.Println(e.Op, e.Compute, e.Out.DType)
		}
	}
	// Output:
	// matmul float16 float16
	// softmax float32 float32
}
