package amp

import (
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// A Stream is a counter-based random stream (Philox4x32-10, Salmon et al., SC 2011): number i depends on seed and i alone, so
// its whole state is two integers and the same seed gives the same numbers on every machine. Safe across goroutines.
type Stream struct {
	seed    uint64
	counter atomic.Uint64
	copyOf  *Stream // of a checkpointed part that runs again: the stream that it drew from first

	from *graphStream // of such a part whose first run was recorded
}

// NewStream returns a stream at position 0.
func NewStream(seed uint64) *Stream { return &Stream{seed: seed} }

// StreamState is what a Stream needs to go on after a restart.
type StreamState struct {
	Seed    uint64 `json:"seed"`
	Counter uint64 `json:"counter"` // blocks of four 32-bit numbers drawn
}

// State returns the present position.
func (r *Stream) State() StreamState { return StreamState{r.seed, r.counter.Load()} }

// Load moves the stream to a saved position. It panics with ErrCapture in a captured step that draws from it: a replay goes on where the last
// one ended.
func (r *Stream) Load(st StreamState) {
	if g := capturing.Load(); g.mine() && g.stage == graphRecord && g.drawsFrom(r) {
		fail("Stream.Load", ErrCapture, "move the stream before Capture or between replays", "the step that is being captured draws from the stream")
	}
	r.seed = st.Seed
	r.counter.Store(st.Counter)
}

// take reserves n blocks and returns the first.
func (r *Stream) take(n int) uint64 { return r.counter.Add(uint64(n)) - uint64(n) }

// A drawing writes numbers, two a block from a block on; the last block may give only one. Several workers call it.
type drawing func(dst []float64, seed, block uint64)

// evenly draws numbers each made from 64 random bits by f.
func evenly(f func(u, v float64) (float64, float64)) drawing {
	return func(dst []float64, seed, block uint64) {
		var numbers [2 * chunk]uint32
		cpu.Philox(numbers[:(len(dst)+1)/2*4], seed, block)
		for i := 0; i < len(dst); i += 2 {
			b := numbers[2*i : 2*i+4]
			x, y := f(cpu.Uniform(b[0], b[1]), cpu.Uniform(b[2], b[3]))
			dst[i] = x
			if i+1 < len(dst) {
				dst[i+1] = y
			}
		}
	}
}

// draw reserves blocks for n numbers and draws them, a chunk at a time, each of which it gives to put.
func (r *Stream) draw(n int, f drawing, put func(at int, values []float64)) {
	first := r.take((n + 1) / 2)
	cpu.Parallel((n+chunk-1)/chunk, grainOf(4*chunk), func(lo, hi int) {
		var buf [chunk]float64
		for at := lo * chunk; at < min(hi*chunk, n); at += chunk {
			part := buf[:min(chunk, n-at)]
			f(part, r.seed, first+uint64(at/2))
			put(at, part)
		}
	})
}

// fill draws len(dst) numbers, two a block, each made from 64 random bits by f, which several workers call.
func (r *Stream) fill(dst []float64, f func(u, v float64) (float64, float64)) {
	r.draw(len(dst), evenly(f), func(at int, values []float64) { copy(dst[at:], values) })
}

// Rand returns a tensor of numbers uniform in [lo,hi), rounded to nearest, drawn from the scope's stream. In the scope of a step or a Child
// it is freed with it; made in a root scope it belongs to none, so that it may be a parameter or data: Free it, or let the process end. The
// numbers are the same bits on every device. Halves that would be rounded to hi are the largest number below it; a float32 one is with a
// probability of 2^-25. It panics with ErrArgument unless lo ≤ hi.
func Rand(s *Scope, dt DType, lo, hi float64, shape ...int) *Tensor {
	if !(lo <= hi) {
		fail("Rand", ErrArgument, "give the smaller number first", "from %v to %v", lo, hi)
	}
	return draw(s, dt, shape, Numbers{What: "Rand", Kind: UniformNumbers, A: lo, B: hi - lo, High: hi})
}

// Randn returns a tensor of normally distributed numbers of the given mean and standard deviation; see Rand. It panics with ErrArgument
// unless std is 0 or above.
func Randn(s *Scope, dt DType, mean, std float64, shape ...int) *Tensor {
	if !(std >= 0) {
		fail("Randn", ErrArgument, "use a deviation of 0 or above; the usual one is 1", "standard deviation %v", std)
	}
	return draw(s, dt, shape, Numbers{What: "Randn", Kind: NormalNumbers, A: mean, B: std})
}

func draw(s *Scope, dt DType, shape []int, r Numbers) *Tensor {
	s.alive(r.What)
	if !dt.IsFloat() {
		fail(r.What, ErrDType, "use a float dtype", "%v", dt)
	}
	t := alloc(r.What, s.root.dev, dt, shape)
	if s.noInit {
		return s.born(t)
	}
	whole := false
	defer t.giveUp(&whole)
	if !s.drawn(t, r) {
		t.rewrite(r.What, func(t *Tensor) {
			s.rng.draw(t.Len(), r.onHost(dt), func(at int, values []float64) { store(t, t.off+at, values) })
		})
	}
	whole = true
	return s.born(t)
}

// Full returns a tensor that holds v everywhere; see Rand for its life. In an Int64 tensor v is truncated; it panics with ErrArgument for NaN and
// what int64 does not hold.
func Full(s *Scope, dt DType, v float64, shape ...int) *Tensor { return full(s, "Full", dt, v, shape) }

// full is Full under the name that the user called, for errors.
func full(s *Scope, op string, dt DType, v float64, shape []int) *Tensor {
	s.alive(op)
	checkHolds(op, dt, v)
	return s.born(filled(op, s.root.dev, dt, v, shape))
}

// filled returns a tensor that holds v everywhere and belongs to no scope.
func filled(op string, dev Device, dt DType, v float64, shape []int) *Tensor {
	t := alloc(op, dev, dt, shape)
	whole := false
	defer t.giveUp(&whole)
	t.fill(v)
	whole = true
	return t
}

// FromFloat64s returns a tensor on the default device of any dtype with the values rounded once to it (int64: truncated; bool: non-zero).
func FromFloat64s(dt DType, values []float64, shape ...int) *Tensor {
	if len(shape) == 0 {
		shape = []int{len(values)}
	}
	return fromFloat64s(dt, values, shape)
}

// fromFloat64s takes the shape as it is: an empty one is 0-dimensional.
func fromFloat64s(dt DType, values []float64, shape []int) *Tensor {
	if n := count("FromFloat64s", shape); n != len(values) {
		fail("FromFloat64s", ErrShape, "give a shape that holds exactly the values", "%d values for shape %v (%d elements)", len(values), shape, n)
	}
	t := alloc("FromFloat64s", defaultDevice(), dt, shape)
	whole := false
	defer t.giveUp(&whole)
	t.setFloat64s(values)
	whole = true
	return t
}
