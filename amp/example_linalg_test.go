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

// Principal components: directions in which points spread most.
func ExampleSVD() {
	s := amp.NewScope()
	defer s.Close()
	points := amp.From([]float32{-2, -4, -1, -2, 1, 2, 2, 4}, 4, 2)
	_, values, vh := amp.SVD(s, points, false)
	fmt.Printf("%.3f %.3f\n", values.Float64s(), amp.Select(s, vh, 0, 0).Float64s())
	// Output: [7.071 0.000] [-0.447 -0.894]
}

// Normal modes of a chain of springs.
func ExampleEigh() {
	s := amp.NewScope()
	defer s.Close()
	chain := amp.From([]float64{2, -1, 0, -1, 2, -1, 0, -1, 2}, 3, 3)
	values, vectors := amp.Eigh(s, chain, false)
	fmt.Printf("%.3f\n%.3f\n", values.Float64s(), amp.Select(s, vectors, 1, 0).Float64s())
	// Output:
	// [0.586 2.000 3.414]
	// [0.500 0.707 0.500]
}

// Orthonormal columns that span what those of a matrix span.
func ExampleQR() {
	s := amp.NewScope()
	defer s.Close()
	q, r := amp.QR(s, amp.From([]float64{3, 1, 4, 1}, 2, 2), "reduced")
	fmt.Printf("%.2f\n%.2f\n", q.Float64s(), r.Float64s())
	// Output:
	// [-0.60 -0.80 -0.80 0.60]
	// [-5.00 -1.40 0.00 -0.20]
}

// A line through points that lie on none.
func ExampleLstsq() {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float64{1, 0, 1, 1, 1, 2, 1, 3}, 4, 2)
	fit := amp.Lstsq(s, x, amp.From([]float64{1, 3, 5, 8}), amp.Tolerance{})
	fmt.Printf("%.2f, residual %.2f, rank %v\n", fit.Solution.Float64s(), fit.Residuals.Float64s(), amp.Values[int64](fit.Rank))
	// Output: [0.80 2.30], residual [0.30], rank [2]
}
