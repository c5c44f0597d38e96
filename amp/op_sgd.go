package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

var opSGD *Op

func init() {
	opSGD = updateRow("sgd_", "one step of stochastic gradient descent with momentum and weight decay", "sgd", []string{"momentum"}, sgdOn[float32], sgdOn[float64], sgdPass)
}

// UpdateSGD takes one SGD step on parameter p from its Grad; buf is the momentum buffer, nil without momentum. It is recorded in
// the scope in which Backward computed the gradient. With g = grad + WeightDecay·p:
//
//	buf = g on the first step, Momentum·buf + (1-Dampening)·g after it
//	p  -= LR·buf, or LR·(g + Momentum·buf) with Nesterov
func UpdateSGD(p, buf *Tensor, u Update) { update(opSGD, p, u, buf) }

// sgdPass is a step as one pass: with momentum from its second step on, or without any of what changes the gradient.
func sgdPass(u *Update, state []*Tensor) (*cpu.LineKernel, [8]float32) {
	arg := [8]float32{float32(u.LR), float32(u.Momentum), float32(1 - u.Dampening), float32(u.WeightDecay)}
	switch {
	case u.Maximize:
		return nil, arg
	case state[0] == nil && arg[3] == 0:
		return &cpu.LineDescend, arg
	case state[0] != nil && !u.First && !u.Nesterov:
		return &cpu.LineMomentum, arg
	}
	return nil, arg
}

func sgdOn[T float32 | float64](u *Update) func(k *piece[T]) {
	lr, mom, damp, decay := T(u.LR), T(u.Momentum), T(1-u.Dampening), T(u.WeightDecay)
	return func(k *piece[T]) {
		if x, ok := any(k.x).([]float32); ok && k.state[0] != nil && !u.First && !u.Nesterov && !u.Maximize {
			k.line.Arg = [8]float32{float32(lr), float32(mom), float32(damp), float32(decay)}
			k.pass(&cpu.LineMomentum, x, any(k.d).([]float32), any(k.state[0]).([]float32))
			return
		}
		k.descend(u, decay)
		if b := k.state[0]; b != nil {
			k.own()
			for i, v := range k.d {
				if u.First {
					b[i] = v
				} else {
					b[i] = T(mom*b[i]) + T(damp*v)
				}
				if u.Nesterov {
					k.d[i] = v + T(mom*b[i])
				} else {
					k.d[i] = b[i]
				}
			}
		}
		if x, ok := any(k.x).([]float32); ok {
			k.line.Arg[0] = float32(lr)
			k.pass(&cpu.LineDescend, x, any(k.d).([]float32))
			return
		}
		for i, v := range k.d {
			k.x[i] -= T(lr * v)
		}
	}
}
