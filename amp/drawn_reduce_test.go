package amp

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func total(line []float64) (sum float64) {
	for _, v := range line {
		sum += v
	}
	return sum
}

// spread is the variance of a line, its squares divided by n - correction.
func spread(line []float64, correction float64) (sum float64) {
	mean := total(line) / float64(len(line))
	for _, v := range line {
		sum += (v - mean) * (v - mean)
	}
	return sum / (float64(len(line)) - correction)
}

func productOf(line []float64) float64 {
	p := 1.0
	for _, v := range line {
		p *= v
	}
	return p
}

func logOfSum(line []float64) float64 {
	most, sum := slices.Max(line), 0.0
	for _, v := range line {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum)
}

// normalized is (x - mean)/√(variance + eps), or without the mean.
func normalized(line []float64, centered bool, eps float64) []float64 {
	mean := 0.0
	if centered {
		mean = total(line) / float64(len(line))
	}
	sum := 0.0
	for _, v := range line {
		sum += (v - mean) * (v - mean)
	}
	out := make([]float64, len(line))
	for i, v := range line {
		out[i] = (v - mean) / math.Sqrt(sum/float64(len(line))+eps)
	}
	return out
}

// running replaces each element by f of those so far.
func running(f func(line []float64) float64) func(line []float64) []float64 {
	return func(line []float64) []float64 {
		out := make([]float64, len(line))
		for i := range line {
			out[i] = f(line[:i+1])
		}
		return out
	}
}

// drawReduction draws a reduction over some dimensions.
func (r sizeDraw) drawReduction(most int) *drawnCall {
	shape := r.shape(1+r.IntN(4), most)
	var dims []int
	for d := range shape {
		if r.coin(2) {
			dims = append(dims, d)
		}
	}
	over := dims
	if len(dims) == 0 {
		over = nil
		for d := range shape {
			dims = append(dims, d)
		}
	}
	n := 1
	for _, d := range dims {
		n *= shape[d]
	}
	power := []float64{0.5, 1, 2, 3, math.Inf(1), math.Inf(-1)}[r.IntN(6)]
	norm := func(line []float64) float64 {
		sum, most, least := 0.0, 0.0, math.Inf(1)
		for _, v := range line {
			sum, most, least = sum+math.Pow(math.Abs(v), power), max(most, math.Abs(v)), min(least, math.Abs(v))
		}
		switch power {
		case math.Inf(1):
			return most
		case math.Inf(-1):
			return least
		}
		return math.Pow(sum, 1/power)
	}
	kinds := []struct {
		name  string
		call  func(s *Scope, x *Tensor) *Tensor
		f     func(line []float64) float64
		apart bool
	}{
		{"sum", func(s *Scope, x *Tensor) *Tensor { return Sum(s, x, over...) }, total, false},
		{"sum, kept", func(s *Scope, x *Tensor) *Tensor { return SumKeep(s, x, over...) }, total, false},
		{"mean", func(s *Scope, x *Tensor) *Tensor { return Mean(s, x, over...) }, func(line []float64) float64 { return total(line) / float64(len(line)) }, false},
		{"var", func(s *Scope, x *Tensor) *Tensor { return VarCorrection(s, x, 0, over...) }, func(line []float64) float64 { return spread(line, 0) }, false},
		{"std", func(s *Scope, x *Tensor) *Tensor { return Std(s, x, over...) }, func(line []float64) float64 { return math.Sqrt(spread(line, 1)) }, false},
		{fmt.Sprintf("norm %v", power), func(s *Scope, x *Tensor) *Tensor { return NormP(s, x, power, over...) }, norm, math.IsInf(power, 0)},
		{"logsumexp", func(s *Scope, x *Tensor) *Tensor { return LogSumExp(s, x, over...) }, logOfSum, false},
		{"amax", func(s *Scope, x *Tensor) *Tensor { return Amax(s, x, over...) }, slices.Max[[]float64], true},
		{"amin", func(s *Scope, x *Tensor) *Tensor { return Amin(s, x, over...) }, slices.Min[[]float64], true},
	}
	k := kinds[r.IntN(len(kinds))]
	c := r.call1(fmt.Sprintf("%s over %v", k.name, over), shape, k.call, func(x []float64) []float64 { return walkOf(shape, dims...).each(x, k.f) })
	c.apart = k.apart
	c.rough = n == 1 && k.name == "std" || power == 0.5 || c.operands[0].repeats > 1 && (k.apart || k.name == "std")
	if k.name == "norm 0.5" || k.name == "std" || k.name == fmt.Sprintf("norm %v", power) {
		c.lo = 0.5
	}
	return c
}

