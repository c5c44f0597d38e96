package amp

var opRprop *Op

func init() {
	opRprop = updateRow("rprop_", "one step of resilient backpropagation", "rprop", []string{"before", "size"}, rpropOn[float32], rpropOn[float64], nil)
}

// UpdateRprop takes one step of resilient backpropagation (Riedmiller and Braun, 1993) on parameter p from the signs of its Grad; before is
// the gradient of the step before, size how far each element goes; with u.First, where they hold nothing yet, every size is LR. It is
// recorded in the scope in which Backward computed the gradient.
//
//	size  *= EtaPlus where grad·before > 0, EtaMinus where it is below 0; then brought into [StepMin, StepMax]
//	before = grad, 0 where grad·before was below 0
//	p     -= sign(before)·size
func UpdateRprop(p, before, size *Tensor, u Update) {
	update(opRprop, p, u, before, size)
}

func rpropOn[T float32 | float64](u *Update) func(k *piece[T]) {
	lr, less, more, low, high := T(u.LR), T(u.EtaMinus), T(u.EtaPlus), T(u.StepMin), T(u.StepMax)
	return func(k *piece[T]) {
		k.descend(u, 0)
		before, size := k.state[0], k.state[1]
		for i, g := range k.d {
			far := size[i]
			if u.First {
				far = lr
			}
			switch turn := g * before[i]; {
			case turn > 0:
				far *= more
			case turn < 0:
				far, g = far*less, 0
			}
			far = min(max(far, low), high)
			switch {
			case g > 0:
				k.x[i] -= far
			case g < 0:
				k.x[i] += far
			}
			before[i], size[i] = g, far
		}
	}
}
