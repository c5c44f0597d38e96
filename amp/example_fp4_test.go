package amp_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// What a layer in NVFP4 does: operands in 4 bits, gradients rounded up or down at random, and both operands of the weight's gradient transformed.
func ExampleFP4() {
	root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
	defer root.Close()
	x, w := amp.Randn(root, amp.Float32, 0, 1, 32, 64), amp.Randn(root, amp.Float32, 0, 0.1, 32, 64).RequireGrad().SetName("weight")
	x.RequireGrad().SetName("x")
	half := root.Autocast(amp.BFloat16, amp.FP4(&amp.FP4Recipe{}))
	amp.Mean(half, amp.Square(half, amp.Linear(half, x, w, nil))).Backward()
	for _, e := range root.Trace().Events {
		switch {
		case e.Cast != nil && e.Cast.Format != "":
			fmt.Println(e.Phase, e.Cast.Name, e.Cast.Format)
		case e.Op == "hadamard" || e.Op == "matmul":
			fmt.Println(e.Phase, e.Op)
		}
	}
	// Output:
	// forward x e2m1
	// forward weight e2m1
	// backward  e2m1
	// backward weight e2m1
	// backward matmul
	// backward hadamard
	// backward  e2m1
	// backward hadamard
	// backward x e2m1
	// backward matmul
}

// A number that lies far out becomes sixteen of a quarter of its size, which a scale can share; the inverse brings it back.
func ExampleHadamard() {
	root := amp.NewScope()
	defer root.Close()
	x := make([]float32, 16)
	x[1] = 100
	y := amp.Hadamard(root, amp.From(x), 0)
	fmt.Println(y.Float64s()[:3])
	fmt.Println(amp.HadamardInverse(root, y, 0).Float64s()[:3])
	// Output:
	// [25 -25 25]
	// [0 100 0]
}
