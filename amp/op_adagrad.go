package amp

import "math"

var opAdagrad *Op

func init() {
	opAdagrad = updateRow("adagrad_", "one step of Adagrad", "adagrad", []string{"sum"}, adagradOn[float32], adagradOn[float64], nil)
}

// UpdateAdagrad takes one Adagrad step on parameter p from its Grad; sum holds the squares of all gradients so far, plus its initial
// value, and u.Step counts steps from 1. It is recorded in the scope in which Backward computed the gradient. With
// g = grad + WeightDecay·p:
//
//	sum += g²
//	p   -= LR/(1+(Step-1)·LRDecay) · g / (√sum + Eps)
func UpdateAdagrad(p, sum *Tensor, u Update) {
	needStep("adagrad_", u)
	update(opAdagrad, p, u, sum)
}

func adagradOn[T float32 | float64](u *Update) func(k *piece[T]) {
	rate := T(u.LR / (1 + float64(float64(u.Step-1)*u.LRDecay)))
	decay, eps := T(u.WeightDecay), T(u.Eps)
	return func(k *piece[T]) {
		k.descend(u, decay)
		sum := k.state[0]
		for i, g := range k.d {
			sum[i] += T(g * g)
			k.x[i] -= rate * g / (T(math.Sqrt(float64(sum[i]))) + eps)
		}
	}
}
