package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

var opASGD *Op

func init() {
	opASGD = updateRow("asgd_", "one step of averaged stochastic gradient descent", "asgd", []string{"average"}, asgdOn[float32], asgdOn[float64], nil)
}

// UpdateASGD takes one step of averaged stochastic gradient descent (Polyak and Juditsky, 1992) on parameter p from its Grad; average is
// that of the parameter, zeros before the first step, and u.Step counts steps from 1. It is recorded in the scope in which Backward
// computed the gradient. With g = grad + WeightDecay·p and t = Step - 1:
//
//	eta      = LR / (1 + Lambda·LR·t)^Alpha
//	p        = p·(1 - Lambda·eta) - eta·g
//	average += (p - average) / max(1, t - T0)
//
// PyTorch works eta out at the end of a step for the next one: where a schedule moves the rate, its eta is one step behind.
func UpdateASGD(p, average *Tensor, u Update) {
	needStep("asgd_", u)
	update(opASGD, p, u, average)
}

func asgdOn[T float32 | float64](u *Update) func(k *piece[T]) {
	t := float64(u.Step - 1)
	rate := u.LR / cpu.Pow(1+float64(u.Lambda*u.LR*t), u.Alpha)
	eta, shrink, share, decay := T(rate), T(1-float64(u.Lambda*rate)), T(1/max(1, t-u.T0)), T(u.WeightDecay)
	return func(k *piece[T]) {
		k.descend(u, decay)
		ax := k.state[0]
		for i, g := range k.d {
			x := T(k.x[i]*shrink) - T(eta*g)
			k.x[i] = x
			if share == 1 {
				ax[i] = x
			} else {
				ax[i] += T((x - ax[i]) * share)
			}
		}
	}
}
