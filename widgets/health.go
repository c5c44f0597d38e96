package widgets

import (
	"math"
	"slices"
	"strings"
)

// The exponents that health strips show: from below what float16 loses to above what it holds.
const (
	StripLow  = -32
	StripHigh = 24
)

// Facts are a site's health in words: the largest magnitude first, then shares that are not nothing. Of results that are narrow,
// 16 bits wide when they were counted, they tell what happened, and what was lost is among their zeros; of wider ones what
// DecisionsData.Format would do to them.
func (h *Health) Facts(narrow bool) []string {
	out := []string{"amax " + magnitude(h.Amax)}
	if h.N == 0 {
		return out
	}
	add := func(what string, n int) {
		if n > 0 {
			out = append(out, what+" "+percent(n, h.N))
		}
	}
	add("NaN", h.NaNs)
	add("overflow", h.Infs)
	if narrow {
		add("zeros", h.Zeros)
		add("subnormal", h.Fate.Subnormal)
	} else {
		add("would flush", h.Fate.Zero)
		add("would be subnormal", h.Fate.Subnormal)
		add("would overflow", h.Fate.Overflow)
	}
	return out
}

// Sick says whether results hold what is not finite.
func (h *Health) Sick() bool { return h != nil && h.Infs+h.NaNs > 0 }

// Strip draws the magnitudes as blocks, two binades a column, from 2^StripLow to 2^StripHigh; what lies beyond goes to the ends.
// Column c stands for the magnitudes from 2^(StripLow+2c) on.
func (h *Health) Strip() string {
	const per = 2
	sums := make([]int, (StripHigh-StripLow)/per)
	for i, n := range h.Bins {
		c := (min(max(h.Low+i, StripLow), StripHigh-1) - StripLow) / per
		sums[c] += n
	}
	if len(h.Bins) == 0 && h.Fate.All() > 0 { // the figure was too large for histograms: from the smallest to the largest
		lo, mid, hi := exponentOf(h.Amin), h.Mid, exponentOf(h.Amax)
		for e := lo; e <= hi && lo > -2000; e++ {
			c := (min(max(e, StripLow), StripHigh-1) - StripLow) / per
			sums[c] = max(sums[c], 4+4*b2i(e == mid))
		}
	}
	most := max(slices.Max(sums), 1)
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, n := range sums {
		if n == 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune(levels[int(math.Ceil(float64(n)/float64(most)*float64(len(levels))))-1])
	}
	return b.String()
}

// exponentOf is the exponent of a magnitude.
func exponentOf(v Number) int {
	_, e := math.Frexp(float64(v))
	return e - 1
}

// HealthAxis stands above the strips: what the format makes of each column.
func (d *DecisionsData) HealthAxis() string {
	var b strings.Builder
	for e := StripLow; e < StripHigh; e += 2 {
		b.WriteRune(fateMarks[d.FateOf(e)])
	}
	return b.String()
}

// FateOf says what Format makes of numbers with 2^e ≤ |x| < 2^(e+1): one of the Fate constants.
func (d *DecisionsData) FateOf(e int) int {
	f := whatIf[0].format
	if d.Format == whatIf[1].format.String() {
		f = whatIf[1].format
	}
	return fateIn(f, e, 1)
}

// BackwardHealth joins the health of backward sites, so that a row has one strip for them; nil when none was looked at. The
// shares of a binade are weighted by how many numbers they stand for.
func (d *DecisionsData) BackwardHealth(sites []int) (joined *Health, narrow bool) {
	var all spread
	fate := Fate{}
	narrow = true
	for _, i := range sites {
		s := &d.Sites[i]
		h := s.Health
		if h == nil || s.Op == "cast" || s.Op == "to_device" { // a cast repeats the numbers of what it was made of
			continue
		}
		part := spread{looked: h.Looked}
		part.N, part.Zeros, part.Infs, part.NaNs, part.Amax, part.Amin, part.Low = h.N, h.Zeros, h.Infs, h.NaNs, float64(h.Amax), float64(h.Amin), h.Low
		finite := float64(h.Fate.All())
		for _, n := range h.Bins {
			part.Counts = append(part.Counts, int(math.Ceil(float64(n)*finite/1000)))
		}
		all.join(&part)
		fate.Zero += h.Fate.Zero
		fate.Subnormal += h.Fate.Subnormal
		fate.Normal += h.Fate.Normal
		fate.Overflow += h.Fate.Overflow
		narrow = narrow && s.Out.IsHalf()
	}
	if joined = all.of(whatIf[0].format); joined != nil {
		joined.Fate = fate
	}
	return joined, narrow
}
