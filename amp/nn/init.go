package nn

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Initializers fill a tensor in place with numbers drawn from the scope's stream, rounded once to the tensor's dtype. They are those
// of torch.nn.init.

// A Fan says by which number of connections of a weight [out in k…] Kaiming's rule scales it.
type Fan uint8

// The fans.
const (
	FanIn  Fan = iota // in·k…: keeps the size of activations in the forward pass
	FanOut            // out·k…: keeps the size of gradients in the backward pass
)

// fans returns both for a weight of at least two dimensions.
func fans(shape []int) (in, out int) {
	in, out = shape[1], shape[0]
	for _, n := range shape[2:] {
		in *= n
		out *= n
	}
	return in, out
}

func fansOf(op string, t *amp.Tensor) (in, out int) {
	if t.Rank() < 2 {
		misshapen(op, "use it for weights of two dimensions or more", "a tensor of shape %v has no fans", t.Shape())
	}
	return fans(t.Shape())
}

// Gain returns the factor by which weights before a nonlinearity should be larger: "linear", "conv", "sigmoid" 1, "tanh" 5/3,
// "relu" √2, "leaky_relu" √(2/(1+slope²)) with slope 0.01 unless given, "selu" 3/4. It panics with amp.ErrArgument for another name.
func Gain(nonlinearity string, slope ...float64) float64 {
	switch nonlinearity {
	case "linear", "conv", "sigmoid":
		return 1
	case "tanh":
		return 5.0 / 3
	case "relu":
		return math.Sqrt2
	case "leaky_relu":
		a := 0.01
		if len(slope) > 0 {
			a = slope[0]
		}
		return math.Sqrt(2 / (1 + float64(a*a)))
	case "selu":
		return 0.75
	}
	misused("Gain", "use linear, conv, sigmoid, tanh, relu, leaky_relu or selu", "nonlinearity %q", nonlinearity)
	return 0
}

// fill copies values drawn in float64 into t.
func fill(t, values *amp.Tensor) {
	amp.Assign(t, values)
	values.Free()
}

// Constant fills t with v.
func Constant(s *amp.Scope, t *amp.Tensor, v float64) {
	fill(t, amp.Full(s, amp.Float64, v, t.Shape()...))
}

// Uniform fills t with numbers uniform in [lo,hi).
func Uniform(s *amp.Scope, t *amp.Tensor, lo, hi float64) {
	if s.SkipsInit() {
		return
	}
	fill(t, amp.Rand(s, amp.Float64, lo, hi, t.Shape()...))
}

// Normal fills t with normally distributed numbers.
func Normal(s *amp.Scope, t *amp.Tensor, mean, std float64) {
	if s.SkipsInit() {
		return
	}
	fill(t, amp.Randn(s, amp.Float64, mean, std, t.Shape()...))
}

// TruncNormal fills t with normally distributed numbers of which only those in [lo,hi] occur.
func TruncNormal(s *amp.Scope, t *amp.Tensor, mean, std, lo, hi float64) {
	if !(std > 0) || !(lo < hi) {
		misused("TruncNormal", "use a deviation above 0 and a range that is not empty", "deviation %v, range %v to %v", std, lo, hi)
	}
	if s.SkipsInit() {
		return
	}
	// The inverse of the distribution function, of numbers uniform between its values at the ends.
	cdf := func(x float64) float64 { return cpu.Erf.Of((x - mean) / std / math.Sqrt2) }
	u := amp.Rand(s, amp.Float64, cdf(lo), cdf(hi), t.Shape()...)
	v := u.Float64s()
	u.Free()
	for i, x := range v {
		v[i] = min(max(mean+float64(std*math.Sqrt2*cpu.Erfinv.Of(x)), lo), hi)
	}
	fill(t, values(v, t))
}

// values returns numbers in the shape of t.
func values(v []float64, t *amp.Tensor) *amp.Tensor {
	if t.Rank() == 0 {
		return amp.Scalar(v[0])
	}
	return amp.FromFloat64s(amp.Float64, v, t.Shape()...)
}

// XavierUniform fills a weight with numbers uniform in ±gain·√(6/(fan in + fan out)) (Glorot and Bengio, 2010).
func XavierUniform(s *amp.Scope, t *amp.Tensor, gain float64) {
	in, out := fansOf("XavierUniform", t)
	bound := gain * math.Sqrt(6/float64(in+out))
	Uniform(s, t, -bound, bound)
}

// XavierNormal fills a weight with normal numbers of deviation gain·√(2/(fan in + fan out)) (Glorot and Bengio, 2010).
func XavierNormal(s *amp.Scope, t *amp.Tensor, gain float64) {
	in, out := fansOf("XavierNormal", t)
	Normal(s, t, 0, gain*math.Sqrt(2/float64(in+out)))
}

// KaimingUniform fills a weight with numbers uniform in ±gain·√(3/fan) (He et al., 2015).
func KaimingUniform(s *amp.Scope, t *amp.Tensor, fan Fan, gain float64) {
	bound := math.Sqrt(3) * kaiming("KaimingUniform", t, fan, gain)
	Uniform(s, t, -bound, bound)
}

// KaimingNormal fills a weight with normal numbers of deviation gain/√fan (He et al., 2015).
func KaimingNormal(s *amp.Scope, t *amp.Tensor, fan Fan, gain float64) {
	Normal(s, t, 0, kaiming("KaimingNormal", t, fan, gain))
}

func kaiming(op string, t *amp.Tensor, fan Fan, gain float64) float64 {
	in, out := fansOf(op, t)
	if fan == FanOut {
		in = out
	}
	return gain / math.Sqrt(float64(in))
}

// Orthogonal fills a weight [rows cols…], seen as a matrix, with gain times orthonormal rows or columns, whichever are fewer (Saxe et
// al., 2013): those that Gram-Schmidt makes of normal numbers.
func Orthogonal(s *amp.Scope, t *amp.Tensor, gain float64) {
	fansOf("Orthogonal", t)
	if s.SkipsInit() {
		return
	}
	rows := t.Dim(0)
	cols := t.Len() / max(1, rows)
	r := amp.Randn(s, amp.Float64, 0, 1, max(rows, 1), max(cols, 1))
	v := r.Float64s()
	r.Free()
	// Vectors are the rows, or the columns of a matrix with more rows.
	n, size, step, along := rows, cols, cols, 1
	if rows > cols {
		n, size, step, along = cols, rows, 1, cols
	}
	at := func(i, k int) *float64 { return &v[i*step+k*along] }
	dot := func(i, j int) float64 {
		sum := 0.0
		for k := range size {
			sum += float64(*at(i, k) * *at(j, k))
		}
		return sum
	}
	for i := range n {
		for range 2 { // the second time removes what rounding left of the first
			for j := range i {
				p := dot(i, j)
				for k := range size {
					*at(i, k) -= float64(p * *at(j, k))
				}
			}
			length := math.Sqrt(dot(i, i))
			for k := range size {
				*at(i, k) /= length
			}
		}
	}
	for i := range v {
		v[i] *= gain
	}
	fill(t, values(v, t))
}

// Eye fills a matrix with the identity: ones on the diagonal, zeros elsewhere.
func Eye(t *amp.Tensor) {
	if t.Rank() != 2 {
		misshapen("Eye", "use it for matrices", "shape %v", t.Shape())
	}
	v := make([]float64, t.Len())
	for i := range min(t.Dim(0), t.Dim(1)) {
		v[i*t.Dim(1)+i] = 1
	}
	fill(t, values(v, t))
}
