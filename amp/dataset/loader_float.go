package dataset

import (
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// Targets of float32, for regression: Sample.Values in place of Sample.Y.

// floatTargets makes room for them where the Spec asks for them. The integers' target then has no elements.
func (l *Loader) floatTargets() {
	switch l.spec.Targets {
	case amp.NoDType, amp.Int64:
	case amp.Float32:
		l.target = append([]int{}, l.spec.Target...)
		l.spec.Target = []int{0}
		l.data = floatTargets{l.data}
	default:
		misused("NewLoader", "let Spec say amp.Int64 or amp.Float32", "targets of dtype %v", l.spec.Targets)
	}
}

// valuesOf is where the target of the k-th sample of a batch is written, cleared: what a dataset forgets to write is 0.
func (j *job) valuesOf(l *Loader, k int) []float32 {
	if l.target == nil {
		return nil
	}
	n := size(l.target)
	own := j.values[k*n : (k+1)*n : (k+1)*n]
	clear(own)
	return own
}

// floatTargets is a dataset whose samples may hold a target of their own in place of the one that they were to fill: it is copied.
type floatTargets struct{ Dataset }

func (f floatTargets) Sample(i int, dst *Sample) error {
	own := dst.Values
	if err := f.Dataset.Sample(i, dst); err != nil {
		return err
	}
	if len(dst.Values) != len(own) {
		misused("Loader", "fill Sample.Values", "the dataset %T gave sample %d a target of %d numbers, its Spec asks for %d", f.Dataset, i, len(dst.Values), len(own))
	}
	copy(own, dst.Values)
	dst.Values = slices.Clip(own)
	return nil
}
