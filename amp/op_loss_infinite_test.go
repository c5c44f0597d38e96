package amp

import (
	"fmt"
	"math"
	"testing"
)

// TestInfiniteLogits holds the binary cross entropy of infinite logits, and its gradients, to PyTorch 2.15: it has the NaN of 0·∞ and ∞-∞, so that
// a logit that overflowed shows in the loss, be it right or wrong.
func TestInfiniteLogits(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x, target, positive float64 // a positive weight of 1 is none
		want                float64
		dx, dtarget         float64
	}{
		{inf, 0, 1, inf, 1, -inf},
		{inf, 1, 1, nan, 0, -inf},
		{inf, 0.5, 1, inf, 0.5, -inf},
		{-inf, 0, 1, nan, 0, inf},
		{-inf, 1, 1, nan, -1, inf},
		{-inf, 0.5, 1, nan, -0.5, inf},
		{nan, 0, 1, nan, nan, nan},
		{nan, 1, 1, nan, nan, nan},
		{inf, 0, 2, inf, 1, -inf},
		{inf, 1, 2, nan, 0, -inf},
		{inf, 0.5, 2, inf, 0.5, -inf},
		{-inf, 0, 2, nan, 0, inf},
		{-inf, 1, 2, nan, -2, inf},
		{-inf, 0.5, 2, nan, -1, inf},
		{-inf, 1, 0.5, nan, -0.5, inf},
		{nan, 1, 2, nan, nan, nan},
		{inf, 1.5, 0.5, -inf, -0.5, -inf}, // targets that are no probabilities
		{-inf, 1.5, 0.5, inf, -0.75, inf},
		{1000, 0, 1, 1000, 1, -1000},
		{-1000, 1, 2, 2000, -2, 2000},
	} {
		for _, dt := range []DType{Float32, Float64} {
			for _, reduction := range []Reduction{ReduceNone, ReduceMean, ReduceSum} {
				what := fmt.Sprintf("%v of %v for %v weighted %v by reduction %d", dt, c.x, c.target, c.positive, reduction)
				x, target := FromFloat64s(dt, []float64{c.x}, 1).RequireGrad(), FromFloat64s(dt, []float64{c.target}, 1).RequireGrad()
				opts := []LossOption{reduction}
				if c.positive != 1 {
					opts = append(opts, PosWeight(FromFloat64s(dt, []float64{c.positive}, 1)))
				}
				y := BCEWithLogits(s, x, target, opts...)
				wantValues(t, what, y, c.want)
				g := Grad(s, []*Tensor{y}, []*Tensor{x, target})
				wantValues(t, what+", gradient of x", g[0], c.dx)
				wantValues(t, what+", gradient of the target", g[1], c.dtarget)
			}
		}
	}
	// One of many, and the gradients of positive weights.
	x := From([]float32{inf32, -inf32, 0}).RequireGrad()
	wantValues(t, "right ones", BCEWithLogits(s, x, From([]float32{1, 0, 0}), ReduceSum), nan)
	wantValues(t, "a wrong one", BCEWithLogits(s, From([]float32{1, inf32, 0}), From([]float32{1, 0, 0}), ReduceSum), inf)
	p := Zeros(s, Float32, 3).RequireGrad()
	y := BCEWithLogits(s, x, From([]float32{1, 0, 0}), PosWeight(p), ReduceSum)
	wantValues(t, "positive weights", Grad(s, []*Tensor{y}, []*Tensor{p})[0], 0, 0, 0)
}

var inf32 = float32(math.Inf(1))

// TestInfiniteGaussians holds the Gaussian loss of infinite inputs, targets and variances to PyTorch 2.15, which refuses variances below 0.
func TestInfiniteGaussians(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf, nan := math.Inf(1), math.NaN()
	all := [4]float64{nan, nan, nan, nan}
	for _, c := range []struct {
		x, target, variance float64
		want                [4]float64 // the loss, and the gradients
	}{
		{inf, 0, 1, [4]float64{inf, inf, -inf, -inf}},
		{inf, 0, 0, [4]float64{inf, inf, -inf, -inf}},
		{-inf, 1, 1e-8, [4]float64{inf, -inf, inf, -inf}},
		{-inf, inf, 1, [4]float64{inf, -inf, inf, -inf}},
		{1, inf, 1, [4]float64{inf, -inf, inf, -inf}},
		{1, 0, inf, [4]float64{inf, 0, 0, 0}},
		{1, 1, inf, [4]float64{inf, 0, 0, 0}},
		{1, 1, 1, [4]float64{0, 0, 0, 0.5}},
		{1, 1, 0, [4]float64{math.Log(1e-6) / 2, 0, 0, 5e5}},
		{1, 1, 1e-8, [4]float64{math.Log(1e-6) / 2, 0, 0, 5e5}},
		{1, 0, 0, [4]float64{(math.Log(1e-6) + 1e6) / 2, 1e6, -1e6, 5e5 - 5e11}},
		{inf, inf, 1, all},
		{inf, 0, inf, all},
		{1, inf, inf, all},
		{nan, 0, 1, all},
		{1, 0, nan, all},
		{inf, inf, nan, all},
	} {
		in := []*Tensor{From([]float64{c.x}).RequireGrad(), From([]float64{c.target}).RequireGrad(), From([]float64{c.variance}).RequireGrad()}
		what := fmt.Sprintf("%v for %v with variance %v", c.x, c.target, c.variance)
		y := GaussianNLLLoss(s, in[0], in[1], in[2], 1e-6)
		wantValues(t, what, y, c.want[0])
		full := GaussianNLLLoss(s, in[0], in[1], in[2], 1e-6, FullLikelihood(), ReduceNone)
		wantValues(t, what+", full", full, c.want[0]+math.Log(2*math.Pi)/2)
		for i, g := range Grad(s, []*Tensor{y}, in) {
			wantValues(t, fmt.Sprintf("%s, gradient of input %d", what, i), g, c.want[1+i])
		}
	}
}
