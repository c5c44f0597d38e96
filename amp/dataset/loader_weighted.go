package dataset

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// DrawWeighted makes an epoch of n samples drawn independently, with replacement, each with a probability in proportion to its weight: one
// for every sample of the dataset, as torch's WeightedRandomSampler. The order depends on seed and epoch, and State and Load resume it as any
// other. NewLoader refuses weights that are not as many as samples, that are negative, infinite or NaN, or all 0.
func DrawWeighted(weights []float64, n int, seed uint64) Option {
	return weighted("DrawWeighted", weights, n, seed, false)
}

// PickWeighted is DrawWeighted without replacement, as torch's WeightedRandomSampler with replacement=False: no sample comes twice in an
// epoch, and those that are left are drawn in proportion to their weights. There must be n weights above 0.
func PickWeighted(weights []float64, n int, seed uint64) Option {
	return weighted("PickWeighted", weights, n, seed, true)
}

func weighted(op string, weights []float64, n int, seed uint64, once bool) Option {
	if n < 1 {
		misused(op, "draw at least 1 sample per epoch", "%d", n)
	}
	weights = append([]float64{}, weights...)
	return option(func(l *Loader) {
		l.weights, l.draws, l.seed, l.once, l.orders = weights, n, seed, once, append(l.orders, op)
	})
}

// needWeights refuses weights that do not fit the dataset.
func (l *Loader) needWeights() {
	if l.weights == nil {
		return
	}
	if len(l.weights) != l.data.Len() {
		misused("NewLoader", "give a weight for every sample", "%d weights for %d samples", len(l.weights), l.data.Len())
	}
	positive, sum := 0, 0.0
	for i, w := range l.weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			misused("NewLoader", "use finite weights of 0 and above", "weight %d is %v", i, w)
		}
		if w > 0 {
			positive++
		}
		sum += w
		l.sums = append(l.sums, sum)
	}
	if positive == 0 || math.IsInf(sum, 1) {
		misused("NewLoader", "use weights with a finite sum above 0", "the sum of the weights is %v", sum)
	}
	if l.once && l.draws > positive {
		misused("NewLoader", "draw fewer, or with replacement: dataset.DrawWeighted", "%d samples of %d with a weight above 0", l.draws, positive)
	}
}

// weigh fills perm with the weighted draws of an epoch.
func (l *Loader) weigh(epoch int) {
	s := amp.NewStream(0)
	s.Load(amp.StreamState{Seed: l.seed ^ orderDomain, Counter: uint64(epoch) << 32})
	r := Rand{s}
	if l.once {
		l.weighOnce(&r)
		return
	}
	last := len(l.sums) - 1
	for l.weights[last] == 0 { // what rounding makes of the highest draw is no sample without weight
		last--
	}
	for k := range l.perm {
		at := r.Float64() * l.sums[last]
		i, _ := slices.BinarySearchFunc(l.sums, at, func(sum, at float64) int {
			if sum <= at {
				return -1
			}
			return 1
		})
		l.perm[k] = int32(min(i, last))
	}
}

// weighOnce gives every sample an exponential time of its weight's rate: the first ones are draws without replacement (Efraimidis and
// Spirakis, 2006).
func (l *Loader) weighOnce(r *Rand) {
	type arrival struct {
		time   float64
		sample int32
	}
	all := make([]arrival, 0, len(l.weights))
	for i, w := range l.weights {
		u := 1 - float64(r.Float64()) // above 0
		if w > 0 {
			all = append(all, arrival{-cpu.Log.Of(u) / w, int32(i)})
		}
	}
	slices.SortFunc(all, func(a, b arrival) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return int(a.sample - b.sample)
	})
	for k := range l.perm {
		l.perm[k] = all[k].sample
	}
}
