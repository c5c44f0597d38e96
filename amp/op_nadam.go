package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

var opNAdam *Op

func init() {
	opNAdam = updateRow("nadam_", "one step of NAdam", "nadam", []string{"mean", "square"}, nadamOn[float32], nadamOn[float64], nil)
}

// UpdateNAdam takes one step of Adam with Nesterov's momentum (Dozat, 2016) on parameter p from its Grad; mean and square are the moving
// averages of the gradient and its square, zeros before the first step, and u.Step counts steps from 1. It is recorded in the scope in which
// Backward computed the gradient. With g = grad (plus WeightDecay·p, unless Decoupled: then p shrinks by LR·WeightDecay first), t = Step and
// mu(i) = Beta1·(1 - 0.96^(i·MomentumDecay)/2):
//
//	mean   = Beta1·mean + (1-Beta1)·g
//	square = Beta2·square + (1-Beta2)·g²
//	root   = √(square/(1-Beta2^t)) + Eps
//	p     -= LR·(1-mu(t))/(1-mu(1)···mu(t)) · g/root + LR·mu(t+1)/(1-mu(1)···mu(t+1)) · mean/root
//
// The product is that of the present Beta1 and MomentumDecay, also for the steps before.
func UpdateNAdam(p, mean, square *Tensor, u Update) {
	needStep("nadam_", u)
	update(opNAdam, p, u, mean, square)
}

// nadamFactors are the factors of the gradient and of the mean, worked out in float64 as PyTorch does.
func (u *Update) nadamFactors() (grad, mean float64) {
	momentum := func(step float64) float64 {
		return float64(u.Beta1 * (1 - float64(0.5*cpu.Pow(0.96, step*u.MomentumDecay))))
	}
	step, each := float64(u.Step), cpu.Pow(0.96, u.MomentumDecay)
	product, power := 1.0, each
	for i := 0; i < u.Step && product >= 0x1p-54; i++ { // what is smaller leaves 1 - product at 1
		product = float64(product * float64(u.Beta1*(1-float64(0.5*power))))
		power = float64(power * each)
	}
	mu, next := momentum(step), momentum(step+1)
	return u.LR * (1 - mu) / (1 - product), u.LR * next / (1 - float64(product*next))
}

func nadamOn[T float32 | float64](u *Update) func(k *piece[T]) {
	ofGrad, ofMean := u.nadamFactors()
	_, _, d, less := u.adamFactors()
	grad, mean, bias, eps := T(ofGrad), T(ofMean), T(1-cpu.Pow(u.Beta2, float64(u.Step))), T(u.Eps)
	by, decay, shrink := averagesOf[T](u), T(d), T(less)
	return func(k *piece[T]) {
		k.descend(u, decay)
		m, v := k.state[0], k.state[1]
		for i, g := range k.d {
			by.move(&m[i], &v[i], g)
			root := T(math.Sqrt(float64(v[i]/bias))) + eps
			k.x[i] = T(k.x[i]*shrink) - grad*g/root
			k.x[i] -= mean * m[i] / root
		}
	}
}
