package optim

import "github.com/halftone-ml/halftone/amp"

// Options of Adam's kin, Adadelta, Rprop, ASGD, Adafactor and Muon.

// MomentumDecay sets, for NAdam, how soon its momentum grows to beta1: at step t it is beta1·(1 - 0.96^(t·d)/2); the default is 0.004.
func MomentumDecay(d float64) Option {
	return option("MomentumDecay", func(s *settings) { s.MomentumDecay = d })
}

// DecoupledWeightDecay makes NAdam and RAdam shrink the parameter as AdamW does, in place of adding the decay to the gradient (torch's
// decoupled_weight_decay). A state is loaded only into groups that have it as the saved ones had.
func DecoupledWeightDecay() Option {
	return option("DecoupledWeightDecay", func(s *settings) { s.Decoupled = true })
}

// Rho sets how much of its averages of squares Adadelta keeps, at most 1; the default is 0.9.
func Rho(r float64) Option { return option("Rho", func(s *settings) { s.Alpha = r }) }

// Etas sets, for Rprop, the factors of a step whose gradient has turned and of one whose has not; the defaults are 0.5 and 1.2.
func Etas(minus, plus float64) Option {
	return option("Etas", func(s *settings) { s.EtaMinus, s.EtaPlus = minus, plus })
}

// StepSizes sets, for Rprop, the shortest and the longest step; the defaults are 1e-6 and 50.
func StepSizes(shortest, longest float64) Option {
	return option("StepSizes", func(s *settings) { s.StepMin, s.StepMax = shortest, longest })
}

// Lambd sets the decay of ASGD's parameters and of its rate; the default is 1e-4.
func Lambd(l float64) Option { return option("Lambd", func(s *settings) { s.Lambda = l }) }

// T0 sets the step after which ASGD averages; the default is 1e6.
func T0(t float64) Option { return option("T0", func(s *settings) { s.T0 = t }) }

// Beta2Decay sets, for Adafactor, the power of the step's number that a step's share in the averages of squares is; the default is -0.8.
func Beta2Decay(power float64) Option {
	return option("Beta2Decay", func(s *settings) { s.Beta2Decay = power })
}

// ClipThreshold sets Adafactor's longest direction before it is multiplied by the rate, at least 1, which is the default (torch's d).
func ClipThreshold(d float64) Option {
	return option("ClipThreshold", func(s *settings) { s.ClipThreshold = d })
}

// Epsilons sets Adafactor's bounds: the least root of an average of squares, and the least length of a parameter that its steps are measured
// by. The defaults are the machine epsilon of the parameter's dtype, which 0 stands for, and 1e-3.
func Epsilons(eps1, eps2 float64) Option {
	return option("Epsilons", func(s *settings) { s.Eps, s.Eps2 = eps1, eps2 })
}

// NoNesterov makes Muon step along its momentum buffer (torch's nesterov=False).
func NoNesterov() Option { return option("NoNesterov", func(s *settings) { s.Nesterov = false }) }

// NSCoefficients sets the coefficients of Muon's Newton-Schulz iteration; the defaults are 3.4445, -4.7750 and 2.0315.
func NSCoefficients(a, b, c float64) Option {
	return option("NSCoefficients", func(s *settings) { s.NS = [3]float64{a, b, c} })
}

// NSSteps sets the number of steps of Muon's Newton-Schulz iteration, below 100; the default is 5.
func NSSteps(n int) Option { return option("NSSteps", func(s *settings) { s.NSSteps = float64(n) }) }

// AdjustLR sets what Muon multiplies its learning rate by, so that one rate suits matrices of all shapes (torch's adjust_lr_fn); the default is
// amp.AdjustOriginal.
func AdjustLR(by amp.AdjustLR) Option {
	return option("AdjustLR", func(s *settings) { s.AdjustLR = by })
}
