package optim

import "fmt"

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

// MatchRMSAdamW makes Muon's steps as long as AdamW's, whose rates and decays it can then take over: 0.2·√max(out, in) times the
// orthogonal matrix (torch's adjust_lr_fn="match_rms_adamw"; Liu et al., 2025). The default is √max(1, out/in).
func MatchRMSAdamW() Option {
	return option("MatchRMSAdamW", func(s *settings) { s.MatchRMSAdamW = true })
}

// SpectralUnclamped makes Muon's steps √(out/in) times the orthogonal matrix (torch's adjust_lr_fn="spectral_unclamped"; Bernstein, 2025).
func SpectralUnclamped() Option {
	return option("SpectralUnclamped", func(s *settings) { s.SpectralUnclamped = true })
}

// problemMore is problem for these.
func (s *settings) problemMore(k *kind) (detail, fix string) {
	switch {
	case k.takes("Rho") && s.Alpha > 1:
		return "rho is above 1", "use optim.Rho(0.9)"
	case k.takes("Etas") && !(s.EtaMinus > 0 && s.EtaMinus < 1 && s.EtaPlus > 1):
		return "etaminus is not between 0 and 1, or etaplus not above 1", "use optim.Etas(0.5, 1.2)"
	case k.takes("StepSizes") && s.StepMin > s.StepMax:
		return "the shortest step is longer than the longest", "use optim.StepSizes(1e-6, 50)"
	case k.takes("Beta2Decay") && s.Beta2Decay > 0:
		return fmt.Sprintf("beta2_decay is %v", s.Beta2Decay), "use optim.Beta2Decay(-0.8), or another power of 0 and below"
	case k.takes("ClipThreshold") && s.ClipThreshold < 1:
		return fmt.Sprintf("the clipping threshold is %v", s.ClipThreshold), "use optim.ClipThreshold(1), or a larger one"
	case k.takes("NSSteps") && s.NSSteps >= 100:
		return fmt.Sprintf("%v steps of the Newton-Schulz iteration", s.NSSteps), "use fewer than 100; five are enough"
	case s.MatchRMSAdamW && s.SpectralUnclamped:
		return "MatchRMSAdamW and SpectralUnclamped exclude each other", "leave one of them out"
	}
	return "", ""
}
