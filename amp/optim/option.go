package optim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// An Option configures an optimizer or one of its groups; one that the optimizer has no use for is refused.
type Option func(*settings)

// settings are what options set: the numbers of the update, and what they do not hold.
type settings struct {
	amp.Update
	amsgrad, centered, fused bool
	accumulator              float64 // Adagrad's sum before the first step
	lbfgs                    lbfgsSettings
	given                    []string // options that were named, for refusals
}

func option(name string, set func(s *settings)) Option {
	return func(s *settings) { s.given = append(s.given, name); set(s) }
}

// LR sets the learning rate; the default is 0.001, 0.002 for NAdam and Adamax, 0.01 for RMSprop, Adagrad,
// Adafactor, Rprop and ASGD, 1 for Adadelta and LBFGS.
func LR(lr float64) Option { return option("LR", func(s *settings) { s.LR = lr }) }

// WeightDecay adds that multiple of the parameter to its gradient, or shrinks the parameter in AdamW, Adafactor and Muon; the default is
// 0, 0.01 for AdamW and 0.1 for Muon; Rprop and LBFGS take none.
func WeightDecay(d float64) Option {
	return option("WeightDecay", func(s *settings) { s.WeightDecay = d })
}

// Maximize climbs instead of descending; Muon does not.
func Maximize() Option { return option("Maximize", func(s *settings) { s.Maximize = true }) }

// Fused lets a GradScaler leave the unscaling to the update, which reads 1/scale and whether a gradient was not finite, as torch.optim's
// fused optimizers do: a device that works on its own is told to skip without waiting for the host. It takes the same time, on the CPU
// and on a GPU, whose update divides with and without it, and which writes divided gradients only once somebody looks at them. The
// gradients of a skipped step stay scaled. Gradients of float16 weights are taken, too, since they are divided in float32. The weights
// are the same bit for bit in float32 and float64. It is an option of the optimizer, not of a group. Adafactor, LBFGS and Muon do not take it.
func Fused() Option { return option("Fused", func(s *settings) { s.fused = true }) }

// Momentum sets the share of the last update that SGD, RMSprop and Muon keep; the default is 0, and 0.95 for Muon.
func Momentum(m float64) Option { return option("Momentum", func(s *settings) { s.Momentum = m }) }

// Dampening reduces, for SGD, the gradient's share in the momentum buffer after the first step; the default is 0.
func Dampening(d float64) Option { return option("Dampening", func(s *settings) { s.Dampening = d }) }

// Nesterov makes SGD look ahead along the momentum, as Muon does unless NoNesterov is given; SGD then needs a momentum and no dampening.
func Nesterov() Option { return option("Nesterov", func(s *settings) { s.Nesterov = true }) }

// Betas sets, for Adam and its kin, how much of the averages of the gradient and of its square is kept; the defaults are 0.9 and 0.999.
func Betas(b1, b2 float64) Option {
	return option("Betas", func(s *settings) { s.Beta1, s.Beta2 = b1, b2 })
}

// Eps sets what is added to the denominator; the default is 1e-8, 1e-10 for Adagrad, 1e-6 for Adadelta. It must not vanish in the parameters'
// dtype. For Muon it is the least norm that is divided by, 1e-7 unless given.
func Eps(eps float64) Option { return option("Eps", func(s *settings) { s.Eps = eps }) }

// AMSGrad makes Adam divide by the largest average of squares so far (Reddi, Kale and Kumar, 2018).
func AMSGrad() Option { return option("AMSGrad", func(s *settings) { s.amsgrad = true }) }

// Alpha sets how much of its average of squares RMSprop keeps, 0.99 unless given, and the power of the decay of ASGD's rate, 0.75 unless given.
func Alpha(a float64) Option { return option("Alpha", func(s *settings) { s.Alpha = a }) }

// Centered makes RMSprop divide by the standard deviation of the gradient instead of its root mean square.
func Centered() Option { return option("Centered", func(s *settings) { s.centered = true }) }

// LRDecay makes Adagrad divide the learning rate by 1 + LRDecay·(steps before); the default is 0.
func LRDecay(d float64) Option { return option("LRDecay", func(s *settings) { s.LRDecay = d }) }

// InitialAccumulator sets Adagrad's sum of squares before the first step; the default is 0. It is an option of the optimizer, not of a
// group.
func InitialAccumulator(v float64) Option {
	return option("InitialAccumulator", func(s *settings) { s.accumulator = v })
}

// A number is one numeric setting: the option that sets it and its key in torch.optim's param_groups, which states use.
type number struct {
	option, key string
	of          func(s *settings) *float64
}

