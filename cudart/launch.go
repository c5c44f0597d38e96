package cudart

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// How a call of a row becomes launches of kernels. Every kernel takes one struct by value, which lies in a launcher: launchers are
// pooled, so that a training step allocates nothing here. A row, dtype or layout without a kernel is left to the host.

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
	d             *device
	held          []*block // scratch memory of the call
	ahead         bool     // of what was gathered is what is queued
	c             *amp.Call
	err           error
	mapArgs       mapArgs
	reduceArgs    reduceArgs
	lineArgs      lineArgs
	gemmArgs      gemmArgs
	classArgs     classArgs
	indexArgs     indexing
	rowsArgs      rowsArgs
	dropoutArgs   dropoutArgs
	channelArgs   channelArgs
	poolArgs      poolArgs
	convArgs      convArgs
	denseArgs     denseArgs
	packArgs      packArgs
	weightsArgs   weightsArgs
	attentionArgs attentionArgs
	resampleArgs  resampleArgs
	gridArgs      gridArgs
	pairArgs      pairArgs
	factorArgs    factorArgs
	partialAt     uint64 // memory for partial reductions that is there already
	in            [9]view
	out           view

	scanArgs     scanArgs
	sortArgs     sortArgs
	padArgs      padArgs
	quantizeArgs quantizeArgs
	byScalesArgs byScalesArgs
	hadamardArgs hadamardArgs
	labelArgs    labelArgs
	ctcArgs      ctcArgs
	ravelArgs    ravelArgs
	wholeArgs    wholeArgs
}

var launchers = sync.Pool{New: func() any { return new(launcher) }}

// A launching queues a call's kernels. It reports whether it has queued everything; if not it has queued nothing.
type launching func(l *launcher) bool

// register gives rows their kernels.
func register(f launching, rows ...string) {
	for _, name := range rows {
		kernels[name] = func(d *device, c *amp.Call) (bool, error) { return f.run(d, c) }
	}
}

// run queues a call. It reports false when there is no kernel for it, and the host has to run it.
func (f launching) run(d *device, c *amp.Call) (done bool, err error) {
	l := launchers.Get().(*launcher)
	l.d, l.c, l.err = d, c, nil
	done = l.operands() && (f(l) || l.err == nil && l.pack() && f(l))
	err = l.err
	for i, b := range l.held {
		b.Free() // what is queued next may write there: it runs later
		l.held[i] = nil
	}
	l.d, l.c, l.held = nil, nil, l.held[:0]
	launchers.Put(l)
	return done, err
}

// operands makes the views of the call's tensors, of the first ones if there are many; false if one has too many dimensions.
func (l *launcher) operands() bool {
	ok := l.view(&l.out, l.c.Out)
	for i, t := range l.c.In[:min(len(l.c.In), len(l.in))] {
		l.in[i] = view{}
		ok = ok && (t == nil || l.view(&l.in[i], t))
	}
	return ok
}

func (l *launcher) view(v *view, t *amp.Tensor) bool {
	at := t.Layout()
	if len(at.Shape) > maxRank {
		return false
	}
	v.dt, v.rank, v.ptr = t.DType(), len(at.Shape), uint64(address(t))
	copy(v.shape[:], at.Shape)
	copy(v.stride[:], at.Strides)
	return true
}

// pack replaces inputs with gaps, or in another order, by copies without, for kernels that take no others. It reports whether there were any.
func (l *launcher) pack() bool {
	if l.c.Op.InPlace || len(l.c.In) > len(l.in) || !l.operands() {
		return false
	}
	some := false
	for i, t := range l.c.In {
		if t == nil || l.in[i].contiguous() {
			continue
		}
		to, ok := l.packed(&l.in[i])
		if !ok {
			return false
		}
		l.in[i], some = to, true
	}
	return some
}

// packed queues a copy without gaps into scratch memory.
func (l *launcher) packed(v *view) (view, bool) {
	to := l.scratch(v, v.dt)
	return to, l.err == nil && (to.len() == 0 || l.copy(&to, v))
}

// scratch is memory for as many elements of a dtype as v has, without gaps.
func (l *launcher) scratch(v *view, dt amp.DType) view {
	to := *v
	to.dt = dt
	n := 1
	for d := v.rank - 1; d >= 0; d-- {
		to.stride[d] = n
		n *= v.shape[d]
	}
	to.ptr = l.workspace(max(n*dt.Size(), 1))
	return to
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
func (l *launcher) kernel(stem string, a, b amp.DType) driver.Function {
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
	f, err := l.d.function(name.(string))
	if l.err == nil {
		l.err = err
	}
	return f
}

// run queues a kernel whose parameter is the struct at param; the first error stays.
func (l *launcher) run(f driver.Function, grid, block [3]uint32, shared uint32, param unsafe.Pointer, size uintptr) {
	if l.err != nil {
		return
	}
	a := driver.GetArgs(l.c.Op.Name).Struct(param, size)
	if l.ahead {
		l.err = l.d.queue(f, grid, block, shared, a)
	} else {
		l.err = l.d.launch(f, grid, block, shared, a)
	}
}

// workspace returns scratch memory for the rest of the call, 0 after an error.
func (l *launcher) workspace(bytes int) uint64 {
	if l.err != nil {
		return 0
	}
	var b *block
	if b, l.err = l.d.pool.get(bytes, l.c.Op.Name); l.err != nil {
		return 0
	}
	l.held = append(l.held, b)
	return uint64(b.ptr)
}

// mostInt is the largest size of what kernels count in 32 bits: indices go on to the end of the last tile.
const mostInt = math.MaxInt32 - 1<<16

// countable says whether kernels can count sizes in 32 bits.
func countable(sizes ...int) bool {
	return !slices.ContainsFunc(sizes, func(n int) bool { return n > mostInt })
}

func blocks(n, per int) uint32 { return uint32((n + per - 1) / per) }
