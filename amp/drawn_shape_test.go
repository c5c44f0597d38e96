package amp

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// moved is a call that only moves elements: where each of the result's comes from, -1 for the number fill.
func (r sizeDraw) moved(name string, shape, out []int, fill float64, call func(s *Scope, x *Tensor) *Tensor, from func(at []int) []int) *drawnCall {
	return r.call1(name, shape, call, func(x []float64) []float64 {
		y, at := make([]float64, length(out)), make([]int, len(out))
		for i := range y {
			for d, rest := len(out)-1, i; d >= 0; d-- {
				at[d], rest = rest%out[d], rest/out[d]
			}
			place := 0
			for d, j := range from(at) {
				if j < 0 || place < 0 {
					place = -1
					continue
				}
				place = place*shape[d] + j
			}
			if y[i] = fill; place >= 0 {
				y[i] = x[place]
			}
		}
		return y
	})
}

// drawMove draws a flip, a roll, padding, a repetition or a triangle.
func (r sizeDraw) drawMove(most int) *drawnCall {
	shape := r.shape(2+r.IntN(3), most)
	out, at := slices.Clone(shape), make([]int, len(shape))
	d := r.IntN(len(shape))
	switch r.IntN(6) {
	case 0:
		var dims []int
		for d := range shape {
			if r.coin(2) {
				dims = append(dims, d)
			}
		}
		return r.moved(fmt.Sprint("flip ", dims), shape, out, 0, func(s *Scope, x *Tensor) *Tensor { return Flip(s, x, dims...) }, func(i []int) []int {
			copy(at, i)
			for _, d := range dims {
				at[d] = shape[d] - 1 - i[d]
			}
			return at
		})
	case 1:
		e := (d + 1) % len(shape)
		a, b := r.IntN(2*shape[d]+1)-shape[d], r.IntN(3*shape[e]+1)-shape[e]
		return r.moved(fmt.Sprintf("roll by %d along %d and %d along %d", a, d, b, e), shape, out, 0, func(s *Scope, x *Tensor) *Tensor {
			return Roll(s, x, []int{a, b}, []int{d, e})
		}, func(i []int) []int {
			copy(at, i)
			at[d], at[e] = (i[d]-a+2*shape[d])%shape[d], (i[e]-b+3*shape[e])%shape[e]
			return at
		})
	case 2: // zeros and cuts
		var pads []int
		for d := len(shape) - 1; d >= 0; d-- {
			a, b := r.IntN(5)-1, r.IntN(5)-1
			if shape[d] < 3 {
				a, b = max(a, 0), max(b, 0)
			}
			pads = append(pads, a, b)
			out[d] += a + b
		}
		return r.moved(fmt.Sprint("pad ", pads), shape, out, 0.75, func(s *Scope, x *Tensor) *Tensor { return Pad(s, x, pads, "constant", 0.75) }, func(i []int) []int {
			for d := range i {
				if at[d] = i[d] - pads[2*(len(shape)-1-d)]; at[d] >= shape[d] {
					at[d] = -1
				}
			}
			return at
		})
	case 3:
		last := len(shape) - 1
		mode := []string{"reflect", "replicate", "circular"}[r.IntN(3)]
		shape[last] = max(shape[last], 4)
		n := shape[last]
		a, b := r.IntN(4), r.IntN(4)
		if len(shape) == 4 {
			shape[0], shape = shape[0]*shape[1], slices.Delete(shape, 1, 2)
			last, at = 2, at[:3]
		}
		out = slices.Clone(shape)
		out[last] += a + b
		return r.moved(fmt.Sprintf("pad %d and %d, %s", a, b, mode), shape, out, 0, func(s *Scope, x *Tensor) *Tensor { return Pad(s, x, []int{a, b}, mode, 0) }, func(i []int) []int {
			copy(at, i)
			j := i[last] - a
			switch mode {
			case "reflect":
				if j = max(j, -j); j >= n {
					j = 2*(n-1) - j
				}
			case "replicate":
				j = min(max(j, 0), n-1)
			default:
				j = (j + n) % n
			}
			at[last] = j
			return at
		})
	case 4:
		times := make([]int, len(shape))
		for d := range times {
			times[d] = 1
			if length(out)*3 <= 2*most {
				times[d] += r.IntN(3)
			}
			out[d] *= times[d]
		}
		return r.moved(fmt.Sprint("repeat ", times), shape, out, 0, func(s *Scope, x *Tensor) *Tensor { return Repeat(s, x, times...) }, func(i []int) []int {
			for d := range i {
				at[d] = i[d] % shape[d]
			}
			return at
		})
	}
	k, upper := r.IntN(shape[len(shape)-1]+3)-2, r.coin(2)
	call := Tril
	if upper {
		call = Triu
	}
	return r.moved(fmt.Sprintf("triangle %v from %d", upper, k), shape, out, 0, func(s *Scope, x *Tensor) *Tensor { return call(s, x, k) }, func(i []int) []int {
		copy(at, i)
		if c := i[len(i)-1] - i[len(i)-2]; upper && c < k || !upper && c > k {
			at[0] = -1
		}
		return at
	})
}

