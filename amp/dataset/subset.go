package dataset

import (
	"math"

	"github.com/halftone-ml/halftone/internal/absent"
)

// A Subset is a Dataset of some samples of another one.
type Subset struct {
	data  Dataset
	index []int
}

// NewSubset returns the samples of those numbers, in that order, as torch's Subset; a number may come more than once. It panics with
// amp.ErrArgument for a nil dataset and for a number that the dataset has not.
func NewSubset(data Dataset, index ...int) *Subset {
	needData("NewSubset", data)
	n := data.Len()
	for _, i := range index {
		if i < 0 || i >= n {
			misused("NewSubset", "keep within the samples there are", "sample %d of %d", i, n)
		}
	}
	return &Subset{data, append([]int{}, index...)}
}

func needData(op string, data Dataset) {
	if absent.Is(data) {
		misused(op, "pass a dataset", "the dataset is nil")
	}
}

// Len returns the number of samples in the subset.
func (s *Subset) Len() int { return len(s.index) }

// Spec returns that of the whole dataset.
func (s *Subset) Spec() Spec { return s.data.Spec() }

// Sample writes sample i of the subset to dst.
func (s *Subset) Sample(i int, dst *Sample) error { return s.data.Sample(s.index[i], dst) }

// Index returns the numbers that the samples have in the whole dataset.
func (s *Subset) Index() []int { return append([]int{}, s.index...) }

// RandomSplit divides a dataset at random into parts of those sizes, none of which share a sample, as torch's random_split: the same seed
// divides it in the same way. It panics with amp.ErrArgument for sizes below 0 and unless they add up to the dataset's.
//
//	parts := dataset.RandomSplit(data, 1, 900, 100)
//	train, test := parts[0], parts[1]
func RandomSplit(data Dataset, seed uint64, sizes ...int) []*Subset {
	needData("RandomSplit", data)
	n, sum := data.Len(), 0
	for _, k := range sizes {
		if k < 0 || k > n {
			misused("RandomSplit", "use sizes from 0 to the dataset's", "a part of %d of %d samples", k, n)
		}
		sum += k
	}
	if sum != n || n > math.MaxInt32 {
		misused("RandomSplit", "let the sizes add up to the dataset's", "sizes %v, the dataset has %d samples", sizes, n)
	}
	perm := make([]int32, n)
	order(perm, seed^splitDomain, 0, n, false)
	var parts []*Subset
	for _, k := range sizes {
		part := &Subset{data: data, index: make([]int, k)}
		for i := range part.index {
			part.index[i] = int(perm[i])
		}
		perm = perm[k:]
		parts = append(parts, part)
	}
	return parts
}

const splitDomain = 0x73706c6974 // "split": a loader of the same seed has another order

// RandomShares is RandomSplit by shares that add up to 1: each part has its share of the samples, rounded down, and one more of those that
// are left from the first part on.
func RandomShares(data Dataset, seed uint64, shares ...float64) []*Subset {
	needData("RandomShares", data)
	n, sum, left := data.Len(), 0.0, data.Len()
	sizes := make([]int, len(shares))
	for i, share := range shares {
		if !(share >= 0 && share <= 1) {
			misused("RandomShares", "use shares from 0 to 1", "a share of %v", share)
		}
		sum += share
		sizes[i] = int(math.Floor(float64(n) * share))
		left -= sizes[i]
	}
	if math.Abs(sum-1) > 1e-9 {
		misused("RandomShares", "let the shares add up to 1", "shares %v", shares)
	}
	for i := 0; left > 0; i++ {
		sizes[i%len(sizes)]++
		left--
	}
	return RandomSplit(data, seed, sizes...)
}
