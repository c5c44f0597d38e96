package amp

import (
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/halftone-ml/halftone/amp/internal/limits"
	"github.com/x448/float16"
)

// A Tensor is an n-dimensional array of one dtype on one device, and a point of the graph that Backward walks. Views
// (Reshape, Transpose, Expand) share the storage of their source.
type Tensor struct {
	dt       DType
	needs    bool   // a gradient is wanted, here or further up
	view     bool   // of another's storage
	apart    bool   // a view whose elements nothing else reads or writes, of a storage that may stay for its sake
	kept     uint32 // not 0 once the graph will read the elements; atomic
	copiedAt uint32 // of a copy that autocast made: the version of what it is a copy of
	norm     bool   // kept in float32 when a model is cast (KeepFloat32)
	clipped  bool   // a gradient that was clipped since a scaler looked at it
	divided  bool   // a gradient that a scaler has divided by the loss scale
	mixed    bool   // such a one, with a scaled gradient added since
	shape    []int
	strides  []int // in elements; 0 along a broadcast dimension
	off      int   // first element within the storage
	st       *storage
	node     *node // the op that made it; nil for a leaf
	name     string
	grad     *Tensor
	hooks    *tensorHooks   // of RegisterHook and RetainGrad; nil in most
	scope    *Scope         // where it was born; nil for tensors that belong to no scope
	copied   unsafe.Pointer // *Tensor: a copy that autocast made and the graph holds, see sharedCast; atomic, though not an atomic.Pointer: tensors are copied
	dims     [8]int         // shape and strides of up to four dimensions, in place
}

// Element lists the Go types of tensor elements.
type Element interface {
	float16.Float16 | bfloat16.BFloat16 | float32 | float64 | int64 | bool
}

// dtypeOf returns the dtype of a Go element type.
func dtypeOf[T Element]() DType {
	var z T
	switch any(z).(type) {
	case float16.Float16:
		return Float16
	case bfloat16.BFloat16:
		return BFloat16
	case float32:
		return Float32
	case float64:
		return Float64
	case int64:
		return Int64
	}
	return Bool
}

// From returns a tensor on the default device, the CPU unless SetDefaultDevice, with a copy of data in row-major order; Tensor.To
// takes it to another. Without a shape it is one-dimensional; shape () of a single value is written amp.Scalar. It belongs to no scope and
// lives until Free: what a loop makes anew in each step is handed over to the step, s.Own(amp.From(…)). It panics with ErrShape when the
// shape does not hold exactly len(data) elements.
func From[T Element](data []T, shape ...int) *Tensor {
	if len(shape) == 0 {
		shape = []int{len(data)}
	}
	if n := count("From", shape); n != len(data) {
		fail("From", ErrShape, fmt.Sprintf("give a shape of %d elements", len(data)), "%d values for shape %v (%d elements)", len(data), shape, n)
	}
	t := alloc("From", defaultDevice(), dtypeOf[T](), shape)
	whole := false
	defer t.giveUp(&whole)
	setElements(t, data)
	whole = true
	return t
}

// Scalar returns a 0-dimensional tensor on the default device, which belongs to no scope, as From's: in a loop write s.Own(amp.Scalar(…)).
func Scalar[T Element](v T) *Tensor {
	t := alloc("Scalar", defaultDevice(), dtypeOf[T](), nil)
	whole := false
	defer t.giveUp(&whole)
	setElements(t, []T{v})
	whole = true
	return t
}

// Values returns a copy of the elements in row-major order. T must be the Go type of the tensor's dtype, else it panics with
// ErrDType; Float64s converts any numeric dtype. Both, like Item, wait for a device that works behind the host's back.
func Values[T Element](t *Tensor) []T {
	t.live("Values")
	if want := dtypeOf[T](); want != t.dt {
		fail("Values", ErrDType, "use amp.Values with the Go type of "+t.dt.String()+", or t.Float64s()", "tensor is %v, asked for %v", t.dt, want)
	}
	t = t.onHost("Values")
	out := make([]T, t.Len())
	src := elements[T](t)
	if t.contiguous() {
		copy(out, src[t.off:])
		return out
	}
	i := 0
	t.each(func(off int) { out[i] = src[off]; i++ })
	return out
}

// Float64s returns the elements in row-major order as float64, exact for every dtype but large int64; false is 0, true 1.
func (t *Tensor) Float64s() []float64 {
	t.live("Float64s")
	t = t.onHost("Float64s")
	out := make([]float64, 0, t.Len())
	t.each(func(off int) { out = append(out, t.at(off)) })
	return out
}

