package dataset

import "github.com/halftone-ml/halftone/amp"

// A Dataset gives samples by number. A Loader calls Sample from several goroutines at once.
type Dataset interface {
	// Len returns the number of samples.
	Len() int
	// Spec says what every sample looks like.
	Spec() Spec
	// Sample writes sample i, from 0 to Len()-1, to dst, whose slices have the sizes that Spec asks for; one of its own in place of
	// such a slice must have its size, and is copied. It must depend on i and dst.Rand alone, so that a run can be repeated.
	Sample(i int, dst *Sample) error
}

// A Spec is the form of a dataset's samples.
type Spec struct {
	Shape   []int     // of one input: [C H W] for images, [T] for tokens
	DType   amp.DType // of the inputs: Float32 (Sample.X) or Int64 (Sample.Tokens)
	Target  []int     // shape of one target: empty for a label, [T] for tokens
	Targets amp.DType // of the targets: Int64 (Sample.Y), which NoDType means too, or Float32 (Sample.Values)
	Classes []string  // names of the labels; nil where there are none
}

// A Sample is one input and its target, on the way from a dataset through the transforms into a batch.
type Sample struct {
	Index  int       // its number in the dataset
	Shape  []int     // the Spec's shape, not to be changed
	X      []float32 // the input in row-major order, pixels from 0 to 1; empty for tokens
	Tokens []int64   // the input when it is tokens; empty otherwise
	Y      []int64   // the target; empty where it is Values
	Values []float32 // the target when the Spec's Targets are Float32; empty otherwise
	Rand   *Rand     // this sample's own random numbers in this epoch
}

// size returns the elements of a shape.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
