package amp

import "math"

var opAdadelta *Op

func init() {
	opAdadelta = updateRow("adadelta_", "one step of Adadelta", "adadelta", []string{"square", "delta"}, adadeltaOn[float32], adadeltaOn[float64], nil)
}

// UpdateAdadelta takes one Adadelta step (Zeiler, 2012) on parameter p from its Grad; square and delta are the moving averages of the squares
// of the gradient and of the steps, zeros before the first step. It is recorded in the scope in which Backward computed the gradient. With
// g = grad + WeightDecay·p and Zeiler's rho in Alpha:
//
//	square = Alpha·square + (1-Alpha)·g²
//	step   = √(delta + Eps) / √(square + Eps) · g
//	delta  = Alpha·delta + (1-Alpha)·step²
//	p     -= LR·step
func UpdateAdadelta(p, square, delta *Tensor, u Update) {
	update(opAdadelta, p, u, square, delta)
}

func adadeltaOn[T float32 | float64](u *Update) func(k *piece[T]) {
	lr, rho, fresh, eps, decay := T(u.LR), T(u.Alpha), T(1-u.Alpha), T(u.Eps), T(u.WeightDecay)
	return func(k *piece[T]) {
		k.descend(u, decay)
		sq, acc := k.state[0], k.state[1]
		for i, g := range k.d {
			sq[i] = T(rho*sq[i]) + T(fresh*g*g)
			step := T(math.Sqrt(float64(acc[i]+eps))) / T(math.Sqrt(float64(sq[i]+eps))) * g
			acc[i] = T(rho*acc[i]) + T(fresh*step*step)
			k.x[i] -= T(lr * step)
		}
	}
}
