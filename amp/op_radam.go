package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

var opRAdam *Op

func init() {
	opRAdam = updateRow("radam_", "one step of RAdam", "radam", []string{"mean", "square"}, radamOn[float32], radamOn[float64], nil)
}

// UpdateRAdam takes one step of rectified Adam (Liu et al., 2020) on parameter p from its Grad; mean and square are the moving averages of
// the gradient and its square, zeros before the first step, and u.Step counts steps from 1. It is recorded in the scope in which Backward
// computed the gradient. With g = grad (plus WeightDecay·p, unless Decoupled: then p shrinks by LR·WeightDecay first), t = Step, n =
// 2/(1-Beta2) - 1 and r = n - 2·t·Beta2^t/(1-Beta2^t):
//
//	mean   = Beta1·mean + (1-Beta1)·g
//	square = Beta2·square + (1-Beta2)·g²
//	step   = mean/(1-Beta1^t)
//	p     -= LR·step, or if r > 5: LR·step·√((r-4)(r-2)n / ((n-4)(n-2)r)) · √(1-Beta2^t) / (√square + Eps)
func UpdateRAdam(p, mean, square *Tensor, u Update) {
	needStep("radam_", u)
	update(opRAdam, p, u, mean, square)
}

// radamRate is the factor of the mean, and whether it is to be divided by the root of the square.
func (u *Update) radamRate() (rate float64, adapts bool) {
	t := float64(u.Step)
	power, most := cpu.Pow(u.Beta2, t), 2/(1-u.Beta2)-1
	length := most - 2*t*power/(1-power)
	rate = u.LR / (1 - cpu.Pow(u.Beta1, t))
	if length > 5 {
		rate *= math.Sqrt((length-4)*(length-2)*most/((most-4)*(most-2)*length)) * math.Sqrt(1-power)
	}
	return rate, length > 5
}

func radamOn[T float32 | float64](u *Update) func(k *piece[T]) {
	r, adapts := u.radamRate()
	_, _, d, less := u.adamFactors()
	rate, eps, decay, shrink := T(r), T(u.Eps), T(d), T(less)
	by := averagesOf[T](u)
	return func(k *piece[T]) {
		k.descend(u, decay)
		m, v := k.state[0], k.state[1]
		for i, g := range k.d {
			by.move(&m[i], &v[i], g)
			step := T(rate * m[i])
			if adapts {
				step /= T(math.Sqrt(float64(v[i]))) + eps
			}
			k.x[i] = T(k.x[i]*shrink) - step
		}
	}
}