var numbers = []number{
	{"LR", "lr", func(s *settings) *float64 { return &s.LR }},
	{"WeightDecay", "weight_decay", func(s *settings) *float64 { return &s.WeightDecay }},
	{"Momentum", "momentum", func(s *settings) *float64 { return &s.Momentum }},
	{"Dampening", "dampening", func(s *settings) *float64 { return &s.Dampening }},
	{"Betas", "beta1", func(s *settings) *float64 { return &s.Beta1 }},
	{"Betas", "beta2", func(s *settings) *float64 { return &s.Beta2 }},
	{"Eps", "eps", func(s *settings) *float64 { return &s.Eps }},
	{"Alpha", "alpha", func(s *settings) *float64 { return &s.Alpha }},
	{"LRDecay", "lr_decay", func(s *settings) *float64 { return &s.LRDecay }},
	{"InitialAccumulator", "initial_accumulator_value", func(s *settings) *float64 { return &s.accumulator }},
	{"MomentumDecay", "momentum_decay", func(s *settings) *float64 { return &s.MomentumDecay }},
	{"Rho", "rho", func(s *settings) *float64 { return &s.Alpha }},
	{"Etas", "etaminus", func(s *settings) *float64 { return &s.EtaMinus }},
	{"Etas", "etaplus", func(s *settings) *float64 { return &s.EtaPlus }},
	{"StepSizes", "step_size_min", func(s *settings) *float64 { return &s.StepMin }},
	{"StepSizes", "step_size_max", func(s *settings) *float64 { return &s.StepMax }},
	{"Lambd", "lambd", func(s *settings) *float64 { return &s.Lambda }},
	{"T0", "t0", func(s *settings) *float64 { return &s.T0 }},
	{"Beta2Decay", "beta2_decay", func(s *settings) *float64 { return &s.Beta2Decay }},
	{"ClipThreshold", "d", func(s *settings) *float64 { return &s.ClipThreshold }},
	{"Epsilons", "eps1", func(s *settings) *float64 { return &s.Eps }},
	{"Epsilons", "eps2", func(s *settings) *float64 { return &s.Eps2 }},
	{"NSCoefficients", "ns_a", func(s *settings) *float64 { return &s.NS[0] }},
	{"NSCoefficients", "ns_b", func(s *settings) *float64 { return &s.NS[1] }},
	{"NSCoefficients", "ns_c", func(s *settings) *float64 { return &s.NS[2] }},
	{"NSSteps", "ns_steps", func(s *settings) *float64 { return &s.NSSteps }},
}

// A flag is a setting that is on or off, as number.
type flag struct {
	option, key string
	of          func(s *settings) bool
}

var flags = []flag{
	{"Maximize", "maximize", func(s *settings) bool { return s.Maximize }},
	{"Nesterov", "nesterov", func(s *settings) bool { return s.Nesterov }},
	{"AMSGrad", "amsgrad", func(s *settings) bool { return s.amsgrad }},
	{"Centered", "centered", func(s *settings) bool { return s.centered }},
	{"DecoupledWeightDecay", "decoupled_weight_decay", func(s *settings) bool { return s.Decoupled }},
	{"AdjustLR", amp.AdjustMatchRMSAdamW.String(), func(s *settings) bool { return s.AdjustLR == amp.AdjustMatchRMSAdamW }},
	{"AdjustLR", amp.AdjustSpectralUnclamped.String(), func(s *settings) bool { return s.AdjustLR == amp.AdjustSpectralUnclamped }},
}

// problem says what is out of range, "" if nothing is, and how to repair it.
func (s *settings) problem(k *kind) (detail, fix string) {
	for _, option := range k.allOptions() {
		if detail, fix = s.problemOf(k, option); detail != "" {
			return detail, fix
		}
	}
	return "", ""
}

// problemOf is problem for what one option sets.
func (s *settings) problemOf(k *kind, option string) (detail, fix string) {
	for _, n := range numbers {
		v := *n.of(s)
		if n.option != option {
			continue
		}
		low := 0.0
		switch n.option {
		case "Dampening", "NSCoefficients", "Beta2Decay": // torch takes negative ones
			low = -huge
		}
		if !(v >= low && v <= huge) || n.option == "Betas" && v >= 1 {
			return fmt.Sprintf("%s is %v", n.key, v), "use finite values of 0 and above, and betas below 1"
		}
	}
	for _, c := range k.checks {
		if c.option != option {
			continue
		}
		if detail = c.wrong(s); detail != "" {
			return detail, c.fix
		}
	}
	return "", ""
}

// apply runs options and refuses those the optimizer does not take, and values out of range.
func (s *settings) apply(op string, k *kind, opts []Option) {
	s.given = nil
	optional.Apply(op, opts, s, misused)
	for _, name := range s.given {
		if !k.takes(name) {
			fix := "leave it out; " + k.name + " takes " + strings.Join(k.allOptions(), ", ")
			if better := k.fixes[name]; better != "" {
				fix = better
			}
			misused(op, fix, "%s is not an option of %s", name, k.name)
		}
	}
	if detail, fix := s.problem(k); detail != "" {
		misused(op, fix, "%s", detail)
	}
}

var commonOptions = []string{"LR", "WeightDecay", "Maximize", "Fused"}

func (k *kind) allOptions() []string {
	all := append(slices.Clone(commonOptions), k.options...)
	return slices.DeleteFunc(all, func(name string) bool { return slices.Contains(k.lacks, name) })
}

func (k *kind) takes(option string) bool {
	return slices.Contains(k.allOptions(), option)
}
