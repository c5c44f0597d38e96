package optim

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Schedules that move the rate along a line, a power or a cosine.

type linearRule struct {
	Start      float64 `json:"start_factor"`
	End        float64 `json:"end_factor"`
	TotalIters int     `json:"total_iters"`
}

// NewLinearLR multiplies the rate by a factor that goes from start to end in n steps, along a line, as torch's LinearLR (1/3, 1 and 5
// unless given).
func NewLinearLR(opt Optimizer, start, end float64, n int) *Schedule {
	return newSchedule(opt, &linearRule{start, end, n})
}

// NewLinearWarmup raises the rate from start times the optimizer's to the full one in n steps; torch writes it
// LinearLR(start_factor=start, total_iters=n).
func NewLinearWarmup(opt Optimizer, start float64, n int) *Schedule {
	return NewLinearLR(opt, start, 1, n)
}

func (r *linearRule) kind() string { return "LinearLR" }
func (r *linearRule) fresh() rule  { return &linearRule{} }
func (r *linearRule) problem(int) string {
	return first(in("start_factor", r.Start, math.SmallestNonzeroFloat64, 1), in("end_factor", r.End, 0, 1), in("total_iters", float64(r.TotalIters), 1, huge))
}
func (r *linearRule) next(s *Schedule, i int) float64 {
	lr, n := s.lr(i), float64(r.TotalIters)
	switch {
	case s.epoch == 0:
		return lr * r.Start
	case s.epoch > r.TotalIters:
		return lr
	}
	return lr * (1 + (r.End-r.Start)/(float64(n*r.Start)+float64(float64(s.epoch-1)*(r.End-r.Start))))
}
func (r *linearRule) at(s *Schedule, i int) float64 {
	return s.base[i] * (r.Start + (r.End-r.Start)*float64(min(r.TotalIters, s.epoch))/float64(r.TotalIters))
}

type polynomialRule struct {
	TotalIters int     `json:"total_iters"`
	Power      float64 `json:"power"`
}

// NewPolynomialLR lowers the rate to 0 in n steps, as (1-step/n)^power, as torch's PolynomialLR (5 and 1 unless given).
func NewPolynomialLR(opt Optimizer, n int, power float64) *Schedule {
	return newSchedule(opt, &polynomialRule{n, power})
}

func (r *polynomialRule) kind() string { return "PolynomialLR" }
func (r *polynomialRule) fresh() rule  { return &polynomialRule{} }
func (r *polynomialRule) problem(int) string {
	return first(in("total_iters", float64(r.TotalIters), 1, huge), in("power", r.Power, 0, huge))
}
func (r *polynomialRule) next(s *Schedule, i int) float64 {
	n, t := float64(r.TotalIters), float64(s.epoch)
	if s.epoch == 0 || s.epoch > r.TotalIters {
		return s.lr(i)
	}
	return s.lr(i) * cpu.Pow((1-t/n)/(1-(t-1)/n), r.Power)
}
func (r *polynomialRule) at(s *Schedule, i int) float64 {
	return s.base[i] * cpu.Pow(1-float64(min(r.TotalIters, s.epoch))/float64(r.TotalIters), r.Power)
}

type cosineRule struct {
	TMax   int     `json:"T_max"`
	EtaMin float64 `json:"eta_min"`
}

// NewCosineAnnealingLR lowers the rate to etaMin in n steps, along half a cosine, and raises it again after it, as torch's
// CosineAnnealingLR (whose eta_min is 0 unless given).
func NewCosineAnnealingLR(opt Optimizer, n int, etaMin float64) *Schedule {
	return newSchedule(opt, &cosineRule{n, etaMin})
}

func (r *cosineRule) kind() string { return "CosineAnnealingLR" }
func (r *cosineRule) fresh() rule  { return &cosineRule{} }
func (r *cosineRule) problem(int) string {
	return first(in("T_max", float64(r.TMax), 1, math.MaxInt32), in("eta_min", r.EtaMin, 0, huge))
}
func (r *cosineRule) next(s *Schedule, i int) float64 {
	lr, n, t := s.lr(i), float64(r.TMax), float64(s.epoch)
	switch {
	case s.epoch == 0:
		return lr
	case (s.epoch-1-r.TMax)%(2*r.TMax) == 0: // the step after the lowest point, where the quotient below is 0/0
		return lr + float64((s.base[i]-r.EtaMin)*(1-cpu.Cos.Of(math.Pi/n))/2)
	}
	return float64((1+cpu.Cos.Of(math.Pi*t/n))/(1+cpu.Cos.Of(math.Pi*(t-1)/n))*(lr-r.EtaMin)) + r.EtaMin
}
func (r *cosineRule) at(s *Schedule, i int) float64 {
	return cosine(s.base[i], r.EtaMin, float64(s.epoch)/float64(r.TMax))
}

// cosine goes from start to end as t goes from 0 to 1.
func cosine(start, end, t float64) float64 {
	return end + float64((start-end)*(1+cpu.Cos.Of(math.Pi*t))/2)
}
