package amp

import (
	"fmt"
	"slices"
)

// A Back is one call of a row's Backward: what it may read, and where it puts the gradients.
type Back struct {
	S   *Scope  // scope to call table ops in; autocast is off
	DY  *Tensor // gradient of the result
	n   *node
	d   []*Tensor
	w   [savable + 1]*Tensor // of a Wide row: float32 copies of what was saved
	dy8 *Tensor              // DY rounded to 8 bits, of a product whose recipe has one scale for it

	e   *engine // nil of a reference for TraceGradients
	sum bool    // what input 0 gets is a sum with what it had (soFar)

	exact bool // of a reference for TraceGradients: all floats are float64
}

// Needs says whether the gradient of input i is wanted: under Grad, whether it is on the way to one that was asked about.
func (b *Back) Needs(i int) bool {
	in := b.n.in[i]
	return in != nil && in.needs && (b.e == nil || b.e.wants(in))
}

// Shape and DType describe input i without reading it.
func (b *Back) Shape(i int) []int { return b.n.in[i].shape }

// DType returns the dtype of input i.
func (b *Back) DType(i int) DType {
	if dt := b.n.in[i].dt; !b.exact || !dt.IsFloat() {
		return dt
	}
	return Float64
}

// Attrs returns the arguments of the call that are not tensors.
func (b *Back) Attrs() Attrs {
	if b.n.attrs == nil {
		return Attrs{}
	}
	return *b.n.attrs
}

// In returns input i as the kernel saw it. The row must declare it in Saves; it panics with ErrStale if the tensor was changed
// in place since.
func (b *Back) In(i int) *Tensor { return b.saved(b.n.in[i], i, b.n.op.argName(i)) }

// Out returns the result; see In.
func (b *Back) Out() *Tensor { return b.saved(b.n.out, savable, "result") }

// again returns the result, computed anew by f from input 0 where it was rounded to half: a gradient that is made of a rounded result
// would carry its error along. The row must declare both in Saves.
func (b *Back) again(f func(s *Scope, x *Tensor) *Tensor) *Tensor {
	if b.n.op.Wide && b.n.out.dt.IsHalf() {
		return f(b.S, b.In(0))
	}
	return b.Out()
}

func (b *Back) saved(t *Tensor, i int, what string) *Tensor {
	t.live(b.n.op.Name + " backward")
	version := b.n.versions[i]
	if now := t.st.version.Load(); now != version {
		panic(&Error{Op: b.n.op.Name + " backward", Kind: ErrStale, Module: b.n.path,
			Detail: fmt.Sprintf("%s %sof shape %v is at version %d, backward needs version %d", what, quoted(t.name), t.shape, now, version),
			Fix:    "call Backward before changing it (opt.Step, SetValues), or run the forward pass again"})
	}
	if b.w[i] == nil {
		b.w[i] = b.widen(t)
	}
	return b.w[i]
}

// widen returns t in float32 if the row is Wide and t is shorter.
func (b *Back) widen(t *Tensor) *Tensor {
	if b.exact {
		return b.exactly(t)
	}
	if b.n.op.Wide && t.dt.IsHalf() {
		return To(b.S, t, Float32)
	}
	return t
}

// Set gives the gradient of input i; gradients nobody wants are ignored.
func (b *Back) Set(i int, g *Tensor) {
	if !b.Needs(i) {
		return
	}
	if b.n.op.Wide && g != nil {
		g = To(b.S, g, b.DType(i))
	}
	b.d[i] = g
}

// soFar returns the gradient that input 0 has from elsewhere, for a row that adds its own to it as it writes it, and says so; nil where there
// is none, or where each is wanted apart. The sum is that of two rounded gradients, as it would be without.
func (b *Back) soFar() *Tensor {
	if b.e == nil { // of a reference
		return nil
	}
	g := b.e.soFar(b)
	b.sum = g != nil
	return g
}

// sumTo sums g over the dimensions along which input i was broadcast.
func (b *Back) sumTo(i int, g *Tensor) *Tensor {
	if !b.Needs(i) {
		return nil
	}
	want := b.n.in[i].shape
	if slices.Equal(g.shape, want) {
		return g
	}
	lead := len(g.shape) - len(want)
	var dims []int
	for d := range g.shape {
		if d < lead || want[d-lead] == 1 && g.shape[d] != 1 {
			dims = append(dims, d)
		}
	}
	if len(dims) > 0 {
		g = Sum(b.S, g, dims...)
	}
	return Reshape(b.S, g, want...)
}

// spread is the gradient of a reduction: g repeated over the reduced dimensions, in the dtype of input 0.
func (b *Back) spread(g *Tensor) *Tensor {
	in, a := b.Shape(0), b.Attrs()
	if !a.Keep {
		kept := slices.Clone(in)
		for _, d := range a.Dims {
			kept[d] = 1
		}
		g = Reshape(b.S, g, kept...)
	}
	return To(b.S, Expand(b.S, g, in...), b.DType(0))
}
