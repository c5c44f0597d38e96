package optim

import (
	"fmt"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/halftone-ml/halftone/internal/absent"
	"github.com/halftone-ml/halftone/internal/optional"
)

type cyclicRule struct {
	BaseLR        []float64 `json:"base_lr"` // of each group, as max_lr
	MaxLR         []float64 `json:"max_lr"`
	StepSizeUp    int       `json:"step_size_up"`
	StepSizeDown  int       `json:"step_size_down"`
	Mode          string    `json:"mode"`
	Gamma         float64   `json:"gamma"`
	CycleMomentum bool      `json:"cycle_momentum"`
	BaseMomentum  float64   `json:"base_momentum"`
	MaxMomentum   float64   `json:"max_momentum"`
}

// A CyclicOption configures NewCyclicLR.
type CyclicOption func(*cyclicRule)

// CycleSteps sets the steps in which the rate rises, and those in which it falls; the default is 2000 for both.
func CycleSteps(up, down int) CyclicOption {
	return func(r *cyclicRule) { r.StepSizeUp, r.StepSizeDown = up, down }
}

// Triangular2 halves the height of each cycle, as torch's mode "triangular2"; by default all are as high.
func Triangular2() CyclicOption { return func(r *cyclicRule) { r.Mode = "triangular2" } }

// ExpRange multiplies the height by gamma at every step, as torch's mode "exp_range".
func ExpRange(gamma float64) CyclicOption {
	return func(r *cyclicRule) { r.Mode, r.Gamma = "exp_range", gamma }
}

// FixedMomentum leaves the momentum alone. By default it falls while the rate rises and rises while it falls.
func FixedMomentum() CyclicOption { return func(r *cyclicRule) { r.CycleMomentum = false } }

// CycleMomenta sets the lowest and the highest momentum of all groups; the defaults are 0.8 and 0.9.
func CycleMomenta(base, max float64) CyclicOption {
	return func(r *cyclicRule) { r.BaseMomentum, r.MaxMomentum = base, max }
}

// GroupCycle sets the lowest and the highest rate of every group, in place of those for all.
func GroupCycle(base, max []float64) CyclicOption {
	return func(r *cyclicRule) { r.BaseLR, r.MaxLR = slices.Clone(base), slices.Clone(max) }
}

// NewCyclicLR moves the rate from base to max and back, cycle after cycle, and the momentum (Adam's first beta) the other way (Smith, 2017),
// as torch's CyclicLR. With x from 0 to 1 to 0 within a cycle and a height of 1, 2^(1-cycle) or gamma^step, the rate is
// base + (max-base)·x·height. It is stepped after every batch. It panics with amp.ErrArgument for values out of range, and for an optimizer
// without momentum unless FixedMomentum is given.
func NewCyclicLR(opt Optimizer, base, max float64, opts ...CyclicOption) *Schedule {
	r := &cyclicRule{StepSizeUp: 2000, StepSizeDown: 2000, Mode: "triangular", Gamma: 1, CycleMomentum: true, BaseMomentum: 0.8, MaxMomentum: 0.9}
	if !absent.Is(opt) {
		for range opt.Groups() {
			r.BaseLR, r.MaxLR = append(r.BaseLR, base), append(r.MaxLR, max)
		}
	}
	optional.Apply("NewCyclicLR", opts, r, misused)
	if !absent.Is(opt) && r.problem(len(opt.Groups())) == "" {
		if k := opt.kindOf(); r.CycleMomentum && !k.takes("Betas") && !k.takes("Momentum") {
			misused("NewCyclicLR", "add optim.FixedMomentum()", "%s has no momentum to cycle", k.name)
		}
		for i, g := range opt.Groups() {
			g.set.LR = r.BaseLR[i] // which other schedules start from, unless one was there before
		}
	}
	return newSchedule(opt, r)
}

func (r *cyclicRule) kind() string { return "CyclicLR" }
func (r *cyclicRule) fresh() rule  { return &cyclicRule{} }
func (r *cyclicRule) problem(groups int) string {
	for _, list := range [][]float64{r.BaseLR, r.MaxLR} {
		if len(list) != groups {
			return fmt.Sprintf("%d rates for %d groups", len(list), groups)
		}
		for _, v := range list {
			if p := in("rate", v, 0, huge); p != "" {
				return p
			}
		}
	}
	if r.Mode != "triangular" && r.Mode != "triangular2" && r.Mode != "exp_range" {
		return fmt.Sprintf("mode is %q", r.Mode)
	}
	return first(in("step_size_up", float64(r.StepSizeUp), 1, math.MaxInt32), in("step_size_down", float64(r.StepSizeDown), 0, math.MaxInt32),
		in("gamma", r.Gamma, 0, huge), in("base_momentum", r.BaseMomentum, 0, below1), in("max_momentum", r.MaxMomentum, 0, below1))
}

// height is how far up a step is, from 0 to 1, and what the amplitude is multiplied by there.
func (r *cyclicRule) height(step int) (x, scale float64) {
	up, total := float64(r.StepSizeUp), float64(r.StepSizeUp+r.StepSizeDown)
	cycle := math.Floor(1 + float64(step)/total)
	x, ratio := 1+float64(step)/total-cycle, up/total
	if x <= ratio {
		x /= ratio
	} else {
		x = (x - 1) / (ratio - 1)
	}
	switch r.Mode {
	case "triangular2":
		return x, 1 / cpu.Pow(2, cycle-1)
	case "exp_range":
		return x, cpu.Pow(r.Gamma, float64(step))
	}
	return x, 1
}

func (r *cyclicRule) next(s *Schedule, i int) float64 {
	x, scale := r.height(s.epoch)
	if r.CycleMomentum {
		s.setMomentum(i, r.MaxMomentum-float64((r.MaxMomentum-r.BaseMomentum)*x*scale))
	}
	return r.BaseLR[i] + float64((r.MaxLR[i]-r.BaseLR[i])*x*scale)
}
func (r *cyclicRule) at(s *Schedule, i int) float64 { return r.next(s, i) }
