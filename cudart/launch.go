package cudart

import (
	"sync"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// How a call of a row becomes launches of kernels. Every kernel takes one struct by value, which lies in a launcher: launchers are
// pooled, so that a training step allocates nothing here. A row, dtype or layout without a kernel is left to the host.

// A queue is what launches need of a device: its kernels and its stream.
type queue interface {
	// function returns the kernel of a symbol, 0 if no module has it.
	function(symbol string) uintptr
	// launch queues a kernel whose one parameter is the size bytes at param; they are copied.
	launch(op string, f uintptr, grid, block [3]uint32, shared uint32, param unsafe.Pointer, size uintptr) error
	// scratch returns memory for the launches of this op: what comes after it on the stream may overwrite it.
	scratch(bytes int) (uint64, error)
	// address returns where a tensor's storage begins.
	address(b amp.Buffer) uint64
	// arch returns the compute capability times ten: 70, 80, 90 …
	arch() int
}

// maxRank is the number of dimensions that kernels take after those without gaps are merged.
const maxRank = 8

// A view is a tensor, or a part of one, as kernels see it. Strides count elements.
type view struct {
	ptr    uint64 // of its first element
	dt     amp.DType
	rank   int
	shape  [maxRank]int
	stride [maxRank]int
}

func (v *view) len() int {
	n := 1
	for _, d := range v.shape[:v.rank] {
		n *= d
	}
	return n
}

// contiguous says whether the elements lie in row-major order without gaps.
func (v *view) contiguous() bool {
	n := 1
	for d := v.rank - 1; d >= 0; d-- {
		if v.shape[d] != 1 && v.stride[d] != n {
			return false
		}
		n *= v.shape[d]
	}
	return true
}

// shift moves the first element by n elements.
func (v *view) shift(n int) { v.ptr += uint64(n * v.dt.Size()) }

// flat is n elements in a row.
func flat(ptr uint64, dt amp.DType, n int) view {
	v := view{ptr: ptr, dt: dt, rank: 1}
	v.shape[0], v.stride[0] = n, 1
	return v
}

// A launcher turns one call into launches.
type launcher struct {
	q   queue
	c   *amp.Call
	err error
	mapArgs
	reduceArgs
	lineArgs
	updateArgs
	gemmArgs
	indexArgs
	poolArgs
	in  [6]view
	out view
}

var launchers = sync.Pool{New: func() any { return new(launcher) }}

// launches holds the rows that have kernels. A function reports whether it has queued everything; if not it has queued nothing.
var launches = map[string]func(l *launcher) bool{}

// launch runs a call on the queue. It reports false when there is no kernel for it, and the host has to run it.
func launch(q queue, c *amp.Call) (done bool, err error) {
	f := launches[c.Op.Name]
	if f == nil {
		return false, nil
	}
	l := launchers.Get().(*launcher)
	defer launchers.Put(l)
	l.q, l.c, l.err = q, c, nil
	if !l.operands() {
		return false, nil
	}
	done = f(l)
	l.q, l.c = nil, nil
	return done, l.err
}

// operands makes the views of the call's tensors; false if one has too many dimensions.
func (l *launcher) operands() bool {
	if len(l.c.In) > len(l.in) {
		return false
	}
	ok := l.view(&l.out, l.c.Out)
	for i, t := range l.c.In {
		l.in[i] = view{}
		ok = ok && (t == nil || l.view(&l.in[i], t))
	}
	return ok
}

func (l *launcher) view(v *view, t *amp.Tensor) bool {
	shape, strides, off := t.Layout()
	if len(shape) > maxRank {
		return false
	}
	v.dt, v.rank = t.DType(), len(shape)
	v.ptr = l.q.address(t.Storage()) + uint64(off*v.dt.Size())
	copy(v.shape[:], shape)
	copy(v.stride[:], strides)
	return true
}

// given says whether the call has input i.
func (l *launcher) given(i int) bool { return i < len(l.c.In) && l.c.In[i] != nil }

// Names of dtypes in symbols.
var dtypeNames = map[amp.DType]string{amp.Float16: "f16", amp.BFloat16: "bf16", amp.Float32: "f32", amp.Float64: "f64", amp.Int64: "i64", amp.Bool: "b8"}

type symbolKey struct {
	stem string
	a, b amp.DType
}

var symbols sync.Map // of symbolKey to string

// kernel returns the function stem_a, or stem_a_b, 0 if there is none; b is NoDType for the first.
func (l *launcher) kernel(stem string, a, b amp.DType) uintptr {
	key := symbolKey{stem, a, b}
	name, ok := symbols.Load(key)
	if !ok {
		s := stem
		if a != amp.NoDType {
			s += "_" + dtypeNames[a]
		}
		if b != amp.NoDType {
			s += "_" + dtypeNames[b]
		}
		name, _ = symbols.LoadOrStore(key, s)
	}
	return l.q.function(name.(string))
}

// run queues a kernel; the first error stays.
func (l *launcher) run(f uintptr, grid, block [3]uint32, shared uint32, param unsafe.Pointer, size uintptr) {
	if l.err == nil {
		l.err = l.q.launch(l.c.Op.Name, f, grid, block, shared, param, size)
	}
}

// workspace returns scratch memory, 0 after an error.
func (l *launcher) workspace(bytes int) uint64 {
	if l.err != nil {
		return 0
	}
	p, err := l.q.scratch(bytes)
	l.err = err
	return p
}

func blocks(n, per int) uint32 { return uint32((n + per - 1) / per) }
