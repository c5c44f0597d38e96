package amp

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"
)

// Leaves: parameters and data, their gradients, and changes in place.

// RequireGrad makes a float leaf want a gradient and returns it.
func (t *Tensor) RequireGrad() *Tensor {
	t.live("RequireGrad")
	if !t.dt.IsFloat() {
		fail("RequireGrad", ErrDType, "use a float tensor", "%v has no gradient", t.dt)
	}
	if t.node != nil {
		fail("RequireGrad", ErrGrad, "call it on a leaf; the result of an op wants one already, or use Detach first", "result of %s", t.node.op.Name)
	}
	t.needs = true
	return t
}

// Freeze makes a leaf want no gradient and returns it.
func (t *Tensor) Freeze() *Tensor {
	if t.known("Freeze").node != nil {
		fail("Freeze", ErrGrad, "use Detach for the result of an op", "result of %s", t.node.op.Name)
	}
	t.needs = false
	return t
}

// RequiresGrad says whether Backward computes a gradient of t, for itself or for what it was made from.
func (t *Tensor) RequiresGrad() bool { return t.known("RequiresGrad").needs }

// Grad returns the gradient that Backward has left on a leaf, or on a result of RetainGrad, in its dtype; nil before the first and after
// ZeroGrad. Its memory goes with the tensor's: a parameter, which belongs to no scope, keeps it.
func (t *Tensor) Grad() *Tensor { return t.known("Grad").grad }

// SetGrad replaces the gradient; nil removes it. g must have t's shape and dtype, since later passes are added to it in its own dtype, and
// belong to no scope that closes earlier; it is t's from then on, and ZeroGrad and t's Free free it. It panics with ErrShape or ErrDType.
func (t *Tensor) SetGrad(g *Tensor) {
	t.known("SetGrad")
	if g != nil && !slices.Equal(g.shape, t.shape) {
		fail("SetGrad", ErrShape, "a gradient has the shape of its tensor", "tensor %s%v, gradient %v", quoted(t.name), t.shape, g.shape)
	}
	if g != nil && g.dt != t.dt {
		fail("SetGrad", ErrDType, fmt.Sprintf("convert it to %v with amp.To", t.dt), "tensor %sof shape %v is %v, the gradient %v",
			quoted(t.name), t.shape, t.dt, g.dt)
	}
	if g == t.grad {
		return
	}
	t.ZeroGrad()
	t.grad = g
}

// ZeroGrad removes the gradient and returns its memory to the pool.
func (t *Tensor) ZeroGrad() {
	if t.known("ZeroGrad").grad != nil && t.grad.node == nil {
		t.grad.release()
	}
	t.grad = nil
}

// Detach returns a view of t that no gradient flows through.
func Detach(s *Scope, t *Tensor) *Tensor {
	s.alive("Detach")
	t.live("Detach")
	v := t.alias(t.shape, t.strides)
	v.scope = s
	s.arena.own(v)
	return v
}

// SetValues replaces the elements, in row-major order; T must be the Go type of the dtype. Backward of an op that saved the
// tensor panics afterwards, and cached casts of it are renewed.
func SetValues[T Element](t *Tensor, values []T) {
	t.live("SetValues")
	if want := dtypeOf[T](); want != t.dt {
		fail("SetValues", ErrDType, "use the Go type of "+t.dt.String(), "tensor is %v, values are %v", t.dt, want)
	}
	if len(values) != t.Len() {
		fail("SetValues", ErrShape, "give one value per element", "%d values for shape %v", len(values), t.shape)
	}
	t.st.changing()
	setElements(t, values)
}

// Assign replaces the elements of dst by those of src, rounded to dst's dtype, wherever the two are: loading a saved weight. It needs
// no scope; what SetValues says of graphs and cached casts holds here. The shapes must be equal. dst may be a view of the tensor that is to
// change, unless its elements share memory, which is ErrArgument.
func Assign(dst, src *Tensor) {
	dst.live("Assign")
	src.live("Assign")
	if !slices.Equal(dst.shape, src.shape) {
		fail("Assign", ErrShape, "give both the same shape", "dst %sof shape %v from src of shape %v", quoted(dst.name), dst.shape, src.shape)
	}
	dst.writable("Assign", "dst")
	if g := capturingOn(dst.st.dev); g != nil {
		g.Uses(dst, src)
	}
	switch {
	case dst.dt == src.dt && dst.contiguous() && src.contiguous() && !overlap(dst, src):
		dst.st.changing()
		dst.copyFrom("Assign", src)
	case dst.IsCPU() && src.IsCPU() && dst.contiguous() && !overlap(dst, src):
		dst.st.changing()
		dst.convert(src)
	case sameDevice(dst.st.dev, src.st.dev):
		copyHere(dst, src)
	case !dst.contiguous(): // only what changes goes from one device to the other
		there := src.copyTo("Assign", dst.st.dev)
		defer there.release()
		copyHere(dst, there)
	default:
		dst.st.changing()
		src = src.onHost("Assign")
		dst.rewrite("Assign", func(dst *Tensor) { dst.convert(src) })
	}
}

