package widgets

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
)

// Health says what the results of a site held: the calls that were recorded at level Health, together.
type Health struct {
	Looked int    `json:"looked"` // calls looked at
	N      int    `json:"n"`      // numbers in their results
	Zeros  int    `json:"zeros,omitempty"`
	Infs   int    `json:"infs,omitempty"`
	NaNs   int    `json:"nans,omitempty"`
	Amax   Number `json:"amax"`           // largest finite magnitude
	Amin   Number `json:"amin"`           // smallest that is not zero, 0 without any
	Mid    int    `json:"mid"`            // exponent of the median magnitude
	Low    int    `json:"low"`            // exponent of Bins[0]
	Bins   []int  `json:"bins,omitempty"` // of the finite numbers that are not zero, how many in a thousand have 2^(Low+i) ≤ |x| < 2^(Low+i+1)
	Fate   Fate   `json:"fate"`           // what DecisionsData.Format makes of those numbers
}

// maxBins bounds the binades of a site's health; what is smaller goes to the lowest.
const maxBins = 72

// A spread counts magnitudes by binade over many results.
type spread struct {
	amp.Exponents
	looked int
}

// add counts a result whose numbers were multiplied by 2^shift.
func (b *spread) add(h *amp.Exponents, shift int) {
	b.looked++
	b.N += h.N
	b.Zeros += h.Zeros
	b.Infs += h.Infs
	b.NaNs += h.NaNs
	if h.Amax > 0 {
		b.Amax = max(b.Amax, math.Ldexp(h.Amax, -shift))
	}
	if low := math.Ldexp(h.Amin, -shift); h.Amin > 0 && (b.Amin == 0 || low < b.Amin) {
		b.Amin = low
	}
	if len(h.Counts) == 0 || len(h.Counts) > 4096 || h.Low < -1<<16 || h.Low > 1<<16 { // more binades than float64 has
		return
	}
	b.cover(h.Low-shift, len(h.Counts))
	at := h.Low - shift - b.Low
	for i, n := range h.Counts {
		b.Counts[at+i] += max(n, 0)
	}
}

// cover makes room for n binades from 2^low on.
func (b *spread) cover(low, n int) {
	if len(b.Counts) == 0 {
		b.Low = low
	}
	if less := b.Low - low; less > 0 {
		b.Counts = append(make([]int, less, less+len(b.Counts)), b.Counts...)
		b.Low = low
	}
	if more := low + n - b.Low - len(b.Counts); more > 0 {
		b.Counts = append(b.Counts, make([]int, more)...)
	}
}

// join adds another spread.
func (b *spread) join(o *spread) {
	if o.looked == 0 {
		return
	}
	looked := b.looked + o.looked
	b.add(&o.Exponents, 0)
	b.looked = looked
}

// done cuts empty binades off both ends and gathers what is below the highest most binades in the lowest kept.
func (b *spread) done(most int) amp.Exponents {
	h := b.Exponents
	from, to := 0, len(h.Counts)
	for to > from && h.Counts[to-1] == 0 {
		to--
	}
	for from < to && h.Counts[from] == 0 {
		from++
	}
	h.Low, h.Counts = h.Low+from, append([]int(nil), h.Counts[from:to]...)
	if cut := len(h.Counts) - most; cut > 0 {
		for _, n := range h.Counts[:cut] {
			h.Counts[cut] += n
		}
		h.Low, h.Counts = h.Low+cut, h.Counts[cut:]
	}
	return h
}

// of returns the figure's form, nil where nothing was looked at.
func (b *spread) of(f amp.Format) *Health {
	if b.looked == 0 {
		return nil
	}
	x := b.Fate(f, 1)
	h := b.done(maxBins)
	out := &Health{Looked: b.looked, N: h.N, Zeros: h.Zeros, Infs: h.Infs, NaNs: h.NaNs, Amax: number(h.Amax), Amin: number(h.Amin),
		Low: h.Low, Fate: Fate{x.Zero, x.Subnormal, x.Normal, x.Overflow}}
	all, below := out.Fate.All(), 0
	for i, n := range h.Counts {
		if below*2 < all {
			out.Mid = h.Low + i
		}
		below += n
		part := 0
		if n > 0 { // a thousandth at least: a binade with a number in it is not an empty one
			part = max(int(math.Round(1000*float64(n)/float64(all))), 1)
		}
		out.Bins = append(out.Bins, part)
	}
	return out
}
