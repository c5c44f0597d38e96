package amp

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// drawPool draws a pooling of one to three dimensions.
func (r sizeDraw) drawPool(most int) *drawnCall {
	dims := 1 + r.IntN(3)
	shape := r.shape(2+dims, most)
	kernel, stride, padding, dilation := make([]int, dims), make([]int, dims), make([]int, dims), make([]int, dims)
	largest, ceil, exclude := r.coin(2), r.coin(2), r.coin(2)
	for d := range dims {
		kernel[d], stride[d], dilation[d] = 1+r.IntN(4), 1+r.IntN(4), 1
		padding[d] = r.IntN(kernel[d]/2 + 1)
		if largest {
			dilation[d] = 1 + r.IntN(3)
		}
		shape[2+d] = max(shape[2+d], dilation[d]*(kernel[d]-1)+1)
	}
	opts := []WindowOption{Kernel(kernel...), Stride(stride...), Padding(padding...)}
	if largest {
		opts = append(opts, Dilation(dilation...))
	}
	if ceil {
		opts = append(opts, CeilMode())
	}
	if !largest && exclude {
		opts = append(opts, ExcludePadding())
	}
	name := fmt.Sprintf("pool%dd, largest %v, kernel %v stride %v padding %v dilation %v ceil %v exclude %v,", dims, largest, kernel, stride, padding, dilation, ceil, exclude)
	calls := [][]func(s *Scope, x *Tensor, kernel int, opts ...WindowOption) *Tensor{{AvgPool1d, AvgPool2d, AvgPool3d}, {MaxPool1d, MaxPool2d, MaxPool3d}}
	k := 0
	if largest {
		k = 1
	}
	c := r.call1(name, shape, func(s *Scope, x *Tensor) *Tensor { return calls[k][dims-1](s, x, 1, opts...) }, func(x []float64) []float64 {
		out := slices.Clone(shape)
		for d := range dims {
			free := shape[2+d] + 2*padding[d] - dilation[d]*(kernel[d]-1) - 1
			out[2+d] = free/stride[d] + 1
			if ceil && free%stride[d] != 0 && out[2+d]*stride[d] < shape[2+d]+padding[d] {
				out[2+d]++
			}
		}
		return pooled(x, shape, out, kernel, stride, padding, dilation, largest, exclude)
	})
	c.apart, c.rough = largest, largest && c.operands[0].repeats > 1
	return c
}

// pooled is a pooling by its definition.
func pooled(x []float64, shape, out, kernel, stride, padding, dilation []int, largest, exclude bool) []float64 {
	dims, plane := len(kernel), length(shape[2:])
	y := make([]float64, length(out))
	for i := range y {
		at, rest := make([]int, dims), i
		for d := dims - 1; d >= 0; d-- {
			at[d], rest = rest%out[2+d], rest/out[2+d]
		}
		sum, most, within, padded := 0.0, math.Inf(-1), 0, 0
		for tap := range length(kernel) {
			place, in, all, rest, step := 0, true, true, tap, 1
			for d := dims - 1; d >= 0; d-- {
				j := at[d]*stride[d] - padding[d] + rest%kernel[d]*dilation[d]
				rest /= kernel[d]
				in = in && j >= 0 && j < shape[2+d]
				all = all && j < shape[2+d]+padding[d]
				place, step = place+j*step, step*shape[2+d]
			}
			if all {
				padded++
			}
			if in {
				v := x[rest0(i, out, plane)+place]
				sum, most, within = sum+v, max(most, v), within+1
			}
		}
		switch {
		case largest:
			y[i] = most
		case exclude:
			y[i] = sum / float64(within)
		default:
			y[i] = sum / float64(padded)
		}
	}
	return y
}

// rest0 is where the plane begins that element i of a result belongs to.
func rest0(i int, out []int, plane int) int { return i / length(out[2:]) * plane }

