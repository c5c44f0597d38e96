package amp

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// indices draws places below limit; most of them several times, some draws all the same or in order.
func (r sizeDraw) indices(n, limit int, negative bool) []int64 {
	list, one, kind := make([]int64, n), r.IntN(limit), r.IntN(5)
	for i := range list {
		list[i] = int64(r.IntN(limit))
		switch {
		case kind == 0:
			list[i] = int64(one)
		case kind == 1:
			list[i] = int64(i % limit)
		case kind == 2 && r.coin(2):
			list[i] = int64(limit - 1)
		}
		if negative && r.coin(3) {
			list[i] -= int64(limit)
		}
	}
	return list
}

// index makes an int64 tensor, which may be transposed or a piece of a larger one.
func (r sizeDraw) index(list []int64, shape []int) func(s *Scope) *Tensor {
	o := r.operand(shape...)
	if o.repeats > 1 {
		o = &drawnOperand{shape: shape, leaf: shape, first: -1, repeats: 1}
	}
	return func(s *Scope) *Tensor {
		x := Reshape(s, From(list), shape...)
		switch {
		case o.first >= 0:
			front := From(make([]int64, o.first*length(shape)/shape[o.d]))
			front = Reshape(s, front, append(slices.Clone(shape[:o.d]), append([]int{o.first}, shape[o.d+1:]...)...)...)
			return Narrow(s, Cat(s, o.d, front, x), o.d, o.first, shape[o.d])
		case o.d != o.e:
			return Transpose(s, Contiguous(s, Transpose(s, x, o.d, o.e)), o.d, o.e)
		}
		return x
	}
}

// places is the flat place within shape of each flat place within part, with the index along d put in.
func indexed(shape, part []int, d int, index func(flat, along int) int) []int {
	out, at := make([]int, length(part)), make([]int, len(part))
	for i := range out {
		rest := i
		for k := len(part) - 1; k >= 0; k-- {
			at[k], rest = rest%part[k], rest/part[k]
		}
		place := 0
		for k, n := range shape {
			j := at[k]
			if k == d {
				j = ((index(i, j) % n) + n) % n
			}
			place = place*n + j
		}
		out[i] = place
	}
	return out
}

// drawGather draws a choice of elements along a dimension.
func (r sizeDraw) drawGather(most int) *drawnCall {
	shape := r.shape(1+r.IntN(4), most)
	d := r.IntN(len(shape))
	part := slices.Clone(shape)
	part[d] = r.size(300)
	for part[d] > 1 && length(part) > most {
		part[d] /= 2
	}
	chosen := func(places []int) func(x []float64) []float64 {
		return func(x []float64) []float64 {
			out := make([]float64, len(places))
			for i, p := range places {
				out[i] = x[p]
			}
			return out
		}
	}
	switch r.IntN(4) {
	case 0:
		for k := range part {
			if k != d {
				part[k] = 1 + r.IntN(shape[k])
			}
		}
		list := r.indices(length(part), shape[d], false)
		index := r.index(list, part)
		return r.call1(fmt.Sprintf("gather %v along %d", part, d), shape, func(s *Scope, x *Tensor) *Tensor { return Gather(s, x, d, index(s)) },
			chosen(indexed(shape, part, d, func(flat, _ int) int { return int(list[flat]) })))
	case 1:
		list := r.indices(part[d], shape[d], false)
		index := r.index(list, []int{part[d]})
		return r.call1(fmt.Sprintf("index_select %d along %d", part[d], d), shape, func(s *Scope, x *Tensor) *Tensor { return IndexSelect(s, x, d, index(s)) },
			chosen(indexed(shape, part, d, func(_, along int) int { return int(list[along]) })))
	case 2:
		table, n := r.shape(2, most), r.shape(1+r.IntN(2), 400)
		for length(n)*table[1] > most {
			table[1] = table[1]/2 + 1
		}
		list, padding := r.indices(length(n), table[0], false), -1
		if r.coin(2) {
			padding = r.IntN(table[0])
		}
		index := r.index(list, n)
		c := r.call1(fmt.Sprintf("embedding of %v, padding %d", n, padding), table, func(s *Scope, x *Tensor) *Tensor {
			if padding < 0 {
				return Embedding(s, x, index(s))
			}
			return EmbeddingPadded(s, x, index(s), padding)
		}, chosen(indexed(table, []int{length(n), table[1]}, 0, func(flat, _ int) int { return int(list[flat/table[1]]) })))
		c.rough = padding >= 0 // the row of padding has no gradient, though it is read
		return c
	}
	rows := r.shape(1, 300)[0]
	for rows > 1 && len(shape) > 2 && rows*length(shape[2:]) > most || len(shape) == 1 && rows > most {
		rows /= 2
	}
	if len(shape) == 1 {
		shape = append(shape, 1)
	}
	a, b := r.indices(rows, shape[0], true), r.indices(rows, shape[1], true)
	first, second := r.index(a, []int{rows}), r.index(b, []int{rows})
	rest := length(shape[2:])
	return r.call1(fmt.Sprintf("index of %d", rows), shape, func(s *Scope, x *Tensor) *Tensor { return Index(s, x, first(s), second(s)) }, func(x []float64) []float64 {
		var out []float64
		for i := range a {
			row := (int(a[i])+shape[0])%shape[0]*shape[1] + (int(b[i])+shape[1])%shape[1]
			out = append(out, x[row*rest:][:rest]...)
		}
		return out
	})
}

