package amp

import (
	"math"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// A Stream is a counter-based random stream (Philox4x32-10, Salmon et al., SC 2011): number i depends on seed and i alone, so
// its whole state is two integers and the same seed gives the same numbers on every machine. Safe across goroutines.
type Stream struct {
	seed    uint64
	counter atomic.Uint64
	copyOf  *Stream // of a checkpointed part that runs again: the stream that it drew from first
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

// Load moves the stream to a saved position.
func (r *Stream) Load(st StreamState) { r.seed = st.Seed; r.counter.Store(st.Counter) }

// take reserves n blocks and returns the first.
func (r *Stream) take(n int) uint64 { return r.counter.Add(uint64(n)) - uint64(n) }

// philox returns the four 32-bit numbers of one block.
func philox(seed, counter uint64) [4]uint32 {
	const m0, m1, w0, w1 = 0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85
	c0, c1, c2, c3 := uint32(counter), uint32(counter>>32), uint32(0), uint32(0)
	k0, k1 := uint32(seed), uint32(seed>>32)
	for range 10 {
		p0, p1 := uint64(m0)*uint64(c0), uint64(m1)*uint64(c2)
		c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
		k0 += w0
		k1 += w1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// uniform53 makes a number in [0,1) of 53 bits from two of 32.
func uniform53(hi, lo uint32) float64 {
	return float64(uint64(hi)<<32|uint64(lo)) * 0x1p-64
}

// fill draws len(dst) numbers, two a block, each made from 64 random bits by f, which several workers call. It returns the first
// block.
func (r *Stream) fill(dst []float64, f func(u, v float64) (float64, float64)) (first uint64) {
	first = r.take((len(dst) + 1) / 2)
	cpu.Parallel((len(dst)+1)/2, grain/4, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			b := philox(r.seed, first+uint64(i))
			x, y := f(uniform53(b[0], b[1]), uniform53(b[2], b[3]))
			dst[2*i] = x
			if 2*i+1 < len(dst) {
				dst[2*i+1] = y
			}
		}
	})
	return first
}

// fillNormal draws normally distributed numbers, two of a block by the method of Box and Muller: r·cos and r·sin of an angle.
func (r *Stream) fillNormal(dst []float64, mean, std float64) {
	first := r.fill(dst, func(u, v float64) (float64, float64) { return -u, float64(2 * math.Pi * v) })
	if k := len(dst) / 2; len(dst)%2 == 1 { // alone, without its angle
		b := philox(r.seed, first+uint64(k))
		angle := float64(2 * math.Pi * uniform53(b[2], b[3]))
		dst[2*k] = mean + float64(std*float64(math.Sqrt(-2*cpu.Log1p.Of(dst[2*k]))*cpu.Cos.Of(angle)))
	}
	cpu.Parallel(len(dst)/2, chunk, func(lo, hi int) {
		pool := scratches[float64]()
		s := pool.Get().(*scratch[float64])
		n := hi - lo
		radius, sin, cos := s.buf[0][:n], s.buf[1][:n], s.buf[2][:n]
		for i := range n {
			radius[i], sin[i] = dst[2*(lo+i)], dst[2*(lo+i)+1]
		}
		cpu.Log1p.F64(radius, radius)
		cpu.Cos.F64(cos, sin)
		cpu.Sin.F64(sin, sin)
		for i := range n {
			x := math.Sqrt(-2 * radius[i])
			dst[2*(lo+i)] = mean + float64(std*float64(x*cos[i]))
			dst[2*(lo+i)+1] = mean + float64(std*float64(x*sin[i]))
		}
		pool.Put(s)
	})
}

// Rand returns a tensor of numbers uniform in [lo,hi), drawn from the scope's stream. In the scope of a step or a Child it is freed with
// it; made in a root scope it belongs to none, so that it may be a parameter or data: Free it, or let the process end.
func Rand(s *Scope, dt DType, lo, hi float64, shape ...int) *Tensor {
	return draw(s, "Rand", dt, shape, func(r *Stream, data []float64) {
		r.fill(data, func(u, v float64) (float64, float64) { return lo + float64((hi-lo)*u), lo + float64((hi-lo)*v) })
	})
}

// Randn returns a tensor of normally distributed numbers of the given mean and standard deviation; see Rand.
func Randn(s *Scope, dt DType, mean, std float64, shape ...int) *Tensor {
	return draw(s, "Randn", dt, shape, func(r *Stream, data []float64) { r.fillNormal(data, mean, std) })
}

func draw(s *Scope, op string, dt DType, shape []int, fill func(r *Stream, data []float64)) *Tensor {
	s.alive(op)
	if !dt.IsFloat() {
		fail(op, ErrDType, "use a float dtype", "%v", dt)
	}
	t := alloc(op, s.root.dev, dt, shape)
	if s.noInit {
		return s.born(t)
	}
	data := make([]float64, t.Len())
	fill(s.rng, data)
	t.setFloat64s(data)
	return s.born(t)
}

// Full returns a tensor that holds v everywhere; see Rand for its life.
func Full(s *Scope, dt DType, v float64, shape ...int) *Tensor {
	s.alive("Full")
	t := alloc("Full", s.root.dev, dt, shape)
	t.fill(v)
	return s.born(t)
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
	t.setFloat64s(values)
	return t
}
