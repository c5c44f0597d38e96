package amp

import (
	"fmt"
	"math"
)

// Draws by probabilities that tensors hold. Nothing is read from a device, so a captured step may sample.

// below1 draws numbers evenly from [0, 1): a Stream's own may be 1.
func below1(s *Scope, what string, shape ...int) *Tensor {
	return s.Own(draw(s, Float64, shape, Numbers{What: what, Kind: UniformNumbers, B: 1 - 0x1p-53}))
}

// Bernoulli returns 1 with the probability that each element of p gives, and else 0, in p's dtype, drawn from the scope's stream. It has no
// gradient. It panics with ErrDType unless p holds floats, and with ErrArgument on the CPU for one outside [0, 1]; on another device, which is
// not waited for, those below 0 count as 0, those above 1 as 1, and NaN as 0. (PyTorch: torch.bernoulli(p).)
func Bernoulli(s *Scope, p *Tensor) *Tensor {
	s.alive("Bernoulli")
	p.live("Bernoulli")
	checkChances("Bernoulli", p, 1)
	return s.apart(func(s *Scope) *Tensor {
		return To(s, Lt(s, below1(s, "Bernoulli", p.shape...), To(s, p, Float64)), p.dt)
	})
}

// checkChances refuses what is no probability up to most, where the host reaches it.
func checkChances(op string, p *Tensor, most float64) {
	if !p.dt.IsFloat() {
		fail(op, ErrDType, "convert them with amp.To", "the probabilities %sare %v", quoted(p.name), p.dt)
	}
	if !p.IsCPU() {
		return
	}
	at := 0
	p.eachChunk(op, func(values []float64) {
		for i, v := range values {
			if !(v >= 0 && v <= most) {
				fail(op, ErrArgument, fmt.Sprintf("use numbers from 0 to %v", most), "probability %d %sis %v", at+i, quoted(p.name), v)
			}
		}
		at += len(values)
	})
}

// Multinomial draws n indices of p, int64 [n] for p [k] and [b n] for p [b k], each with a probability in proportion to its element, which
// need not sum to 1; without replacement no index of a row comes twice, and they come in the order in which they were drawn. It has no gradient.
//
// One draw, and draws without replacement, are the largest p/q for q from an exponential distribution of mean 1, which is the first event of
// Poisson processes of rates p; with replacement the sum of p up to an index passes an even number. All is done in float64.
//
// It panics with ErrShape for other shapes, ErrDType unless p holds floats, ErrArgument for an n below 1 or, without replacement, above k, and on
// the CPU for elements that are negative or not finite, and for rows with fewer than n that are above 0 (one, with replacement). Another device
// is not waited for: indices of such rows are in range, and no more is promised. (PyTorch: torch.multinomial(p, n, replacement).)
func Multinomial(s *Scope, p *Tensor, n int, replacement bool) *Tensor {
	s.alive("Multinomial")
	p.live("Multinomial")
	checkMultinomial(p, n, replacement)
	return s.apart(func(s *Scope) *Tensor {
		p := To(s, p, Float64)
		last := len(p.shape) - 1
		if n > 1 && replacement {
			return passing(s, p, n)
		}
		q := ClampMin(s, Neg(s, Log(s, AddScalar(s, Neg(s, below1(s, "Multinomial", p.shape...)), 1))), 0x1p-200) // 0/0 is no number
		_, at := Topk(s, Div(s, p, q), n, last, true)
		return at
	})
}

// passing draws with replacement, row by row.
func passing(s *Scope, p *Tensor, n int) *Tensor {
	if len(p.shape) == 2 {
		rows := make([]*Tensor, p.shape[0])
		for i := range rows {
			rows[i] = passing(s, Select(s, p, 0, i), n)
		}
		if len(rows) == 0 {
			return Zeros(s, Int64, 0, n)
		}
		return Stack(s, 0, rows...)
	}
	k := p.shape[0]
	sums := Cumsum(s, p, 0)
	at := Bucketize(s, Mul(s, below1(s, "Multinomial", n), Narrow(s, sums, 0, k-1, 1)), sums, true)
	return ClampMax(s, at, float64(k-1)) // of rows without a number above 0
}

func checkMultinomial(p *Tensor, n int, replacement bool) {
	if len(p.shape) != 1 && len(p.shape) != 2 || p.shape[len(p.shape)-1] == 0 {
		fail("Multinomial", ErrShape, "give p as [k] or [b k] with a k above 0", "p %sof shape %v", quoted(p.name), p.shape)
	}
	k := p.shape[len(p.shape)-1]
	switch {
	case n < 1:
		fail("Multinomial", ErrArgument, "draw 1 or more", "%d draws", n)
	case n > k && !replacement:
		fail("Multinomial", ErrArgument, fmt.Sprintf("draw up to %d, or with replacement", k), "%d draws without replacement from p %sof shape %v", n, quoted(p.name), p.shape)
	}
	checkChances("Multinomial", p, math.MaxFloat64)
	if !p.IsCPU() {
		return
	}
	need := n
	if replacement {
		need = 1
	}
	some, i := 0, 0
	p.eachChunk("Multinomial", func(values []float64) {
		for _, v := range values {
			if v > 0 {
				some++
			}
			if i++; i%k != 0 {
				continue
			}
			if some < need {
				fail("Multinomial", ErrArgument, fmt.Sprintf("give %d probabilities above 0 in each row", need), "row %d of p %sof shape %v has %d", i/k-1, quoted(p.name), p.shape, some)
			}
			some = 0
		}
	})
}
