package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

var opAdam *Op

func init() {
	opAdam = updateRow("adam_", "one step of Adam, AdamW or their AMSGrad variants", "adam", []string{"mean", "square", "largest"}, adamOn[float32], adamOn[float64], adamPass)
}

// UpdateAdam takes one Adam step on parameter p from its Grad; mean and square are the moving averages of the gradient and its
// square, zeros before the first step, and u.Step counts steps from 1. largest, nil without AMSGrad, is the largest square so
// far. It is recorded in the scope in which Backward computed the gradient. With g = grad (plus WeightDecay·p, unless
// Decoupled: then p shrinks by LR·WeightDecay first):
//
//	mean   = Beta1·mean + (1-Beta1)·g
//	square = Beta2·square + (1-Beta2)·g²
//	p     -= LR/(1-Beta1^Step) · mean / (√(square/(1-Beta2^Step)) + Eps)
//
// with AMSGrad's largest = max(largest, square) in place of square in the last line.
func UpdateAdam(p, mean, square, largest *Tensor, u Update) {
	needStep("adam_", u)
	update(opAdam, p, u, mean, square, largest)
}

func needStep(op string, u Update) {
	if u.Step < 1 && u.Steps == nil {
		fail(op, ErrArgument, "count steps from 1", "step %d", u.Step)
	}
}

// lerp is PyTorch's interpolation, exact at both ends.
func lerp[T float32 | float64](a, b, weight T) T {
	if weight < 0.5 {
		return a + T(weight*(b-a))
	}
	return b - T((b-a)*(1-weight))
}

// adamAverages are what moves the averages of Adam and its kin.
type adamAverages[T float32 | float64] struct{ b2, new1, new2 T }

func averagesOf[T float32 | float64](u *Update) adamAverages[T] {
	return adamAverages[T]{T(u.Beta2), T(1 - u.Beta1), T(1 - u.Beta2)}
}

// move takes gradient g into the averages of the gradient and of its square.
func (c adamAverages[T]) move(mean, square *T, g T) {
	*mean = lerp(*mean, g, c.new1)
	*square = T(c.b2**square) + T(c.new2*g*g)
}

// adamFactors are the numbers of a step: its two corrections are worked out in float64 whatever the parameters' dtype, as PyTorch's scalars
// are, and the decay of the gradient and what shrinks the parameter, of which one says nothing.
func (u *Update) adamFactors() (rate, root, decay, shrink float64) {
	c1, c2 := 1-cpu.Pow(u.Beta1, float64(u.Step)), 1-cpu.Pow(u.Beta2, float64(u.Step))
	rate, root, decay, shrink = u.LR/c1, math.Sqrt(c2), u.WeightDecay, 1
	if u.Decoupled {
		decay, shrink = 0, 1-float64(u.LR*u.WeightDecay)
	}
	return rate, root, decay, shrink
}

// adamPass is a step as one pass, which has the first of lerp's two formulas and the gradient as it is.
func adamPass(u *Update, state []*Tensor) (*cpu.LineKernel, [8]float32) {
	rate, root, decay, shrink := u.adamFactors()
	new1 := float32(1 - u.Beta1)
	if state[2] != nil || new1 >= 0.5 || float32(decay) != 0 || u.Maximize {
		return nil, [8]float32{}
	}
	return &cpu.LineAdam, [8]float32{new1, float32(u.Beta2), float32(1 - u.Beta2), float32(shrink), float32(rate), float32(root), float32(u.Eps), 1 / float32(root)}
}

func adamOn[T float32 | float64](u *Update) func(k *piece[T]) {
	lr, c2, d, less := u.adamFactors()
	rate, root, eps, decay, shrink := T(lr), T(c2), T(u.Eps), T(d), T(less)
	by := averagesOf[T](u)
	return func(k *piece[T]) {
		k.descend(u, decay)
		m, v, top := k.state[0], k.state[1], k.state[2]
		if x, ok := any(k.x).([]float32); ok && top == nil && by.new1 < 0.5 { // the pass has the first of lerp's two formulas
			k.line.Arg = [8]float32{float32(by.new1), float32(by.b2), float32(by.new2), float32(shrink), float32(rate), float32(root), float32(eps), 1 / float32(root)}
			k.pass(&cpu.LineAdam, x, any(k.d).([]float32), any(m).([]float32), any(v).([]float32))
			return
		}
		for i, g := range k.d {
			by.move(&m[i], &v[i], g)
			s := v[i]
			if top != nil {
				top[i] = max(top[i], s)
				s = top[i]
			}
			k.x[i] = T(k.x[i]*shrink) - rate*m[i]/(T(math.Sqrt(float64(s)))/root+eps)
		}
	}
}
