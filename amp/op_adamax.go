package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

var opAdamax *Op

func init() {
	opAdamax = updateRow("adamax_", "one step of Adamax", "adamax", []string{"mean", "largest"}, adamaxOn[float32], adamaxOn[float64], nil)
}

// UpdateAdamax takes one Adamax step (Kingma and Ba, 2015, section 7.1) on parameter p from its Grad; mean is the moving average of the
// gradient and largest the decaying maximum of its size, zeros before the first step, and u.Step counts steps from 1. It is recorded in the
// scope in which Backward computed the gradient. With g = grad + WeightDecay·p:
//
//	mean    = Beta1·mean + (1-Beta1)·g
//	largest = max(Beta2·largest, |g| + Eps)
//	p      -= LR/(1-Beta1^Step) · mean / largest
func UpdateAdamax(p, mean, largest *Tensor, u Update) {
	needStep("adamax_", u)
	update(opAdamax, p, u, mean, largest)
}

func adamaxOn[T float32 | float64](u *Update) func(k *piece[T]) {
	rate := T(u.LR / (1 - cpu.Pow(u.Beta1, float64(u.Step))))
	eps, b2, fresh, decay := T(u.Eps), T(u.Beta2), T(1-u.Beta1), T(u.WeightDecay)
	return func(k *piece[T]) {
		k.descend(u, decay)
		m, top := k.state[0], k.state[1]
		for i, g := range k.d {
			m[i] = lerp(m[i], g, fresh)
			top[i] = max(T(b2*top[i]), T(math.Abs(float64(g)))+eps)
			k.x[i] -= rate * m[i] / top[i]
		}
	}
}