// drawAttention draws an attention of one or several heads, with or without mask.
func (r sizeDraw) drawAttention(most int) *drawnCall {
	shape := r.shape(1+r.IntN(2), 12)
	t, n, d, e := r.size(150), r.size(150), r.size(80), r.size(80)
	for length(shape)*t*n*(d+e) > 16*most {
		switch r.IntN(4) {
		case 0:
			t = t/2 + 1
		case 1:
			n = n/2 + 1
		case 2:
			d = d/2 + 1
		case 3:
			e = e/2 + 1
			shape[0] = (shape[0] + 1) / 2
		}
	}
	of := func(n ...int) *drawnOperand { return r.operand(append(slices.Clone(shape), n...)...) }
	c := &drawnCall{lo: -1, hi: 1, steep: 1, operands: []*drawnOperand{of(t, d), of(n, d), of(n, e)}}
	kind := r.IntN(4) // no mask, causal, added, chosen
	scale := 1 / math.Sqrt(float64(d))
	if r.coin(3) {
		scale = 0.3
	}
	chosen := make([]bool, t*n)
	for i := range chosen {
		chosen[i] = !r.coin(4)
	}
	if kind == 2 {
		c.operands = append(c.operands, r.operand(t, n))
	}
	c.name = fmt.Sprintf("attention of %v heads, %d and %d places, %d and %d features, scale %.2g, mask %d", shape, t, n, d, e, scale, kind)
	c.call = func(s *Scope, in []*Tensor) *Tensor {
		var mask *Tensor
		switch kind {
		case 2:
			mask = in[3]
		case 3:
			mask = Reshape(s, From(chosen), t, n)
		}
		return ScaledDotProductAttention(s, in[0], in[1], in[2], mask, Attention{Causal: kind == 1, Scale: scale})
	}
	c.want = func(in [][]float64) []float64 {
		out := make([]float64, length(shape)*t*e)
		for h := range length(shape) {
			for i := range t {
				weights, sum := make([]float64, n), 0.0
				for j := range n {
					score := 0.0
					for f := range d {
						score += in[0][(h*t+i)*d+f] * in[1][(h*n+j)*d+f]
					}
					score *= scale
					if kind == 2 {
						score += in[3][i*n+j]
					}
					if !(kind == 1 && j > i || kind == 3 && !chosen[i*n+j]) {
						weights[j] = math.Exp(score)
						sum += weights[j]
					}
				}
				for j, w := range weights {
					if sum > 0 {
						for f := range e {
							out[(h*t+i)*e+f] += w / sum * in[2][(h*n+j)*e+f]
						}
					}
				}
			}
		}
		return out
	}
	return c
}

// drawEinsum draws a product of two tensors that an equation describes.
func (r sizeDraw) drawEinsum(most int) *drawnCall {
	letters, sizes := "abcde"[:2+r.IntN(4)], map[rune]int{}
	most = most*4 + 16
	for {
		n := 1
		for _, l := range letters {
			sizes[l] = min(r.size(40), most)
			n *= sizes[l]
		}
		if n <= most {
			break
		}
	}
	var terms [3]string // two operands and the result, each with some letters in some order
	for _, k := range r.Perm(len(letters)) {
		l := string(letters[k])
		in := 1 + r.IntN(3)
		if in&1 != 0 {
			terms[0] += l
		}
		if in&2 != 0 {
			terms[1] = l + terms[1]
		}
	}
	for _, k := range r.Perm(len(letters)) {
		if !r.coin(3) {
			terms[2] += string(letters[k])
		}
	}
	if terms[0] == "" || terms[1] == "" {
		return r.drawEinsum(most)
	}
	shapes := [3][]int{}
	for k, term := range terms {
		for _, l := range term {
			shapes[k] = append(shapes[k], sizes[l])
		}
	}
	equation := terms[0] + "," + terms[1] + "->" + terms[2]
	c := &drawnCall{name: "einsum " + equation, lo: -1, hi: 1, steep: 1, operands: []*drawnOperand{r.operand(shapes[0]...), r.operand(shapes[1]...)}}
	c.call = func(s *Scope, in []*Tensor) *Tensor { return Einsum(s, equation, in...) }
	c.want = func(in [][]float64) []float64 {
		out, at, n := make([]float64, length(shapes[2])), map[rune]int{}, 1
		for _, l := range letters {
			n *= sizes[l]
		}
		place := func(term string) (p int) {
			for _, l := range term {
				p = p*sizes[l] + at[l]
			}
			return p
		}
		for i := range n {
			for _, l := range letters {
				at[l], i = i%sizes[l], i/sizes[l]
			}
			out[place(terms[2])] += in[0][place(terms[0])] * in[1][place(terms[1])]
		}
		return out
	}
	return c
}

