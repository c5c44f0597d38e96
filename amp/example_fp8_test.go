package amp_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// What the forward product of a layer reads, and what its two gradients do.
func ExampleFP8() {
	root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
	defer root.Close()
	x, w := amp.Randn(root, amp.Float32, 0, 1, 32, 64), amp.Randn(root, amp.Float32, 0, 0.1, 16, 64).RequireGrad().SetName("weight")
	x.RequireGrad().SetName("x")
	half := root.Autocast(amp.BFloat16, amp.FP8(&amp.FP8Recipe{}))
	amp.Mean(half, amp.Square(half, amp.Linear(half, x, w, nil))).Backward()
	for _, e := range root.Trace().Events {
		if e.Cast != nil && e.Cast.Format != "" {
			fmt.Println(e.Phase, e.Cast.Name, e.Cast.Format)
		}
	}
	// Output:
	// forward x e4m3
	// forward weight e4m3
	// backward  e5m2
	// backward weight e4m3
	// backward x e4m3
}

// The largest number that E4M3 holds is 448. With a scale for all, what is small beside the largest number becomes zero; with one for each row,
// no row is lost.
func ExampleQuantizeScaled() {
	root := amp.NewScope()
	defer root.Close()
	x := amp.From([]float32{1e6, 3e5, 1.1, 0.7}, 2, 2)
	fmt.Println(amp.QuantizeScaled(root, x, amp.FormatE4M3, amp.PerTensor, 0).Float64s())
	fmt.Println(amp.QuantizeScaled(root, x, amp.FormatE4M3, amp.PerRow, 1).Float64s())
	// Output:
	// [983040 294912 0 0]
	// [983040 294912 1.125 0.6875]
}
