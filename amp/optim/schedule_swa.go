package optim

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

type swaRule struct {
	SWALR        float64 `json:"swa_lr"`
	AnnealEpochs int     `json:"anneal_epochs"`
	Linear       bool    `json:"linear"`
}

// NewSWALR moves the rates from where they are to lr in n steps, along half a cosine, or along a line, and keeps them there, as torch's
// SWALR (n is 10 unless given): for the last part of a training whose weights are averaged. Another schedule may have moved the rates
// before its first Step.
func NewSWALR(opt Optimizer, lr float64, n int, linear bool) *Schedule {
	return newSchedule(opt, &swaRule{lr, n, linear})
}

func (r *swaRule) kind() string { return "SWALR" }
func (r *swaRule) fresh() rule  { return &swaRule{} }
func (r *swaRule) problem(int) string {
	return first(in("swa_lr", r.SWALR, 0, huge), in("anneal_epochs", float64(r.AnnealEpochs), 0, math.MaxInt32))
}

// share returns how much of the way is behind at a step.
func (r *swaRule) share(step int) float64 {
	t := float64(step) / float64(max(1, r.AnnealEpochs))
	t = max(0, min(1, t))
	if r.Linear {
		return t
	}
	return (1 - cpu.Cos.Of(math.Pi*t)) / 2
}

// step is that of the schedule; without a way the rate is there from the start, as in torch.
func (r *swaRule) step(s *Schedule) int {
	if r.AnnealEpochs == 0 {
		return max(1, s.epoch)
	}
	return s.epoch
}

// next takes the present rate back to where it started from, as torch does.
func (r *swaRule) next(s *Schedule, i int) float64 {
	from, before := r.SWALR, r.share(r.step(s)-1)
	if before < 1 {
		from = (s.lr(i) - float64(before*r.SWALR)) / (1 - before)
	}
	return r.between(s, from)
}

// at is next: torch's SWALR has no closed form, and begins within a sequence at the rate that the part before it leaves.
func (r *swaRule) at(s *Schedule, i int) float64 { return r.next(s, i) }

// between is the rate on the way from one.
func (r *swaRule) between(s *Schedule, from float64) float64 {
	alpha := r.share(r.step(s))
	return float64(r.SWALR*alpha) + float64(from*(1-alpha))
}