// Item returns the value of a tensor with one element; it panics with ErrShape for any other.
func (t *Tensor) Item() float64 {
	t.live("Item")
	if t.Len() != 1 {
		fail("Item", ErrShape, "reduce it first, for example with amp.Mean or amp.Sum", "tensor of shape %v has %d elements", t.shape, t.Len())
	}
	v := 0.0
	t = t.onHost("Item")
	t.each(func(off int) { v = t.at(off) })
	return v
}

// at reads one element at an absolute offset; the tensor is on the host.
func (t *Tensor) at(off int) float64 {
	switch t.dt {
	case Float16:
		return float64(elements[float16.Float16](t)[off].Float32())
	case BFloat16:
		return float64(elements[bfloat16.BFloat16](t)[off].Float32())
	case Float32:
		return float64(elements[float32](t)[off])
	case Float64:
		return elements[float64](t)[off]
	case Int64:
		return float64(elements[int64](t)[off])
	}
	if elements[bool](t)[off] {
		return 1
	}
	return 0
}

// each calls f with the offset of every element in row-major order.
func (t *Tensor) each(f func(off int)) {
	if t.Len() == 0 {
		return
	}
	idx := make([]int, len(t.shape))
	off := t.off
	for {
		f(off)
		d := len(idx) - 1
		for ; d >= 0; d-- {
			idx[d]++
			off += t.strides[d]
			if idx[d] < t.shape[d] {
				break
			}
			off -= idx[d] * t.strides[d]
			idx[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// elements views the whole storage, which the host must reach, as a slice of T; off and strides index it.
func elements[T Element](t *Tensor) []T {
	var z T
	mem := t.st.mem
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/int(unsafe.Sizeof(z)))
}

// known returns t, which may be freed, unless it is nil.
func (t *Tensor) known(op string) *Tensor {
	if t == nil {
		t.live(op)
	}
	return t
}

// DType returns the element type.
func (t *Tensor) DType() DType { return t.known("DType").dt }

// Shape returns a copy of the shape; empty for a 0-dimensional tensor.
func (t *Tensor) Shape() []int { return slices.Clone(t.known("Shape").shape) }

// Rank returns the number of dimensions.
func (t *Tensor) Rank() int { return len(t.known("Rank").shape) }

// Dim returns the size of dimension d; negative d counts from the last.
func (t *Tensor) Dim(d int) int { return t.known("Dim").shape[t.axis("Dim", d)] }

// Len returns the number of elements.
func (t *Tensor) Len() int {
	n := 1
	for _, d := range t.known("Len").shape {
		n *= d
	}
	return n
}

// Bytes returns the size of the elements in bytes.
func (t *Tensor) Bytes() int64 {
	n := t.known("Bytes").Len()
	return int64(n) * int64(t.dt.Size())
}

// Device returns the name of the device that holds the tensor.
func (t *Tensor) Device() string {
	t.live("Device")
	return t.st.dev.Name()
}

// Name returns the name given by SetName or by the module that owns the parameter, "" if there is none.
func (t *Tensor) Name() string { return t.known("Name").name }

// SetName names the tensor for traces and messages and returns it.
func (t *Tensor) SetName(name string) *Tensor { t.known("SetName").name = name; return t }

// Version counts the in-place changes of the tensor's storage.
func (t *Tensor) Version() uint32 { t.live("Version"); return t.st.version.Load() }

// IsLeaf says whether no op made the tensor: gradients are kept on leaves.
func (t *Tensor) IsLeaf() bool { return t.known("IsLeaf").node == nil }

// contiguous says whether the elements lie in row-major order without gaps.
func (t *Tensor) contiguous() bool {
	n := 1
	for d := len(t.shape) - 1; d >= 0; d-- {
		if t.shape[d] != 1 && t.strides[d] != n {
			return false
		}
		n *= t.shape[d]
	}
	return true
}

// noTensor is what is said of a nil tensor.
const noTensor = "the tensor is nil"

// live panics when the tensor's memory has been returned.
func (t *Tensor) live(op string) {
	if t == nil {
		fail(op, ErrArgument, "pass a tensor; a Grad is nil until Backward reaches its tensor", noTensor)
	}
	if t.st == nil {
		fail(op, ErrClosed, "keep what must outlive its scope with s.Keep(t); copy what each step replaces, such as a hidden state, with amp.Assign into a tensor made outside; or read it before the scope closes",
			"tensor %sof shape %v, born in %s", quoted(t.name), t.shape, t.birthplace())
	}
}

func quoted(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%q ", name)
}

// birthplace names the scope that made the tensor.
func (t *Tensor) birthplace() string {
	if t.scope == nil {
		return "no scope"
	}
	return t.scope.label()
}

// Free returns the tensor's memory at once, and that of a leaf's gradient. Tensors born in a scope are freed by its Close; Free is for the
// others, and for those who are in a hurry. Freeing twice does nothing.
func (t *Tensor) Free() { t.known("Free").release() }

// Done says that the program will read t no more: where no backward is to read it either, its memory returns at once and later uses
// panic with ErrClosed; else it stays until its scope closes. Under autocast the graph may keep a copy in the lower precision only, and
// t itself goes. Layers say it of what they alone have seen.
func (t *Tensor) Done() {
	if atomic.LoadUint32(&t.known("Done").kept) == 0 {
		t.release()
	}
}

// keep notes that the graph will read t's elements.
func (t *Tensor) keep() {
	if atomic.LoadUint32(&t.kept) == 0 {
		atomic.StoreUint32(&t.kept, 1)
	}
}

// release returns the memory of t, and that of a leaf's gradient, which belongs to the leaf alone. Both refuse to be read from then on.
func (t *Tensor) release() {
	if t.grad != nil && t.grad.node == nil {
		t.grad.release()
	}
	st := t.st
	if st == nil {
		return
	}
	t.st = nil
	st.unref()
}

// count returns the elements of a shape and refuses negative sizes and overflow. A size of 0 excuses no others: strides are made of them.
func count(op string, shape []int) int {
	n, empty := 1, false
	for _, d := range shape {
		switch {
		case d < 0:
			fail(op, ErrShape, "use sizes of 0 and above", "shape %v has a negative size", shape)
		case d == 0:
			empty = true
		case n > limits.Elements/d:
			fail(op, ErrShape, "use a smaller shape", "shape %v has too many elements", shape)
		default:
			n *= d
		}
	}
	if empty {
		return 0
	}
	return n
}

// layout sets shape and row-major strides, in place where they fit.
func (t *Tensor) layout(shape []int) {
	n := len(shape)
	if 2*n <= len(t.dims) {
		t.shape, t.strides = t.dims[:n:n], t.dims[n:2*n:2*n]
	} else {
		buf := make([]int, 2*n)
		t.shape, t.strides = buf[:n:n], buf[n:]
	}
	copy(t.shape, shape)
	step := 1
	for d := n - 1; d >= 0; d-- {
		t.strides[d] = step
		step *= shape[d]
	}
}

// alloc returns a tensor of arbitrary content that belongs to no scope.
func alloc(op string, dev Device, dt DType, shape []int) *Tensor {
	t := new(Tensor)
	t.alloc(op, dev, dt, shape)
	return t
}

// alloc makes a tensor of t, which is zero.
func (t *Tensor) alloc(op string, dev Device, dt DType, shape []int) {
	if dt.Size() == 0 {
		fail(op, ErrDType, "use amp.Float16, amp.BFloat16, amp.Float32, amp.Float64, amp.Int64 or amp.Bool", "%v", dt)
	}
	t.dt = dt
	t.layout(shape)
	bytes := count(op, shape) * dt.Size()
	l := ledgerOf(dev)
	err := l.admit(dt, int64(bytes))
	var buf Buffer
	if err == nil {
		if d, ok := dev.(Labeler); ok {
			buf, err = d.AllocFor(bytes, op)
		} else {
			buf, err = dev.Alloc(bytes)
		}
		if err != nil {
			l.remove(dt, int64(bytes))
			if adviceOf(err) != "" { // it is not that there is no memory
				deviceFault(op, fmt.Errorf("%s: %w", dev.Name(), err))
			}
		}
	}
	if err != nil {
		fail(op, ErrMemory, fixMemory, "%d bytes for %v %v on %s: %v", bytes, dt, shape, dev.Name(), err)
	}
	l.rise()
	t.st = newStorage(dev, buf, buf.Bytes(), dt, int64(bytes))
}

// alias returns a view of t with its own shape and strides.
func (t *Tensor) alias(shape, strides []int) *Tensor {
	v := &Tensor{dt: t.dt, off: t.off, st: t.st, view: true}
	v.layout(shape)
	if strides != nil {
		copy(v.strides, strides)
	}
	t.st.refs.Add(1)
	return v
}
