package optim

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/halftone-ml/halftone/internal/absent"
	"github.com/halftone-ml/halftone/internal/optional"
)

type oneCycleRule struct {
	MaxLR         []float64 `json:"max_lr"` // of each group, as the five that follow
	InitialLR     []float64 `json:"initial_lr"`
	MinLR         []float64 `json:"min_lr"`
	MaxMomentum   float64   `json:"max_momentum"`
	BaseMomentum  float64   `json:"base_momentum"`
	CycleMomentum bool      `json:"cycle_momentum"`
	TotalSteps    int       `json:"total_steps"`
	PctStart      float64   `json:"pct_start"`
	Linear        bool      `json:"linear"`
	ThreePhase    bool      `json:"three_phase"`

	div, finalDiv float64 // what the rates are made with
}

// A OneCycleOption configures NewOneCycleLR.
type OneCycleOption func(*oneCycleRule)

// PctStart sets the share of the steps in which the rate rises; the default is 0.3.
func PctStart(share float64) OneCycleOption { return func(r *oneCycleRule) { r.PctStart = share } }

// LinearAnneal moves along lines; the default is half cosines.
func LinearAnneal() OneCycleOption { return func(r *oneCycleRule) { r.Linear = true } }

// KeepMomentum leaves the momentum alone. By default it falls while the rate rises and rises while it falls.
func KeepMomentum() OneCycleOption { return func(r *oneCycleRule) { r.CycleMomentum = false } }

// MomentumRange sets the lowest and the highest momentum; the defaults are 0.85 and 0.95.
func MomentumRange(base, max float64) OneCycleOption {
	return func(r *oneCycleRule) { r.BaseMomentum, r.MaxMomentum = base, max }
}

// DivFactors sets the quotients of the highest rate and the first one, and of the first and the last; the defaults are 25 and 1e4.
func DivFactors(initial, final float64) OneCycleOption {
	return func(r *oneCycleRule) { r.div, r.finalDiv = initial, final }
}

// ThreePhase lets the rate fall to the first one as long as it rose, and to the last one after it; by default it falls to the last one in
// one go.
func ThreePhase() OneCycleOption { return func(r *oneCycleRule) { r.ThreePhase = true } }

// GroupMaxLR sets the highest rate of every group, in place of one for all.
func GroupMaxLR(lr ...float64) OneCycleOption { return func(r *oneCycleRule) { r.MaxLR = lr } }

// NewOneCycleLR raises the rate to max and lowers it again within total steps, and moves the momentum (Adam's first beta) the other way
// (Smith and Topin, 2018), as torch's OneCycleLR. It panics with amp.ErrArgument for values out of range, for an optimizer
// without momentum unless KeepMomentum is given, and when stepped past the end.
func NewOneCycleLR(opt Optimizer, max float64, total int, opts ...OneCycleOption) *Schedule {
	r := &oneCycleRule{TotalSteps: total, PctStart: 0.3, CycleMomentum: true, BaseMomentum: 0.85, MaxMomentum: 0.95, div: 25, finalDiv: 1e4}
	if !absent.Is(opt) {
		for range opt.Groups() {
			r.MaxLR = append(r.MaxLR, max)
		}
	}
	optional.Apply("NewOneCycleLR", opts, r, misused)
	if !(r.div > 0 && r.finalDiv > 0) {
		misused("NewOneCycleLR", "use quotients above 0", "quotients %v and %v", r.div, r.finalDiv)
	}
	for _, m := range r.MaxLR {
		r.InitialLR = append(r.InitialLR, m/r.div)
		r.MinLR = append(r.MinLR, m/r.div/r.finalDiv)
	}
	if !absent.Is(opt) && r.problem(len(opt.Groups())) == "" {
		if k := opt.kindOf(); r.CycleMomentum && !k.takes("Betas") && !k.takes("Momentum") {
			misused("NewOneCycleLR", "add optim.KeepMomentum()", "%s has no momentum to cycle", k.name)
		}
		for i, g := range opt.Groups() {
			g.initial = &r.InitialLR[i]
		}
	}
	return newSchedule(opt, r)
}

func (r *oneCycleRule) kind() string { return "OneCycleLR" }
func (r *oneCycleRule) fresh() rule  { return &oneCycleRule{} }
func (r *oneCycleRule) problem(groups int) string {
	for _, list := range [][]float64{r.MaxLR, r.InitialLR, r.MinLR} {
		if len(list) != groups {
			return fmt.Sprintf("%d rates for %d groups", len(list), groups)
		}
		for _, v := range list {
			if p := in("rate", v, 0, huge); p != "" {
				return p
			}
		}
	}
	return first(in("total_steps", float64(r.TotalSteps), 1, math.MaxInt32), in("pct_start", r.PctStart, 0, 1),
		in("base_momentum", r.BaseMomentum, 0, below1), in("max_momentum", r.MaxMomentum, 0, below1))
}

const below1 = 1 - 0x1p-53

// A phase goes from one rate and momentum to others; it ends at step end.
type phase struct {
	end              float64
	lr0, lr1, m0, m1 float64
}

func (r *oneCycleRule) phases(i int) []phase {
	up := float64(r.PctStart * float64(r.TotalSteps))
	last := float64(r.TotalSteps - 1)
	first, top, low := r.InitialLR[i], r.MaxLR[i], r.MinLR[i]
	if r.ThreePhase {
		return []phase{
			{up - 1, first, top, r.MaxMomentum, r.BaseMomentum},
			{float64(2*up) - 2, top, first, r.BaseMomentum, r.MaxMomentum},
			{last, first, low, r.MaxMomentum, r.MaxMomentum},
		}
	}
	return []phase{{up - 1, first, top, r.MaxMomentum, r.BaseMomentum}, {last, top, low, r.BaseMomentum, r.MaxMomentum}}
}

func (r *oneCycleRule) next(s *Schedule, i int) float64 {
	if s.epoch > r.TotalSteps {
		misused("OneCycleLR.Step", "make it for as many steps as the training has", "step %d of %d", s.epoch, r.TotalSteps)
	}
	step, start := float64(s.epoch), 0.0
	phases := r.phases(i)
	for k, p := range phases {
		if step > p.end && k < len(phases)-1 {
			start = p.end
			continue
		}
		t := 1.0
		if p.end != start { // a phase without length is at its end; torch divides by zero
			t = (step - start) / (p.end - start)
		}
		if r.CycleMomentum {
			s.setMomentum(i, r.anneal(p.m0, p.m1, t))
		}
		return max(0, r.anneal(p.lr0, p.lr1, t)) // torch's line goes on below 0 in the step behind the last
	}
	return s.lr(i)
}
func (r *oneCycleRule) at(s *Schedule, i int) float64 { return r.next(s, i) }

func (r *oneCycleRule) anneal(from, to, t float64) float64 {
	if r.Linear {
		return float64((to-from)*t) + from
	}
	return to + float64((from-to)/2*(cpu.Cos.Of(math.Pi*t)+1))
}

// setMomentum sets the momentum of a group, or Adam's first beta.
func (s *Schedule) setMomentum(i int, v float64) {
	set := &s.opt.Groups()[i].set
	if s.opt.kindOf().takes("Betas") {
		set.Beta1 = v
		return
	}
	set.Momentum = v
}
