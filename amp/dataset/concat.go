package dataset

import (
	"slices"
	"sort"

	"github.com/halftone-ml/halftone/amp"
)

// A Concat is a Dataset of the samples of several, one after another.
type Concat struct {
	parts []Dataset
	ends  []int // number of the sample behind each part's last
	spec  Spec
}

// NewConcat returns the datasets as one, as torch's ConcatDataset. It panics with amp.ErrArgument for no dataset, a nil one, and samples that
// differ in shape, dtype, target or the names of their classes; where one of them names no classes, the whole names none.
func NewConcat(parts ...Dataset) *Concat {
	if len(parts) == 0 {
		misused("NewConcat", "pass one dataset at least", "no datasets")
	}
	c := &Concat{parts: slices.Clone(parts)}
	total := 0
	for i, p := range parts {
		needData("NewConcat", p)
		if i == 0 {
			c.spec = p.Spec()
		} else {
			c.join(i, p.Spec())
		}
		total += p.Len()
		c.ends = append(c.ends, total)
	}
	return c
}

// join compares the samples of part i with those before.
func (c *Concat) join(i int, s Spec) {
	targets := func(s Spec) amp.DType {
		if s.Targets == amp.NoDType {
			return amp.Int64
		}
		return s.Targets
	}
	const fix = "give all datasets samples of one form"
	switch has := c.spec; {
	case !slices.Equal(s.Shape, has.Shape) || s.DType != has.DType:
		misused("NewConcat", fix, "samples of dataset %d are %v %v, those before %v %v", i, s.DType, s.Shape, has.DType, has.Shape)
	case !slices.Equal(s.Target, has.Target) || targets(s) != targets(has):
		misused("NewConcat", fix, "targets of dataset %d are %v %v, those before %v %v", i, targets(s), s.Target, targets(has), has.Target)
	case s.Classes == nil || has.Classes == nil:
		c.spec.Classes = nil
	case !slices.Equal(s.Classes, has.Classes):
		misused("NewConcat", "number the classes of all datasets alike", "classes of dataset %d are %q, those before %q", i, s.Classes, has.Classes)
	}
}

// Len returns the number of samples of all parts.
func (c *Concat) Len() int { return c.ends[len(c.ends)-1] }

// Spec says what every sample looks like.
func (c *Concat) Spec() Spec { return c.spec }

// Sample writes sample i to dst: that of the part in which it falls.
func (c *Concat) Sample(i int, dst *Sample) error {
	k := sort.SearchInts(c.ends, i+1)
	if k > 0 {
		i -= c.ends[k-1]
	}
	return c.parts[k].Sample(i, dst)
}
