package amp

var opSum, opMean *Op

func init() {
	opSum = define(Op{
		Name: "sum", Doc: "sum over dimensions, accumulated in float64", Args: []string{"x"}, Class: FP32Output,
		Why: "a sum of many half numbers leaves the half range or its precision", Ints: true, CUDA: "sum",
		Check: reducedShape, Result: sumResult,
		CPU:      func(c *Call) { sumInto(c.Out, c.In[0], c.Dims, 1) },
		Backward: func(b *Back) { b.Set(0, b.spread(b.DY)) },
	})
	opMean = define(Op{
		Name: "mean", Doc: "mean over dimensions, accumulated in float64", Args: []string{"x"},
		Why: "the mean stays in the range of its inputs; accumulated wide", CUDA: "mean",
		Check: func(c *Call) []int { c.floats(); return reducedShape(c) },
		CPU: func(c *Call) {
			sumInto(c.Out, c.In[0], c.Dims, float64(c.Out.Len())/float64(c.In[0].Len()))
		},
		Backward: func(b *Back) {
			n := float64(length(b.Shape(0))) / float64(b.DY.Len())
			b.Set(0, b.spread(MulScalar(b.S, b.DY, 1/n)))
		},
	})
}

// sumResult: float32 where autocast asks for it, int64 for integers and booleans.
func sumResult(c *Call) DType {
	switch {
	case c.DType != NoDType:
		return c.DType
	case !c.In[0].dt.IsFloat():
		return Int64
	}
	return c.In[0].dt
}

// Sum returns the sum over dims, over all dimensions without any; reduced dimensions go. float32 under autocast, int64 for
// integers.
func Sum(s *Scope, x *Tensor, dims ...int) *Tensor {
	x.live("sum")
	return s.apply(opSum, Attrs{Dims: reducedAxes("sum", x, dims)}, x)
}

// SumKeep is Sum with reduced dimensions kept as size 1.
func SumKeep(s *Scope, x *Tensor, dims ...int) *Tensor {
	x.live("sum")
	return s.apply(opSum, Attrs{Dims: reducedAxes("sum", x, dims), Keep: true}, x)
}

// SumAs is Sum with a result of the given dtype, whatever autocast would choose; as in PyTorch, x is brought to it first.
func SumAs(s *Scope, x *Tensor, dtype DType, dims ...int) *Tensor {
	x.live("sum")
	x, a := s.asked(opSum, x, []DType{dtype})
	a.Dims = reducedAxes("sum", x, dims)
	return s.apply(opSum, a, x)
}

// Mean returns the mean over dims, over all dimensions without any; reduced dimensions go. In the dtype of x.
func Mean(s *Scope, x *Tensor, dims ...int) *Tensor {
	x.live("mean")
	return s.apply(opMean, Attrs{Dims: reducedAxes("mean", x, dims)}, x)
}

// MeanKeep is Mean, with the reduced dimensions kept as size 1.
func MeanKeep(s *Scope, x *Tensor, dims ...int) *Tensor {
	x.live("mean")
	return s.apply(opMean, Attrs{Dims: reducedAxes("mean", x, dims), Keep: true}, x)
}

func length(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