// drawAlong draws what replaces the elements of a dimension.
func (r sizeDraw) drawAlong(most int) *drawnCall {
	shape := r.shape(1+r.IntN(4), most)
	d := r.IntN(len(shape))
	soft := func(line []float64) []float64 {
		l, out := logOfSum(line), make([]float64, len(line))
		for i, v := range line {
			out[i] = math.Exp(v - l)
		}
		return out
	}
	logSoft := func(line []float64) []float64 {
		l, out := logOfSum(line), make([]float64, len(line))
		for i, v := range line {
			out[i] = v - l
		}
		return out
	}
	sorted := func(line []float64) []float64 { line = slices.Clone(line); slices.Sort(line); return line }
	kinds := []struct {
		name   string
		call   func(s *Scope, x *Tensor) *Tensor
		f      func(line []float64) []float64
		apart  bool
		square bool // in time
	}{
		{"softmax", func(s *Scope, x *Tensor) *Tensor { return Softmax(s, x, d) }, soft, false, false},
		{"log_softmax", func(s *Scope, x *Tensor) *Tensor { return LogSoftmax(s, x, d) }, logSoft, false, false},
		{"cumsum", func(s *Scope, x *Tensor) *Tensor { return Cumsum(s, x, d) }, running(total), false, true},
		{"cumprod", func(s *Scope, x *Tensor) *Tensor { return Cumprod(s, MulScalar(s, x, 0.5), d) }, running(func(line []float64) float64 {
			return productOf(line) * math.Pow(0.5, float64(len(line)))
		}), false, true},
		{"logcumsumexp", func(s *Scope, x *Tensor) *Tensor { return LogCumSumExp(s, x, d) }, running(logOfSum), false, true},
		{"cummax", func(s *Scope, x *Tensor) *Tensor { v, _ := Cummax(s, x, d); return v }, running(slices.Max[[]float64]), true, true},
		{"cummin", func(s *Scope, x *Tensor) *Tensor { v, _ := Cummin(s, x, d); return v }, running(slices.Min[[]float64]), true, true},
		{"sort", func(s *Scope, x *Tensor) *Tensor { v, _ := Sort(s, x, d, false); return v }, sorted, true, false},
		{"normalize", func(s *Scope, x *Tensor) *Tensor { return Normalize(s, AddScalar(s, x, 3), 2, d, 1e-12) }, func(line []float64) []float64 {
			sum, out := 0.0, slices.Clone(line)
			for _, v := range line {
				sum += (v + 3) * (v + 3)
			}
			for i, v := range line {
				out[i] = (v + 3) / math.Sqrt(sum)
			}
			return out
		}, false, false},
	}
	k := kinds[r.IntN(len(kinds))]
	if k.square && shape[d] > 600 {
		shape[d] = 600
	}
	c := r.call1(fmt.Sprintf("%s along %d", k.name, d), shape, k.call, func(x []float64) []float64 { return walkOf(shape, d).along(x, k.f) })
	c.apart = k.apart
	c.rough = k.apart && c.operands[0].repeats > 1
	return c
}