// drawJoin draws a cat or stack of views and its pieces, each times a number of its own.
func (r sizeDraw) drawJoin(most int) *drawnCall {
	shape := r.shape(1+r.IntN(3), most/4+1)
	d, n := r.IntN(len(shape)), 2+r.IntN(3)
	c := &drawnCall{name: fmt.Sprintf("cat along %d", d), lo: -2, hi: 2}
	stacked := r.coin(3)
	sizes, sum := []int{}, 0
	for range n {
		part := slices.Clone(shape)
		if !stacked {
			part[d] = max(1, r.IntN(2*shape[d]))
		}
		c.operands = append(c.operands, r.operand(part...))
		sizes, sum = append(sizes, part[d]), sum+part[d]
	}
	before, after := length(shape[:d]), length(shape[d+1:])
	if stacked {
		c.name = fmt.Sprintf("stack along %d", d)
		c.call = func(s *Scope, in []*Tensor) *Tensor { return Stack(s, d, in...) }
		after *= shape[d]
		for k := range sizes {
			sizes[k] = 1
		}
	} else {
		size := 1 + r.IntN(sum)
		c.name += fmt.Sprintf(", split in pieces of %d that are turned round", size)
		c.call = func(s *Scope, in []*Tensor) *Tensor {
			pieces := Split(s, Cat(s, d, in...), size, d)
			slices.Reverse(pieces)
			return Cat(s, d, pieces...)
		}
		c.want = func(in [][]float64) []float64 {
			whole := joined(in, sizes, before, after)
			out := make([]float64, 0, len(whole))
			for i := range before {
				block := whole[i*sum*after:][:sum*after]
				for end := len(block); end > 0; {
					start := (end - 1) / (size * after) * size * after
					out = append(out, block[start:end]...)
					end = start
				}
			}
			return out
		}
		return c
	}
	c.want = func(in [][]float64) []float64 { return joined(in, sizes, before, after) }
	return c
}

// joined is a cat of lists of [before sizes[k] after].
func joined(in [][]float64, sizes []int, before, after int) (out []float64) {
	for i := range before {
		for k, list := range in {
			n := sizes[k] * after
			out = append(out, list[i*n:][:n]...)
		}
	}
	return out
}

// drawElements draws a function of elements that are broadcast.
func (r sizeDraw) drawElements(most int) *drawnCall {
	shape := r.shape(1+r.IntN(4), most)
	thin := func() *drawnOperand {
		part := slices.Clone(shape[r.IntN(len(shape)):])
		if r.coin(2) {
			part = slices.Clone(shape)
		}
		for d := range part {
			if r.coin(4) {
				part[d] = 1
			}
		}
		return r.operand(part...)
	}
	kinds := []struct {
		name string
		call func(s *Scope, a, b, c *Tensor) *Tensor
		f    func(a, b, c float64) float64
	}{
		{"add", func(s *Scope, a, b, c *Tensor) *Tensor { return Add(s, Add(s, a, b), c) }, func(a, b, c float64) float64 { return a + b + c }},
		{"mul", func(s *Scope, a, b, c *Tensor) *Tensor { return Mul(s, Sub(s, a, b), c) }, func(a, b, c float64) float64 { return (a - b) * c }},
		{"div", func(s *Scope, a, b, c *Tensor) *Tensor { return Div(s, Mul(s, a, b), c) }, func(a, b, c float64) float64 { return a * b / c }},
		{"pow", func(s *Scope, a, b, c *Tensor) *Tensor { return Add(s, Pow(s, a, b), c) }, func(a, b, c float64) float64 { return math.Pow(a, b) + c }},
		{"lerp", Lerp, func(a, b, c float64) float64 { return a + c*(b-a) }},
		{"addcmul", func(s *Scope, a, b, c *Tensor) *Tensor { return Addcmul(s, a, b, c, 0.5) }, func(a, b, c float64) float64 { return a + 0.5*b*c }},
		{"addcdiv", func(s *Scope, a, b, c *Tensor) *Tensor { return Addcdiv(s, a, b, c, 0.5) }, func(a, b, c float64) float64 { return a + 0.5*b/c }},
		{"maximum", func(s *Scope, a, b, c *Tensor) *Tensor { return Minimum(s, Maximum(s, a, b), c) }, func(a, b, c float64) float64 { return min(max(a, b), c) }},
		{"where", func(s *Scope, a, b, c *Tensor) *Tensor { return Where(s, Lt(s, a, b), c, a) }, func(a, b, c float64) float64 {
			if a < b {
				return c
			}
			return a
		}},
		{"twice", func(s *Scope, a, b, c *Tensor) *Tensor { return Add(s, Mul(s, a, b), Mul(s, a, Mul(s, c, a))) }, func(a, b, c float64) float64 { return a*b + a*c*a }},
	}
	k := kinds[r.IntN(len(kinds))]
	c := &drawnCall{name: k.name, lo: 0.5, hi: 1.5, steep: 1, operands: []*drawnOperand{r.operand(shape...), thin(), thin()}, rough: k.name == "maximum" || k.name == "where"}
	c.call = func(s *Scope, in []*Tensor) *Tensor { return k.call(s, in[0], in[1], in[2]) }
	c.want = func(in [][]float64) []float64 {
		out := make([]float64, length(shape))
		for i := range out {
			out[i] = k.f(in[0][i], in[1][source(i, shape, c.operands[1].shape)], in[2][source(i, shape, c.operands[2].shape)])
		}
		return out
	}
	return c
}

