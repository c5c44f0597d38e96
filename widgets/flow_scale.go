package widgets

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// A scaleFold finds the loss scales that suit gradients of one or several precisions. Gradients are linear in the loss: with a scale that
// is 2^k times as large each is 2^k times as large.
type scaleFold struct {
	lost map[int]int // numbers that the scale times 2^k still rounds to zero, where it is not at least 2^(k+1)
	n    int
	safe int // largest k at which nothing overflows
	any  bool
}

// add adds an event. A number is rounded to zero where it is half the smallest subnormal or less, which the event's binades end at, and
// to infinity from half a step above the largest number on (ties to even).
func (s *scaleFold) add(e *amp.GradientEvent) {
	f, ok := amp.FormatOf(e.DType)
	if !ok || e.Wanted == 0 || len(e.Counts) > maxExponents*4 {
		return
	}
	half := int(math.Log2(f.MinSubnormal())) - 1
	if s.lost == nil {
		s.lost = map[int]int{}
	}
	for i, n := range e.Counts { // 2^e < |g|·2^k is kept from e+k = half on
		s.lost[half-(e.Low+i)-1] += max(n, 0)
		s.n += max(n, 0)
	}
	top := roundsUp(f)
	_, k := math.Frexp(top / e.Amax)
	for k--; math.Ldexp(e.Amax, k) >= top; k-- { // once at most: 2^k ≤ top/amax
	}
	if !s.any || k < s.safe {
		s.safe = k
	}
	s.any = true
}

// roundsUp is the least magnitude that a format rounds to infinity.
func roundsUp(f amp.Format) float64 {
	_, top := math.Frexp(f.Max())
	return math.Ldexp(1-f.Epsilon()/4, top)
}

// fit returns the scales that keep FlowKeep of all numbers.
func (s *scaleFold) fit(scale float64) LossScale {
	ks := make([]int, 0, len(s.lost))
	for k := range s.lost {
		ks = append(ks, k)
	}
	slices.Sort(ks)
	allowed, below := int(math.Floor(float64(s.n)*(1-FlowKeep)+1e-9)), 0
	for i := len(ks) - 1; i >= 0; i-- { // below: what 2^ks[i] does not keep
		if below += s.lost[ks[i]]; below > allowed {
			return s.over(scale, number(math.Ldexp(scale, ks[i]+1)))
		}
	}
	return LossScale{}
}

// over returns the range from a scale on that keeps enough.
func (s *scaleFold) over(scale float64, keep Number) LossScale {
	if !s.any {
		return LossScale{}
	}
	out := LossScale{Keep: keep, Safe: number(math.Ldexp(scale, s.safe))}
	if out.Keep <= out.Safe {
		return out
	}
	kept := 0
	for k, n := range s.lost {
		if k < s.safe {
			kept += n
		}
	}
	out.Kept = digits(float64(kept)/float64(s.n), 4)
	return out
}