// copyHere is copy_ between tensors of one device, in no scope of the program's.
func copyHere(dst, src *Tensor) {
	s := detachedOn(dst.st.dev).Child()
	defer s.Close()
	s.NoGrad().inPlace(opCopyInPlace, dst, src)
}

// convert sets the elements to those of src, rounded once. Both are on the host, and src in other memory.
func (t *Tensor) convert(src *Tensor) {
	if t.dt == Int64 && src.dt == Int64 {
		unaryOn(t, src, copyK[int64])
		return
	}
	unaryOn(t, src, copyK[float64]) // which holds every value of the other dtypes
}

// accumulating are locks of leaves, several of which share one: backward passes of other goroutines, over other batches, may end at the
// same parameters.
var accumulating [64]sync.Mutex

// accumulate adds g, a temporary of the backward scope bs, to the leaf's gradient. s is the scope Backward was called for; scaled says
// whether g carries a loss scale.
func (t *Tensor) accumulate(s, bs *Scope, g *Tensor, scaled bool) {
	lock := &accumulating[uintptr(unsafe.Pointer(t))/unsafe.Sizeof(*t)%uintptr(len(accumulating))]
	lock.Lock()
	defer lock.Unlock()
	if t.st == nil && t.grad != nil && t.grad.st == nil { // freed early, with the gradient that it had by then
		t.grad = nil
	}
	if scaled {
		t.mix()
	}
	if c := recordingOn(g.st.dev); c != nil && t.grad != nil {
		c.addsTo(t)
	}
	switch {
	case t.joins(bs, g):
	case (g.apart || g.st.refs.Load() == 1 && g.off == 0) && g.contiguous() && bs.arena.disown(g):
		g.scope, g.view = s, false
		t.grad = g
	default: // shared with something else, such as the gradient of another leaf
		c, whole := alloc("Backward", g.st.dev, g.dt, g.shape), false
		defer c.giveUp(&whole)
		CopyInPlace(bs, c, g)
		c.scope, whole = s, true
		t.grad = c
	}
	t.grad.name = t.name
}

// joins adds g to the gradient that t has, or with CreateGraph makes it that; it does nothing where t needs one of its own.
func (t *Tensor) joins(bs *Scope, g *Tensor) bool {
	switch {
	case !bs.noGrad && t.grad != nil: // CreateGraph: the gradient is part of a graph
		t.grad = Add(bs, t.grad, g)
	case !bs.noGrad: // g may be another leaf's gradient too, what the caller gave, or saved in the graph: it must not change with this one
		t.grad = Clone(bs, g)
	case t.grad != nil:
		AddInPlace(bs, t.grad, g)
	default:
		return false
	}
	return true
}

// ZerosOn returns a tensor of zeros on t's device that belongs to no scope; without a shape it is 0-dimensional.
func ZerosOn(t *Tensor, dt DType, shape ...int) *Tensor {
	t.live("ZerosOn")
	return filled("ZerosOn", t.st.dev, dt, 0, shape)
}

// Like returns a tensor of zeros with t's dtype, shape and device that belongs to no scope: optimizer state.
func Like(t *Tensor) *Tensor {
	t.live("Like")
	return filled("Like", t.st.dev, t.dt, 0, t.shape)
}

// SumOfSquares returns Σ x², accumulated in float64.
func SumOfSquares(t *Tensor) float64 {
	t.live("SumOfSquares")
	if t = t.onHost("SumOfSquares"); t.contiguous() && t.dt.IsFloat() && t.dt != Float64 {
		return sumSquares(t, t.off, t.Len())
	}
	sum := 0.0
	t.eachChunk("SumOfSquares", func(values []float64) {
		for _, v := range values {
			sum += float64(v * v)
		}
	})
	return sum
}

// eachChunk calls f with the elements in row-major order, some at a time, as float64; op is who reads them, for errors.
func (t *Tensor) eachChunk(op string, f func(values []float64)) {
	t = t.onHost(op)
	w := newRowWalk(t)
	s := scratch64.Get().(*scratch[float64])
	defer scratch64.Put(s)
	w.sequential(func(off [4]int, n int) { f(fetch(&s.buf[0], t, off[0], w.step[0], n)) })
}

// needGrad refuses a parameter without a gradient, in the name of the function that reads it.
func (t *Tensor) needGrad(op string) {
	t.live(op)
	if t.grad == nil {
		fail(op, ErrGrad, "call Backward first", "%sof shape %v has no gradient", quoted(t.name), t.shape)
	}
}

// ScaleGrad multiplies a parameter's gradient by k in place: a mean over parts of a batch, for example.
func ScaleGrad(p *Tensor, k float64) {
	p.needGrad("ScaleGrad")
	optimizerScope(p).apply(opScaleInPlace, Attrs{Scalar: k}, p.grad)
}
