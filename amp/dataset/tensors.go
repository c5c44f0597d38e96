package dataset

import "github.com/halftone-ml/halftone/amp"

// Tensors is a Dataset in memory, made of tensors whose first dimension counts the samples.
type Tensors struct {
	spec   Spec
	n      int
	x      []float32
	tokens []int64
	y      []int64
	values []float32
}

// NewTensors returns a dataset of the rows of x and y, as torch's TensorDataset(x, y): x [N …] and y [N …], each int64 or floating; floating
// ones are given as float32. Integers as targets are labels, others values for a regression. The tensors are copied, which waits for a
// device. It panics with amp.ErrArgument for a nil or 0-dimensional tensor, a bool, and different numbers of rows.
//
//	loader := dataset.NewLoader(dataset.NewTensors(x, y), 32, dataset.Shuffle(1))
func NewTensors(x, y *amp.Tensor) *Tensors {
	for i, t := range []*amp.Tensor{x, y} {
		name := []string{"x", "y"}[i]
		if t == nil || len(t.Shape()) == 0 {
			misused("NewTensors", "pass a tensor whose first dimension counts the samples", "%s is nil or has no dimension", name)
		}
		if !t.DType().IsFloat() && t.DType() != amp.Int64 {
			misused("NewTensors", "convert it to amp.Float32 or amp.Int64", "%s is %v", name, t.DType())
		}
	}
	n := x.Shape()[0]
	if y.Shape()[0] != n {
		misused("NewTensors", "give both a row for every sample", "x is %v, y is %v", x.Shape(), y.Shape())
	}
	d := &Tensors{n: n, spec: Spec{Shape: x.Shape()[1:], DType: amp.Int64, Target: y.Shape()[1:], Targets: amp.Int64}}
	if x.DType() == amp.Int64 {
		d.tokens = amp.Values[int64](x)
	} else {
		d.spec.DType, d.x = amp.Float32, singles(x)
	}
	if y.DType() == amp.Int64 {
		d.y = amp.Values[int64](y)
	} else {
		d.spec.Targets, d.values = amp.Float32, singles(y)
	}
	return d
}

func singles(t *amp.Tensor) []float32 {
	if t.DType() == amp.Float32 {
		return amp.Values[float32](t)
	}
	out := make([]float32, 0, t.Len())
	for _, v := range t.Float64s() {
		out = append(out, float32(v))
	}
	return out
}

// Len returns the number of rows.
func (d *Tensors) Len() int { return d.n }

// Spec returns the shapes of a row of each, and their dtypes.
func (d *Tensors) Spec() Spec { return d.spec }

// Sample writes row i.
func (d *Tensors) Sample(i int, dst *Sample) error {
	row(dst.X, d.x, i)
	row(dst.Tokens, d.tokens, i)
	row(dst.Y, d.y, i)
	row(dst.Values, d.values, i)
	return nil
}

func row[T float32 | int64](dst, all []T, i int) {
	if n := len(dst); len(all) > 0 {
		copy(dst, all[i*n:(i+1)*n])
	}
}