// drawNorm draws a normalization with weight and bias.
func (r sizeDraw) drawNorm(most int) *drawnCall {
	shape := r.shape(2+r.IntN(3), most)
	const eps = 0.1
	c := &drawnCall{lo: -2, hi: 2, steep: 10} // 2·1.5/√eps
	scaled := func(y, w, b []float64, channel func(i int) int) []float64 {
		for i := range y {
			y[i] *= w[channel(i)]
			if b != nil {
				y[i] += b[channel(i)]
			}
		}
		return y
	}
	last := 1 + r.IntN(len(shape)-1)
	inner := shape[len(shape)-last:]
	dims := []int{}
	for d := len(shape) - last; d < len(shape); d++ {
		dims = append(dims, d)
	}
	size, plane := length(inner), length(shape[2:])
	switch kind := r.IntN(4); kind {
	case 0:
		c.name, c.operands = "layer_norm", []*drawnOperand{r.operand(shape...), r.operand(inner...), r.operand(inner...)}
		c.call = func(s *Scope, in []*Tensor) *Tensor { return LayerNorm(s, in[0], in[1], in[2], eps) }
		c.want = func(in [][]float64) []float64 {
			y := walkOf(shape, dims...).along(in[0], func(line []float64) []float64 { return normalized(line, true, eps) })
			return scaled(y, in[1], in[2], func(i int) int { return i % size })
		}
	case 1:
		c.name, c.operands = "rms_norm", []*drawnOperand{r.operand(shape...), r.operand(inner...)}
		c.call = func(s *Scope, in []*Tensor) *Tensor { return RMSNorm(s, in[0], in[1], eps) }
		c.want = func(in [][]float64) []float64 {
			y := walkOf(shape, dims...).along(in[0], func(line []float64) []float64 { return normalized(line, false, eps) })
			return scaled(y, in[1], nil, func(i int) int { return i % size })
		}
	case 2:
		if shape[0]*plane < 2 {
			shape[0] = 3
		}
		c.name = "batch_norm"
		c.call = func(s *Scope, in []*Tensor) *Tensor {
			return BatchNorm(s, in[0], in[1], in[2], BatchNormState{Momentum: 0.1, Eps: eps})
		}
		over := []int{0}
		for d := 2; d < len(shape); d++ {
			over = append(over, d)
		}
		c.want = func(in [][]float64) []float64 {
			y := walkOf(shape, over...).along(in[0], func(line []float64) []float64 { return normalized(line, true, eps) })
			return scaled(y, in[1], in[2], func(i int) int { return i / plane % shape[1] })
		}
	case 3:
		groups := 1 + r.IntN(min(8, shape[1]))
		shape[1] = shape[1] / groups * groups
		if shape[1]/groups*plane < 2 {
			shape[1] *= 2
		}
		c.name = fmt.Sprintf("group_norm of %d", groups)
		c.call = func(s *Scope, in []*Tensor) *Tensor { return GroupNorm(s, in[0], groups, in[1], in[2], eps) }
		c.want = func(in [][]float64) []float64 {
			y := walkOf([]int{shape[0] * groups, shape[1] / groups * plane}, 1).along(in[0], func(line []float64) []float64 { return normalized(line, true, eps) })
			return scaled(y, in[1], in[2], func(i int) int { return i / plane % shape[1] })
		}
	}
	if c.operands == nil {
		c.operands = []*drawnOperand{r.operand(shape...), r.operand(shape[1]), r.operand(shape[1])}
	}
	return c
}

// checkCalls checks some draws of each kind; every fourth is large enough for threads to share it.
func checkCalls(t *testing.T, first uint64, n, most int, draws ...func(r sizeDraw, most int) *drawnCall) {
	t.Helper()
	for seed := first; seed < first+uint64(n); seed++ {
		for _, draw := range draws {
			r := newSizeDraw(seed)
			size := most / 32
			if seed%4 == 0 {
				size = most
			}
			c := draw(r, size)
			c.seed = seed
			c.check(t)
		}
		if t.Failed() && !drawOn {
			return
		}
	}
}

// TestStdOfEqualNumbers: the gradient is 0 where all numbers are equal, though their mean, which is rounded, may be another number.
func TestStdOfEqualNumbers(t *testing.T) {
	for _, dt := range []DType{Float64, Float32, BFloat16, Float16} {
		for n := 1; n < 200; n += 1 + n/20 {
			s := NewScope()
			x := To(s, Full(s, Float64, 0.1+float64(n), 3, n), dt).RequireGrad()
			Sum(s, StdCorrection(s, x, 0, 1)).Backward()
			for i, g := range x.Grad().Float64s() {
				if g != 0 && dt != Float64 || !finite(g) { // sums are float64: in float64 the deviation itself may not be 0
					t.Fatalf("%v: the gradient at element %d of %d equal numbers is %v", dt, i%n, n, g)
				}
			}
			s.Close()
		}
	}
}

func TestDrawnReductions(t *testing.T) {
	drawn(t, 60, 1<<17, sizeDraw.drawReduction, sizeDraw.drawAlong, sizeDraw.drawNorm)
}
