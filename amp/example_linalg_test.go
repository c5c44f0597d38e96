package amp_test

import (
	"errors"
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// A line through four points, by the normal equations.
func ExampleSolve() {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float32{1, 0, 1, 1, 1, 2, 1, 3}, 4, 2)
	y := amp.From([]float32{1, 3, 5, 7})
	xt := amp.Transpose(s, x, 0, 1)
	fmt.Println(amp.Values[float32](amp.Solve(s, amp.MatMul(s, xt, x), amp.MV(s, xt, y))))
	// Output: [1 2]
}

// The log-density of a normal distribution, as Gaussian processes fit it: its gradients go through the factor.
func ExampleCholesky() {
	s := amp.NewScope()
	defer s.Close()
	cov := amp.From([]float64{4, 2, 2, 2}, 2, 2).RequireGrad()
	y := amp.From([]float64{2, 2}, 2, 1)
	l := amp.Cholesky(s, cov, false)
	z := amp.SolveTriangular(s, l, y, amp.Triangular{}) // whitened
	logDet := amp.Sum(s, amp.Log(s, amp.Diagonal(s, l, 0, 0, 1)))
	loss := amp.Add(s, amp.MulScalar(s, amp.Sum(s, amp.Square(s, z)), 0.5), logDet)
	loss.Backward()
	fmt.Printf("%.4f\n%.4f\n", loss.Float64s(), cov.Grad().Float64s())
	// Output:
	// [1.6931]
	// [0.2500 -0.2500 -0.2500 0.0000]
}

// A singular matrix is an *Error that says which of the batch it is.
func ExampleInv() {
	s := amp.NewScope()
	defer s.Close()
	a := amp.From([]float64{2, 0, 0, 4, 1, 2, 2, 4}, 2, 2, 2)
	fmt.Println(amp.Det(s, a).Float64s())
	fmt.Println(amp.Inv(s, amp.Select(s, a, 0, 0)).Float64s())
	err := amp.Maybe(func() { amp.Inv(s, a).Float64s() }) // a GPU tells at the read
	fmt.Println(errors.Is(err, amp.ErrSingular))
	// Output:
	// [8 0]
	// [0.5 0 0 0.25]
	// true
}
