package optim

import (
	"fmt"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Schedules that multiply the rate by a factor now and then, or at every step.

// in says what of a setting is out of [lo, hi], "" if nothing is.
func in(name string, v, lo, hi float64) string {
	if v >= lo && v <= hi {
		return ""
	}
	return fmt.Sprintf("%s is %v, not %s", name, v, span(lo, hi))
}

// span words what in takes: limits that stand for none are not named.
func span(lo, hi float64) string {
	text := "a finite number"
	switch {
	case lo == math.SmallestNonzeroFloat64:
		text += " above 0"
	case lo > -huge:
		text += fmt.Sprintf(" of %v and above", lo)
	}
	switch {
	case hi == below1:
		text += " and below 1"
	case hi == math.MaxInt32:
		text += fmt.Sprintf(", at most %d", math.MaxInt32)
	case hi < huge:
		text += fmt.Sprintf(", at most %v", hi)
	}
	return text
}

// first returns the first complaint.
func first(complaints ...string) string {
	for _, c := range complaints {
		if c != "" {
			return c
		}
	}
	return ""
}

const huge = math.MaxFloat64

type stepRule struct {
	StepSize int     `json:"step_size"`
	Gamma    float64 `json:"gamma"`
}

// NewStepLR multiplies the rate by gamma every size steps, as torch's StepLR (whose gamma is 0.1 unless given).
func NewStepLR(opt Optimizer, size int, gamma float64) *Schedule {
	return newSchedule(opt, &stepRule{size, gamma})
}

func (r *stepRule) kind() string { return "StepLR" }
func (r *stepRule) fresh() rule  { return &stepRule{} }
func (r *stepRule) problem(int) string {
	return first(in("step_size", float64(r.StepSize), 1, huge), in("gamma", r.Gamma, 0, huge))
}
func (r *stepRule) next(s *Schedule, i int) float64 {
	if s.epoch == 0 || s.epoch%r.StepSize != 0 {
		return s.lr(i)
	}
	return s.lr(i) * r.Gamma
}
func (r *stepRule) at(s *Schedule, i int) float64 {
	return s.base[i] * cpu.Pow(r.Gamma, float64(s.epoch/r.StepSize))
}

type multiStepRule struct {
	Milestones []int   `json:"milestones"`
	Gamma      float64 `json:"gamma"`
}

// NewMultiStepLR multiplies the rate by gamma at each milestone, as torch's MultiStepLR (whose gamma is 0.1 unless given).
func NewMultiStepLR(opt Optimizer, milestones []int, gamma float64) *Schedule {
	return newSchedule(opt, &multiStepRule{slices.Sorted(slices.Values(milestones)), gamma})
}

func (r *multiStepRule) kind() string { return "MultiStepLR" }
func (r *multiStepRule) fresh() rule  { return &multiStepRule{} }
func (r *multiStepRule) problem(int) string {
	if !slices.IsSorted(r.Milestones) {
		return "the milestones are not in order"
	}
	return in("gamma", r.Gamma, 0, huge)
}
func (r *multiStepRule) next(s *Schedule, i int) float64 {
	lr, here := s.lr(i), 0
	for _, m := range r.Milestones {
		if m == s.epoch {
			here++
		}
	}
	if here == 0 {
		return lr
	}
	return lr * cpu.Pow(r.Gamma, float64(here))
}
func (r *multiStepRule) at(s *Schedule, i int) float64 {
	passed, _ := slices.BinarySearch(r.Milestones, s.epoch+1)
	return s.base[i] * cpu.Pow(r.Gamma, float64(passed))
}

type exponentialRule struct {
	Gamma float64 `json:"gamma"`
}

// NewExponentialLR multiplies the rate by gamma at every step, as torch's ExponentialLR.
func NewExponentialLR(opt Optimizer, gamma float64) *Schedule {
	return newSchedule(opt, &exponentialRule{gamma})
}

func (r *exponentialRule) kind() string       { return "ExponentialLR" }
func (r *exponentialRule) fresh() rule        { return &exponentialRule{} }
func (r *exponentialRule) problem(int) string { return in("gamma", r.Gamma, 0, huge) }
func (r *exponentialRule) next(s *Schedule, i int) float64 {
	if s.epoch == 0 {
		return s.lr(i)
	}
	return s.lr(i) * r.Gamma
}
func (r *exponentialRule) at(s *Schedule, i int) float64 {
	return s.base[i] * cpu.Pow(r.Gamma, float64(s.epoch))
}

type constantRule struct {
	Factor     float64 `json:"factor"`
	TotalIters int     `json:"total_iters"`
}

// NewConstantLR multiplies the rate by factor until step n, as torch's ConstantLR (1/3 and 5 unless given).
func NewConstantLR(opt Optimizer, factor float64, n int) *Schedule {
	return newSchedule(opt, &constantRule{factor, n})
}

func (r *constantRule) kind() string { return "ConstantLR" }
func (r *constantRule) fresh() rule  { return &constantRule{} }
func (r *constantRule) problem(int) string {
	return first(in("factor", r.Factor, math.SmallestNonzeroFloat64, 1), in("total_iters", float64(r.TotalIters), 1, huge))
}
func (r *constantRule) next(s *Schedule, i int) float64 {
	switch s.epoch {
	case 0:
		return s.lr(i) * r.Factor
	case r.TotalIters:
		return s.lr(i) * (1 / r.Factor)
	}
	return s.lr(i)
}
func (r *constantRule) at(s *Schedule, i int) float64 {
	if s.epoch >= r.TotalIters {
		return s.base[i]
	}
	return s.base[i] * r.Factor
}

// lambdaRule has no settings of its own: functions are not saved.
type lambdaRule struct {
	name  string
	scale []func(step int) float64
	chain bool // times the present rate instead of the first one
}

// NewLambdaLR sets the rate to the first one times f(step), as torch's LambdaLR: one function for all groups, or one for each.
func NewLambdaLR(opt Optimizer, f ...func(step int) float64) *Schedule {
	return newSchedule(opt, &lambdaRule{"LambdaLR", f, false})
}

// NewMultiplicativeLR multiplies the rate by f(step) at every step, as torch's MultiplicativeLR; see NewLambdaLR.
func NewMultiplicativeLR(opt Optimizer, f ...func(step int) float64) *Schedule {
	return newSchedule(opt, &lambdaRule{"MultiplicativeLR", f, true})
}

func (r *lambdaRule) kind() string { return r.name }
func (r *lambdaRule) fresh() rule  { return r }
func (r *lambdaRule) problem(groups int) string {
	if slices.ContainsFunc(r.scale, func(f func(int) float64) bool { return f == nil }) {
		return "a function is nil"
	}
	if len(r.scale) != 1 && len(r.scale) != groups {
		return fmt.Sprintf("%d functions for %d groups", len(r.scale), groups)
	}
	return ""
}
func (r *lambdaRule) next(s *Schedule, i int) float64 {
	f := r.scale[i%len(r.scale)]
	switch {
	case !r.chain:
		return s.base[i] * f(s.epoch)
	case s.epoch == 0:
		return s.lr(i)
	}
	return s.lr(i) * f(s.epoch)
}
func (r *lambdaRule) at(s *Schedule, i int) float64 {
	if r.chain { // torch multiplies where a sequence comes to it, though not at the very start
		return s.lr(i) * r.scale[i%len(r.scale)](s.epoch)
	}
	return r.next(s, i)
}
