package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// ctcPaths goes through the states of one target, step by step. What goes backward, from the last step to the first, takes the same paths
// through the states in reverse, those of the labels in reverse: one recursion serves both directions.
//
// The logarithm of a sum is that of 1 and of what the smaller terms are to the largest: of the two or three exponentials one is known.
type ctcPaths struct {
	class []int     // of the labels
	jumps []bool    // whether a path may come to a label from the one before it, over the blank
	blank int       // class
	terms []float64 // exponentials: one for each blank, two for each label
	sums  []float64 // of a state
}

// along makes ready for a target, from its end if reverse.
func (p *ctcPaths) along(labels []int64, blank int64, reverse bool) {
	n := len(labels)
	p.class, p.jumps, p.blank = resize(p.class, n), resize(p.jumps, n), int(blank)
	p.terms, p.sums = resize(p.terms, 3*n+1), resize(p.sums, 2*n+1)
	for j := range n {
		at := j
		if reverse {
			at = n - 1 - j
		}
		p.class[j] = int(labels[at])
		p.jumps[j] = j > 0 && p.class[j] != p.class[j-1]
	}
}

// of returns the class of a state.
func (p *ctcPaths) of(state int) int {
	if state%2 == 0 {
		return p.blank
	}
	return p.class[state/2]
}

// step sets the log-probability of all paths that are at a state after a step, from what it was before, nil for the first step, and from
// the step's log-probabilities of classes.
func (p *ctcPaths) step(now, before, lp []float64) {
	if before == nil {
		fill(now, noPath)
		for s := range min(2, len(now)) {
			now[s] = lp[p.of(s)]
		}
		return
	}
	p.compare(now, before)
	cpu.Exp.F64(p.terms, p.terms)
	n := len(p.class)
	blanks, first, second := p.terms[:n+1], p.terms[n+1:2*n+1], p.terms[2*n+1:]
	sums := p.sums[:2*n+1]
	for j := range first {
		sums[2*j], sums[2*j+1] = 1+blanks[j], 1+first[j]+second[j]
	}
	sums[2*n] = 1 + blanks[n]
	cpu.Log.F64(sums, sums)
	now = now[:len(sums)]
	blank := lp[p.blank]
	for j, c := range p.class {
		now[2*j] = sums[2*j] + now[2*j] + blank
		now[2*j+1] = sums[2*j+1] + now[2*j+1] + lp[c]
	}
	now[2*n] = sums[2*n] + now[2*n] + blank
}

// compare sets now to the largest of the terms of a state, and terms to how far the others lie below it.
func (p *ctcPaths) compare(now, before []float64) {
	n := len(p.class)
	now, before = now[:2*n+1], before[:2*n+1]
	blanks, first, second := p.terms[:n+1], p.terms[n+1:2*n+1], p.terms[2*n+1:]
	jumps := p.jumps[:len(first)]
	last := noPath // of the label before
	for j := range first {
		blank, label := before[2*j], before[2*j+1]
		most := max(blank, last)
		now[2*j], blanks[j] = most, ctcBelow(min(blank, last), most)
		over := noPath
		if jumps[j] {
			over = last
		}
		high := max(blank, label)
		most = max(high, over)
		now[2*j+1], first[j], second[j] = most, ctcBelow(min(blank, label), most), ctcBelow(min(high, over), most)
		last = label
	}
	most := max(before[2*n], last)
	now[2*n], blanks[n] = most, ctcBelow(min(before[2*n], last), most)
}

// ctcBelow returns x - most: -Inf where there are no paths, and NaN for an infinite or undefined number of them, as in PyTorch.
func ctcBelow(x, most float64) float64 {
	switch {
	case most-most == 0:
		return x - most
	case most < 0:
		return noPath
	}
	return math.NaN()
}

// ctcLogSum returns the logarithm of the sum of e^a and e^b.
func ctcLogSum(a, b float64) float64 {
	most := max(a, b)
	return cpu.Log.Of(1+cpu.Exp.Of(ctcBelow(min(a, b), most))) + most
}

// change sets what the log-probabilities of step change by along d, a direction of lp; past is what they changed by before.
func (p *ctcPaths) change(to, now, before, past, lp, d []float64) {
	for s := range to {
		c := p.of(s)
		to[s] = d[c]
		if before == nil {
			continue
		}
		sum, less := 0.0, lp[c]-now[s]
		for from := s; from >= max(0, s-2); from-- {
			if from == s-2 && (s%2 == 0 || !p.jumps[s/2]) {
				break
			}
			if q := portion(before[from], less); q != 0 {
				sum += float64(q * past[from])
			}
		}
		to[s] += sum
	}
}

// portion returns e^(p + less), 0 where there are no paths: where less is infinite, too.
func portion(p, less float64) float64 {
	if math.IsInf(p, -1) {
		return 0
	}
	return cpu.Exp.Of(p + less)
}
