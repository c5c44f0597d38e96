package amp

import "math"

var opRMSprop *Op

func init() {
	opRMSprop = updateRow("rmsprop_", "one step of RMSprop, centered or with momentum where asked", "rmsprop", []string{"square", "momentum", "mean"}, rmspropOn[float32], rmspropOn[float64], nil)
}

// UpdateRMSprop takes one RMSprop step on parameter p from its Grad. square is the moving average of the gradient's square; buf the
// momentum buffer, nil without momentum; mean the moving average of the gradient, nil unless centered: zeros before the first
// step, all of them. It is recorded in the scope in which Backward computed the gradient. With g = grad + WeightDecay·p:
//
//	square = Alpha·square + (1-Alpha)·g²
//	mean   = Alpha·mean + (1-Alpha)·g
//	step   = g / (√square + Eps), or g / (√(square - mean²) + Eps) if centered
//	p     -= LR·step, or LR·buf with buf = Momentum·buf + step
func UpdateRMSprop(p, square, buf, mean *Tensor, u Update) {
	update(opRMSprop, p, u, square, buf, mean)
}

func rmspropOn[T float32 | float64](u *Update) func(k *piece[T]) {
	lr, mom, decay, eps := T(u.LR), T(u.Momentum), T(u.WeightDecay), T(u.Eps)
	alpha, fresh := T(u.Alpha), T(1-u.Alpha)
	return func(k *piece[T]) {
		k.descend(u, decay)
		sq, buf, mean := k.state[0], k.state[1], k.state[2]
		for i, g := range k.d {
			sq[i] = T(alpha*sq[i]) + T(fresh*g*g)
			s := sq[i]
			if mean != nil {
				mean[i] = lerp(mean[i], g, fresh)
				s -= T(mean[i] * mean[i])
			}
			root := T(math.Sqrt(float64(s))) + eps
			if buf == nil {
				k.x[i] -= lr * g / root
				continue
			}
			buf[i] = T(mom*buf[i]) + g/root
			k.x[i] -= T(lr * buf[i])
		}
	}
}
