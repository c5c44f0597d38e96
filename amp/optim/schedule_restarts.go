package optim

import "math"

type restartsRule struct {
	T0       int     `json:"T_0"`
	TMult    int     `json:"T_mult"`
	EtaMin   float64 `json:"eta_min"`
	Fraction float64 `json:"fraction,omitempty"` // of an epoch, beyond the whole ones
}

// NewCosineWarmRestarts lowers the rate to etaMin along half a cosine in n steps, begins again with mult times as many, and so on, as
// torch's CosineAnnealingWarmRestarts (mult is 1 and etaMin 0 unless given). Schedule.StepTo moves it within an epoch.
func NewCosineWarmRestarts(opt Optimizer, n, mult int, etaMin float64) *Schedule {
	return newSchedule(opt, &restartsRule{T0: n, TMult: mult, EtaMin: etaMin})
}

// StepTo moves a schedule of NewCosineWarmRestarts to an epoch, which may be a fraction, as torch's step(epoch + i/n) after batch i of n:
//
//	schedule.StepTo(float64(epoch) + float64(i)/float64(n))
//
// A Step after it goes on by one whole epoch from there. It panics with amp.ErrArgument for other schedules and for an epoch below 0, an
// infinite one or NaN. Unlike torch, whose logarithm may be a last bit too small there, it always begins again at the epoch of a restart.
func (s *Schedule) StepTo(epoch float64) {
	s.made("StepTo")
	r, ok := s.rule.(*restartsRule)
	if !ok {
		misused("Schedule.StepTo", "use Step", "%s has no fractions of an epoch", s.rule.kind())
	}
	if !(epoch >= 0 && epoch <= 1<<53) {
		misused("Schedule.StepTo", "count epochs from 0", "epoch %v", epoch)
	}
	s.notice()
	whole := math.Floor(epoch)
	s.epoch, r.Fraction = int(whole), epoch-whole
	s.set(r.next)
}

// whole forgets the fraction of an epoch.
func (s *Schedule) whole() {
	if r, ok := s.rule.(*restartsRule); ok {
		r.Fraction = 0
	}
}

func (r *restartsRule) kind() string { return "CosineAnnealingWarmRestarts" }
func (r *restartsRule) fresh() rule  { return &restartsRule{} }
func (r *restartsRule) problem(int) string {
	return first(in("T_0", float64(r.T0), 1, math.MaxInt32), in("T_mult", float64(r.TMult), 1, math.MaxInt32), in("eta_min", r.EtaMin, 0, huge),
		in("fraction", r.Fraction, 0, below1))
}
func (r *restartsRule) next(s *Schedule, i int) float64 {
	t, n := s.epoch, r.T0
	if r.TMult == 1 {
		t %= n
	}
	for t >= n && n <= math.MaxInt/r.TMult {
		t -= n
		n *= r.TMult
	}
	return cosine(s.base[i], r.EtaMin, (float64(t)+r.Fraction)/float64(n))
}
func (r *restartsRule) at(s *Schedule, i int) float64 { return r.next(s, i) }
