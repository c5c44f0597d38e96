package amp

import "math"

// Exponents counts the numbers of a tensor by their power of two: what fits into a narrower format, and what is lost, can be read
// off without running anything again.
type Exponents struct {
	N          int     `json:"n"`               // elements
	Zeros      int     `json:"zeros,omitempty"` // exact zeros
	Subnormals int     `json:"subnormals,omitempty"`
	Infs       int     `json:"infs,omitempty"`
	NaNs       int     `json:"nans,omitempty"`
	Amax       float64 `json:"amax"`             // largest finite magnitude
	Amin       float64 `json:"amin"`             // smallest magnitude that is not zero, 0 without any
	Low        int     `json:"low"`              // exponent of Counts[0]
	Counts     []int   `json:"counts,omitempty"` // finite numbers that are not zero with 2^(Low+i) ≤ |x| < 2^(Low+i+1)
	Sample     Sample  `json:"sample,omitempty"` // the elements at evenly spaced places, all where there are no more: what two runs are held against each other by
}

// lowest is the exponent of float64's smallest subnormal, the least there can be.
const lowest = -1074

// tally is Exponents while it is counted.
type tally struct {
	Exponents
	bins  [1024 - lowest]int
	n, at int // elements in all, and how many were counted
}

// CountExponents counts the elements of t; integers and bools count as the numbers they are. Subnormals are those of t's dtype. A tensor on
// a GPU is counted there, and the counts are waited for.
func CountExponents(t *Tensor) Exponents {
	t.live("CountExponents")
	if k := t.countThere(); k != nil {
		if h := k.Exponents(); h != nil {
			return *h
		}
	}
	return t.countHere("CountExponents")
}

// countThere asks the tensor's device; nil if the host has to count.
func (t *Tensor) countThere() Counting {
	if d, ok := t.st.dev.(Counter); ok && t.st.mem == nil {
		return d.Count(t)
	}
	return nil
}

// count counts the elements of t, on a GPU later.
func (t *Tensor) count() Counting {
	if k := t.countThere(); k != nil {
		return k
	}
	h := counted(t.countHere("trace"))
	return &h
}

// counted is a Counting that is done.
type counted Exponents

func (c *counted) Exponents() *Exponents { return (*Exponents)(c) }

func (t *Tensor) countHere(op string) Exponents {
	c := tally{n: t.Len()}
	normal := dtypes[t.dt].minNormal
	t.eachChunk(op, func(values []float64) {
		c.pick(values)
		c.count(values, normal)
	})
	return c.export(t.Len())
}

func (c *tally) count(values []float64, normal float64) {
	for _, v := range values {
		a := math.Abs(v)
		switch {
		case a == 0:
			c.Zeros++
		case a != a:
			c.NaNs++
		case a > math.MaxFloat64:
			c.Infs++
		default:
			if a < normal {
				c.Subnormals++
			}
			if a > c.Amax {
				c.Amax = a
			}
			if c.Amin == 0 || a < c.Amin {
				c.Amin = a
			}
			e := int(math.Float64bits(a)>>52) - 1023
			if e == -1023 {
				_, e = math.Frexp(a)
				e--
			}
			c.bins[e-lowest]++
		}
	}
}

func (c *tally) export(n int) Exponents {
	c.N = n
	first, last := -1, -1
	for i, k := range c.bins {
		if k > 0 {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first >= 0 {
		c.Low = first + lowest
		c.Counts = append([]int(nil), c.bins[first:last+1]...)
	}
	return c.Exponents
}

// A Fate says what becomes of a tensor's numbers in a format.
type Fate struct {
	Zero      int // rounded to zero: lost
	Subnormal int // kept with fewer digits
	Normal    int // kept with full precision
	Overflow  int // beyond the range
}

// Fate tells what becomes of the finite numbers that are not zero when they are multiplied by scale, a power of two, and rounded to
// format f. It goes by binades: the one that ends at the largest number counts as kept whole, the one whose lower end
// is half the smallest number too.
func (h Exponents) Fate(f Format, scale float64) Fate {
	_, shift := math.Frexp(scale)
	shift--
	_, top := math.Frexp(f.Max())
	_, normal := math.Frexp(f.MinNormal())
	_, sub := math.Frexp(f.MinSubnormal())
	var out Fate
	for i, n := range h.Counts {
		switch e := h.Low + i + shift + 1; { // as Frexp gives it
		case e > top:
			out.Overflow += n
		case e >= normal:
			out.Normal += n
		case e >= sub-1:
			out.Subnormal += n
		default:
			out.Zero += n
		}
	}
	return out
}

// SuggestScale returns the largest power of two that keeps the largest magnitude within format f with headroom further doublings to
// spare; 1 for a tensor without finite numbers other than zero.
func (h Exponents) SuggestScale(f Format, headroom int) float64 {
	if h.Amax == 0 {
		return 1
	}
	_, e := math.Frexp(f.Max() / h.Amax)
	return math.Ldexp(1, e-1-headroom)
}
