package dataset

import (
	"math/bits"

	"github.com/halftone-ml/halftone/amp"
)

// Order and transforms draw from streams of their own, so that adding a transform leaves the order as it is.
const (
	orderDomain  = 0x6f72646572 // "order"
	sampleDomain = 0x73616d706c // "sampl"
)

// A Rand is a source of random numbers that depends on the loader's seed, the epoch and the sample's number, and on nothing
// else: not on the worker that asks, the batch size or the order.
type Rand struct{ stream *amp.Stream }

// NewRand returns the numbers that a loader with that seed gives to a sample in an epoch.
func NewRand(seed uint64, epoch, sample int) *Rand {
	r := &Rand{amp.NewStream(0)}
	r.key(seed, epoch, sample)
	return r
}

// key moves r to the start of a sample's numbers.
func (r *Rand) key(seed uint64, epoch, sample int) {
	r.stream.Load(amp.StreamState{Seed: seed ^ sampleDomain, Counter: uint64(epoch)<<32 | uint64(uint32(sample))})
	r.stream.Load(amp.StreamState{Seed: r.stream.Uint64()})
}

// Uint64 returns 64 random bits; Rand is a rand.Source of math/rand/v2.
func (r *Rand) Uint64() uint64 { return r.stream.Uint64() }

// Float64 returns a number in [0,1) with 53 random bits.
func (r *Rand) Float64() float64 { return float64(r.Uint64()>>11) * 0x1p-53 }

// IntN returns an unbiased number from 0 to n-1; n must be positive.
func (r *Rand) IntN(n int) int { return intN(r.stream, n) }

// Chance returns true with probability p.
func (r *Rand) Chance(p float64) bool { return r.Float64() < p }

// intN is Lemire's method: the high half of a 128-bit product, with the biased low end rejected.
func intN(s *amp.Stream, n int) int {
	if n <= 0 {
		misused("IntN", "ask for a positive number of choices", "%d", n)
	}
	hi, lo := bits.Mul64(s.Uint64(), uint64(n))
	if lo < uint64(n) {
		for floor := -uint64(n) % uint64(n); lo < floor; {
			hi, lo = bits.Mul64(s.Uint64(), uint64(n))
		}
	}
	return int(hi)
}

// order fills idx with the samples of an epoch: a permutation when idx has n entries and draw is false, independent draws
// with replacement when draw is true.
func order(idx []int32, seed uint64, epoch, n int, draw bool) {
	s := amp.NewStream(0)
	s.Load(amp.StreamState{Seed: seed ^ orderDomain, Counter: uint64(epoch) << 32})
	if draw {
		for k := range idx {
			idx[k] = int32(intN(s, n))
		}
		return
	}
	for i := range idx {
		j := intN(s, i+1)
		idx[i] = idx[j]
		idx[j] = int32(i)
	}
}
