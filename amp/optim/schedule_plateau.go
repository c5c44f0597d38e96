package optim

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/internal/absent"
	"github.com/halftone-ml/halftone/internal/optional"
)

// A Plateau lowers the learning rates when a measure stops improving. Unlike a Scheduler its Step takes the measure.
type Plateau struct {
	opt Optimizer
	set plateau
}

// plateau is the settings and the position, by the names of torch's attributes.
type plateau struct {
	Max       bool      `json:"max"`
	Factor    float64   `json:"factor"`
	Patience  int       `json:"patience"`
	Threshold float64   `json:"threshold"`
	Absolute  bool      `json:"absolute"`
	Cooldown  int       `json:"cooldown"`
	MinLRs    []float64 `json:"min_lrs"`
	Eps       float64   `json:"eps"`
	Best      *float64  `json:"best"` // null before the first measure
	Bad       int       `json:"num_bad_epochs"`
	Cooling   int       `json:"cooldown_counter"`
}

// A PlateauOption configures NewReduceLROnPlateau.
type PlateauOption func(*plateau)

// Rising says that a larger measure is better, such as an accuracy; by default a smaller one is, such as a loss.
func Rising() PlateauOption { return func(p *plateau) { p.Max = true } }

// Factor multiplies the rate; the default is 0.1.
func Factor(f float64) PlateauOption { return func(p *plateau) { p.Factor = f } }

// Patience sets how many measures in a row may be no better before the rate is lowered; the default is 10.
func Patience(n int) PlateauOption { return func(p *plateau) { p.Patience = n } }

// Threshold sets by which share of the best measure a better one must differ; the default is 1e-4.
func Threshold(t float64) PlateauOption { return func(p *plateau) { p.Threshold = t } }

// AbsoluteThreshold sets by how much a better measure must differ.
func AbsoluteThreshold(t float64) PlateauOption {
	return func(p *plateau) { p.Threshold, p.Absolute = t, true }
}

// Cooldown sets how many measures do not count after the rate was lowered; the default is 0.
func Cooldown(n int) PlateauOption { return func(p *plateau) { p.Cooldown = n } }

// MinLR sets the lowest rate: one for all groups, or one for each; the default is 0.
func MinLR(lr ...float64) PlateauOption { return func(p *plateau) { p.MinLRs = lr } }

// MinChange sets the smallest change of the rate that is made; the default is 1e-8.
func MinChange(eps float64) PlateauOption { return func(p *plateau) { p.Eps = eps } }

// NewReduceLROnPlateau lowers the rate when a measure stops improving, as torch's ReduceLROnPlateau. It panics with amp.ErrArgument for a
// factor of 1 or more, negative settings, or a number of lowest rates that fits no groups.
func NewReduceLROnPlateau(opt Optimizer, opts ...PlateauOption) *Plateau {
	s := plateau{Factor: 0.1, Patience: 10, Threshold: 1e-4, Eps: 1e-8, MinLRs: []float64{0}}
	optional.Apply("NewReduceLROnPlateau", opts, &s, misused)
	if absent.Is(opt) {
		misused("NewReduceLROnPlateau", "pass the optimizer", "no optimizer")
	}
	if len(s.MinLRs) == 1 {
		s.MinLRs = slices.Repeat(s.MinLRs, len(opt.Groups()))
	}
	if p := s.problem(len(opt.Groups())); p != "" {
		misused("NewReduceLROnPlateau", "use values in range", "%s", p)
	}
	return &Plateau{opt, s}
}

func (s *plateau) problem(groups int) string {
	if len(s.MinLRs) != groups {
		return "the lowest rates are not one for each group"
	}
	for _, v := range s.MinLRs {
		if p := in("min_lr", v, 0, huge); p != "" {
			return p
		}
	}
	return first(in("factor", s.Factor, 0, below1), in("patience", float64(s.Patience), 0, huge), in("threshold", s.Threshold, 0, huge),
		in("cooldown", float64(s.Cooldown), 0, huge), in("eps", s.Eps, 0, huge), in("num_bad_epochs", float64(s.Bad), 0, huge))
}

// Step takes the measure of an epoch, and lowers the rates if it has not improved for longer than Patience. A measure of NaN is
// no better.
func (p *Plateau) Step(measure float64) {
	p.made("Step")
	outside("ReduceLROnPlateau", p.opt)
	s := &p.set
	if s.better(measure) {
		s.Best, s.Bad = &measure, 0
	} else {
		s.Bad++
	}
	if s.Cooling > 0 {
		s.Cooling--
		s.Bad = 0
	}
	if s.Bad <= s.Patience {
		return
	}
	s.Cooling, s.Bad = s.Cooldown, 0
	for i, g := range p.opt.Groups() {
		low := s.MinLRs[min(i, len(s.MinLRs)-1)]
		if lr := max(g.LR()*s.Factor, low); g.LR()-lr > s.Eps {
			g.SetLR(lr)
		}
	}
}

func (s *plateau) better(v float64) bool {
	best := math.Inf(1)
	if s.Max {
		best = math.Inf(-1)
	}
	if s.Best != nil {
		best = *s.Best
	}
	switch {
	case s.Max && s.Absolute:
		return v > best+s.Threshold
	case s.Max:
		return v > best*(s.Threshold+1)
	case s.Absolute:
		return v < best-s.Threshold
	}
	return v < best*(1-s.Threshold)
}

// LastLR returns the learning rates.
func (p *Plateau) LastLR() []float64 {
	p.made("LastLR")
	return rates(p.opt)
}

// State returns the settings, the best measure and the counters.
func (p *Plateau) State() *ScheduleState {
	p.made("State")
	s := p.set.finite()
	return &ScheduleState{Kind: "ReduceLROnPlateau", Settings: encode(&s)}
}

// finite is s for JSON, which has no infinity; nothing is better than an infinite measure, which is what the number in its place must say.
func (s plateau) finite() plateau {
	if s.Best != nil && math.IsInf(*s.Best, 0) {
		limit := math.Copysign(huge, *s.Best)
		s.Best = &limit
	}
	return s
}

// LoadState restores what State returned; load the optimizer's state too, which has the rates. See Schedule.LoadState.
func (p *Plateau) LoadState(st *ScheduleState) error {
	p.made("LoadState")
	const kind = "ReduceLROnPlateau"
	if err := st.fits(kind, 0, 0, 0); err != nil {
		return err
	}
	var s plateau
	if err := decode(st.Settings, &s); err != nil {
		return unfit(kind, "%v", err)
	}
	if detail := s.problem(len(p.opt.Groups())); detail != "" {
		return unfit(kind, "%s", detail)
	}
	p.set = s
	return nil
}