// drawDropped draws an attention that drops weights: which, a product with the unit matrix shows.
func (r sizeDraw) drawDropped(most int) *drawnCall {
	heads, shared := 1+r.IntN(4), r.coin(3)
	t, n, d, e := r.size(150), r.size(150), r.size(40), r.size(40)
	for heads*t*n*(d+e) > 16*most {
		t, n, d, e = t*3/4+1, n*3/4+1, d*3/4+1, e*3/4+1
		heads = (heads + 1) / 2
	}
	group := 1
	if shared {
		group = 1 + r.IntN(3)
	}
	o := Attention{Dropout: []float64{0.1, 0.3, 0.5, 0.9}[r.IntN(4)], Scale: 0.3 + r.Float64(), Causal: r.coin(3), Grouped: shared}
	c := &drawnCall{name: fmt.Sprintf("attention of %d heads in groups of %d, %d and %d places, %d and %d features, %+v", heads*group, group, t, n, d, e, o), lo: -1, hi: 1, steep: 1}
	c.operands = []*drawnOperand{r.operand(heads*group, t, d), r.operand(heads, n, d), r.operand(heads, n, e)}
	attend := func(s *Scope, q, k, v *Tensor) *Tensor {
		s.rng.Load(StreamState{Seed: 7, Counter: 1234567})
		return ScaledDotProductAttention(s, q, k, v, nil, o)
	}
	c.call = func(s *Scope, in []*Tensor) *Tensor { return attend(s, in[0], in[1], in[2]) }
	c.want = func(in [][]float64) []float64 {
		s := NewScope(On("cpu"))
		defer s.Close()
		unit := make([]float64, heads*n*n)
		for i := range unit {
			if i/n%n == i%n {
				unit[i] = 1
			}
		}
		kept := attend(s, fromFloat64s(Float64, in[0], c.operands[0].shape), fromFloat64s(Float64, in[1], c.operands[1].shape), fromFloat64s(Float64, unit, []int{heads, n, n})).Float64s()
		out, dropped, all := make([]float64, heads*group*t*e), 0, 0
		for h := range heads * group {
			for i := range t {
				weights, sum, last := make([]float64, n), 0.0, n
				if o.Causal {
					last = min(n, i+1)
				}
				for j := range last {
					score := 0.0
					for f := range d {
						score += in[0][(h*t+i)*d+f] * in[1][(h/group*n+j)*d+f]
					}
					weights[j] = math.Exp(o.Scale * score)
					sum += weights[j]
				}
				for j, w := range weights[:last] {
					all++
					if kept[(h*t+i)*n+j] == 0 {
						dropped++
						continue
					}
					for f := range e {
						out[(h*t+i)*e+f] += w / sum / (1 - o.Dropout) * in[2][(h/group*n+j)*e+f]
					}
				}
			}
		}
		if p := o.Dropout; math.Abs(float64(dropped)-p*float64(all)) > 7*math.Sqrt(p*(1-p)*float64(all))+2 {
			panic(fmt.Sprintf("%d of %d weights are dropped", dropped, all))
		}
		return out
	}
	return c
}

func TestDrawnDroppedAttention(t *testing.T) { drawn(t, 50, 1<<15, sizeDraw.drawDropped) }

func TestDrawnWindows(t *testing.T) {
	drawn(t, 60, 1<<16, sizeDraw.drawPool, sizeDraw.drawAttention, sizeDraw.drawEinsum)
}