// drawLoss draws a loss, its reduction, weights of classes and targets to ignore.
func (r sizeDraw) drawLoss(most int) *drawnCall {
	reduction := Reduction(r.IntN(3))
	if r.coin(2) { // classes
		n, classes := r.size(most/8+1), r.size(70)
		for n > 1 && n*classes > most {
			n /= 2
		}
		target, counted := make([]int64, n), 0.0
		for i := range target {
			target[i] = int64(r.IntN(classes))
			if r.coin(6) && i > 0 {
				target[i] = IgnoreIndex
			} else {
				counted++
			}
		}
		smooth := 0.1 * float64(r.IntN(2))
		c := r.call1(fmt.Sprintf("cross_entropy reduction %v smoothing %v", reduction, smooth), []int{n, classes}, func(s *Scope, x *Tensor) *Tensor {
			return CrossEntropy(s, x, From(target), reduction, LabelSmoothing(smooth))
		}, func(x []float64) []float64 {
			list := make([]float64, n)
			for i, k := range target {
				if row := x[i*classes:][:classes]; k != IgnoreIndex {
					l := logOfSum(row)
					list[i] = (1-smooth)*(l-row[k]) + smooth*(l-total(row)/float64(classes))
				}
			}
			return reduced(list, reduction, counted)
		})
		return c
	}
	shape := r.shape(1+r.IntN(3), most)
	kinds := []struct {
		name string
		call func(s *Scope, x, y *Tensor, opts ...LossOption) *Tensor
		f    func(x, y float64) float64
	}{
		{"mse", MSELoss, func(x, y float64) float64 { return (x - y) * (x - y) }},
		{"huber", func(s *Scope, x, y *Tensor, opts ...LossOption) *Tensor { return HuberLoss(s, x, y, 0.7, opts...) }, func(x, y float64) float64 {
			if d := math.Abs(x - y); d > 0.7 {
				return 0.7 * (d - 0.35)
			} else {
				return d * d / 2
			}
		}},
		{"smooth_l1", func(s *Scope, x, y *Tensor, opts ...LossOption) *Tensor { return SmoothL1Loss(s, x, y, 0.7, opts...) }, func(x, y float64) float64 {
			if d := math.Abs(x - y); d > 0.7 {
				return d - 0.35
			} else {
				return d * d / 1.4
			}
		}},
		{"kl_div", func(s *Scope, x, y *Tensor, opts ...LossOption) *Tensor {
			return KLDiv(s, x, y, append(opts, LogTarget())...)
		}, func(x, y float64) float64 { return math.Exp(y) * (y - x) }},
		{"bce_with_logits", BCEWithLogits, func(x, y float64) float64 { return math.Log1p(math.Exp(x)) - x*y }},
	}
	k := kinds[r.IntN(len(kinds))]
	c := &drawnCall{name: fmt.Sprintf("%s reduction %v", k.name, reduction), lo: -1, hi: 1, operands: []*drawnOperand{r.operand(shape...), r.operand(shape...)}}
	c.call = func(s *Scope, in []*Tensor) *Tensor { return k.call(s, in[0], in[1], reduction) }
	c.want = func(in [][]float64) []float64 {
		list := make([]float64, length(shape))
		for i := range list {
			list[i] = k.f(in[0][i], in[1][i])
		}
		return reduced(list, reduction, float64(len(list)))
	}
	return c
}

// reduced is the reduction of a loss.
func reduced(list []float64, r Reduction, n float64) []float64 {
	switch r {
	case ReduceNone:
		return list
	case ReduceSum:
		return []float64{total(list)}
	}
	return []float64{total(list) / n}
}

func TestDrawnShapes(t *testing.T) {
	drawn(t, 60, 1<<17, sizeDraw.drawMove, sizeDraw.drawJoin, sizeDraw.drawElements, sizeDraw.drawLoss)
}
