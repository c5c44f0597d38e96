package amp_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// The likelihood of counts under Poisson's distribution of a rate, with log k! = lgamma(k+1), and its slope in k.
func ExampleLgamma() {
	s := amp.NewScope()
	defer s.Close()
	k := amp.From([]float64{0, 1, 4}).RequireGrad()
	const logRate, rate = 0.6931471805599453, 2
	logp := amp.Sub(s, amp.AddScalar(s, amp.MulScalar(s, k, logRate), -rate), amp.Lgamma(s, amp.AddScalar(s, k, 1)))
	amp.Sum(s, logp).Backward()
	fmt.Printf("%.4f %.4f\n", amp.Exp(s, logp).Float64s(), k.Grad().Float64s())
	// Output:
	// [0.1353 0.2707 0.0902] [1.2704 0.2704 -0.8130]
}
