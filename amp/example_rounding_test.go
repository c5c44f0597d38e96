package amp_test

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp"
)

// What the loss of a linear layer is off by in float16, and where that comes from.
func ExampleTraceRounding() {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	x := amp.Randn(s, amp.Float32, 10, 1, 4, 256)
	w := amp.Randn(s, amp.Float32, 0, 0.1, 8, 256).RequireGrad().SetName("w")
	loss, trace := amp.TraceRounding(s, func(s *amp.Scope) *amp.Tensor {
		half := s.Autocast(amp.Float16)
		return amp.Mean(half, amp.Square(half, amp.Linear(half, x, w, nil)))
	})
	loss.Backward() // as ever
	off := trace.Loss - trace.Exact
	fmt.Println("explained to first order:", math.Abs(off-trace.First) < 0.01*math.Abs(off))
	for _, e := range trace.Events {
		fmt.Printf("%-10s %-7s %v→%v  %2.0f %% of the loss's error\n", e.Op, e.Of, e.Compute, e.DType, 100*e.Spread*e.Spread/(trace.Spread*trace.Spread))
	}
	// Output:
	// explained to first order: true
	// cast       x       float32→float16   9 % of the loss's error
	// cast       w       float32→float16  35 % of the loss's error
	// linear             float16→float16  57 % of the loss's error
	// pow_scalar         float32→float32   0 % of the loss's error
	// mean               float32→float32   0 % of the loss's error
}