// drawScatter draws a write or a sum into places along a dimension.
func (r sizeDraw) drawScatter(most int) *drawnCall {
	shape := r.shape(1+r.IntN(3), most)
	d := r.IntN(len(shape))
	part := slices.Clone(shape)
	part[d] = r.size(200)
	for part[d] > 1 && length(part) > most {
		part[d] /= 2
	}
	x := r.operand(shape...)
	c := &drawnCall{lo: -2, hi: 2}
	kind := r.IntN(5)
	whole := kind > 1 // slices, not elements
	if !whole {
		for k := range part {
			if k != d {
				part[k] = 1 + r.IntN(shape[k])
			}
		}
	}
	var list []int64
	var index func(s *Scope) *Tensor
	n := length(part)
	if whole {
		n = part[d]
		if kind == 3 { // index_copy: of several to a place none is promised
			n = min(n, shape[d])
			part[d] = n
			for _, v := range r.Perm(shape[d])[:n] {
				list = append(list, int64(v))
			}
		}
	}
	if list == nil {
		list = r.indices(n, shape[d], false)
	}
	if whole {
		index = r.index(list, []int{n})
	} else {
		index = r.index(list, part)
	}
	places := indexed(shape, part, d, func(flat, along int) int {
		if whole {
			return int(list[along])
		}
		return int(list[flat])
	})
	write := func(add bool, alpha float64) func(in [][]float64) []float64 {
		return func(in [][]float64) []float64 {
			out := slices.Clone(in[0])
			for i, p := range places {
				v := 1.25
				if len(in) > 1 {
					v = alpha * in[1][i]
				}
				if add {
					v += out[p]
				}
				out[p] = v
			}
			return out
		}
	}
	c.operands = []*drawnOperand{x, r.operand(part...)}
	switch kind {
	case 0:
		c.name, c.want = "scatter_add", write(true, 1)
		c.call = func(s *Scope, in []*Tensor) *Tensor { return ScatterAdd(s, in[0], d, index(s), in[1]) }
	case 1:
		c.name, c.want = "scatter", write(false, 1)
		c.call = func(s *Scope, in []*Tensor) *Tensor { return Scatter(s, in[0], d, index(s), in[1]) }
	case 2:
		c.name, c.want = "index_add", write(true, -0.75)
		c.call = func(s *Scope, in []*Tensor) *Tensor { return IndexAdd(s, in[0], d, index(s), in[1], -0.75) }
	case 3:
		c.name, c.want = "index_copy", write(false, 1)
		c.call = func(s *Scope, in []*Tensor) *Tensor { return IndexCopy(s, in[0], d, index(s), in[1]) }
	case 4:
		c.name, c.operands, c.want = "index_fill", c.operands[:1], write(false, 1)
		c.call = func(s *Scope, in []*Tensor) *Tensor { return IndexFill(s, in[0], d, index(s), 1.25) }
	}
	c.name += fmt.Sprintf(" of %v along %d", part, d)
	return c
}

func TestDrawnIndices(t *testing.T) {
	drawn(t, 80, 1<<17, sizeDraw.drawGather, sizeDraw.drawScatter)
}

// TestDrawnExtremes: the place of the largest and of the smallest element is that of the first of equal ones, and of the first NaN.
func TestDrawnExtremes(t *testing.T) {
	computesOnCPU(t)
	for seed := range uint64(150) {
		r := newSizeDraw(seed)
		shape := r.shape(1+r.IntN(4), 3000<<(4*(seed%2)))
		d, dt := r.IntN(len(shape)), []DType{Float64, Float32, BFloat16, Float16}[r.IntN(4)]
		o, nans := r.operand(shape...), r.coin(2)
		values := make([]float64, length(o.leaf))
		for i := range values {
			values[i] = float64(r.IntN(5 + 40*r.IntN(2)))
			if nans && r.coin(50) {
				values[i] = math.NaN()
			}
		}
		machines := productMachines()
		m := machines[r.IntN(len(machines))]
		m.threads, m.poison = 1+r.IntN(3), 0xff
		m.on(func() {
			s := NewScope(On("cpu"))
			defer s.Close()
			x := o.of(s, fromFloat64s(dt, values, o.leaf))
			for sign, call := range map[float64]func(s *Scope, x *Tensor, dim int) *Tensor{1: ArgMax, -1: ArgMin} {
				want := walkOf(shape, d).each(x.Float64s(), func(line []float64) float64 {
					best := 0
					for i, v := range line {
						if line[best] == line[best] && (v != v || sign*v > sign*line[best]) {
							best = i
						}
					}
					return float64(best)
				})
				if got := call(s, x, d).Float64s(); !slices.Equal(got, want) {
					t.Errorf("seed %d: extreme %v of %v %v along %d on %v with %d threads: %d places, not those of %d", seed, sign, dt, o, d, m.mode.Variant, m.threads, len(got), len(want))
				}
			}
		})
	}
}
