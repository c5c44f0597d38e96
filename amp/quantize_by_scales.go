package amp

import (
	"math"
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The CPU kernel of quantize_scaled for what cpu.LineShort does not do: scales in E4M3, blocks along two dimensions, stochastic rounding. It
// computes in float64, where |x|/s lies on the right side of every number halfway between two of the format times s: s has few digits.

// tensorExponent returns the least k from least, leastExponent of the dtype, to 126 with which E4M3 holds all scales of NVFP4 over 2^k for a largest
// number top; 0 for a top that says nothing.
func tensorExponent(top float64, least int) int {
	if !(top > 0) || math.IsInf(top, 0) {
		return 0
	}
	m, e := math.Frexp(top)
	most, k := math.Frexp(e4m3Largest)
	if k = e - k; m > most {
		k++
	}
	return min(max(k, least), 126)
}

// leastExponent is that of tensorExponent: with it the smallest number of E2M1 times the smallest of E4M3, 2^-10, is a number of the dtype.
func leastExponent(dt DType) int {
	if f, ok := FormatOf(dt); ok {
		return max(-126, 11-f.info().bias-f.info().mantissa)
	}
	return -126
}

// e4m3Scale returns the scale of a block of NVFP4 in a tensor whose scales are E4M3's times 2^k; 1 for an amax that is infinite or NaN. most is the
// largest number of the dtype.
func e4m3Scale(amax float64, k int, most float64) float64 {
	if !(amax <= math.MaxFloat64) {
		return 1
	}
	s := FormatE4M3.Round(min(math.Ldexp(amax, -k)/6, FormatE4M3.Max()))
	if math.Ldexp(6*s, k) > most {
		s -= FormatE4M3.spacing(s) // no power of two
	}
	return math.Ldexp(s, k)
}

// A scaling is how one call rounds.
type scaling struct {
	normal, ulp, top float64 // of the format: its smallest number with all digits, the spacing at 1, its largest
	most             float64 // of the dtype
	random           *mask   // numbers of stochastic rounding, nil to nearest
}

func quantizeByScales(c *Call) {
	x, amax, out, f := c.In[0], c.In[1], c.Out, Format(c.Start)
	if x.Len() == 0 {
		return
	}
	r := &scaling{normal: f.MinNormal(), ulp: f.Epsilon(), top: f.Max(), most: x.dt.Max()}
	if c.Reverse {
		r.random = &mask{Draw: c.Draw}
	}
	lent := rowPool.Get().(*[]float64)
	defer rowPool.Put(lent)
	scales := sized(lent, amax.Len())
	r.scales(scales, c)
	dims, size := c.ScaledBlocks()
	if last := len(x.shape) - 1; len(dims) > 0 && dims[len(dims)-1] == last {
		high := 1
		if len(dims) > 1 {
			high = size
		}
		r.blocks(out, x, scales, high, size)
		return
	}
	for i, d := range dims {
		x, out, amax = x.split(d+i, size), out.split(d+i, size), amax.split(d+i, 1)
	}
	w := newRowWalk(out, x, amax)
	r.walk(w, out, x, func(dst, src []float64, off [4]int, numbers []uint32) {
		r.round(dst, src, scales[off[2]-amax.off:], w.step[2], numbers)
	})
}

// scales sets dst to the scales for each of amax, which is a result of vector_norm and without gaps.
func (r *scaling) scales(dst []float64, c *Call) {
	amax := c.In[1]
	load(dst, amax, amax.off, 1)
	if len(c.In) > 2 {
		var top [1]float64
		load(top[:], c.In[2], c.In[2].off, 1)
		k := tensorExponent(top[0], int(c.Pair[0]))
		replaceEach(dst, func(amax float64) float64 { return e4m3Scale(amax, k, r.most) })
		return
	}
	replaceEach(dst, func(amax float64) float64 { return math.Ldexp(1, -Format(c.Start).scaleExponent(amax, int(c.Scalar))) })
}

// replaceEach replaces each number by what f makes of it.
func replaceEach(v []float64, f func(float64) float64) {
	cpu.Parallel(len(v), grainOf(16), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			v[i] = f(v[i])
		}
	})
}

// blocks rounds where blocks go along the last dimension, of a size, and have high lines.
func (r *scaling) blocks(out, x *Tensor, scales []float64, high, size int) {
	width := x.shape[len(x.shape)-1]
	w := newRowWalk(out, x)
	r.walk(w, out, x, func(dst, src []float64, off [4]int, numbers []uint32) {
		for lo := 0; lo < len(src); {
			row, column := (off[0]-out.off+lo)/width, (off[0]-out.off+lo)%width
			hi := min(len(src), lo+size-column%size)
			some := numbers
			if some != nil {
				some = some[lo:hi]
			}
			r.round(dst[lo:hi], src[lo:hi], scales[row/high*(width/size)+column/size:], 0, some)
			lo = hi
		}
	})
}

// numberRooms lends memory for the random numbers of a piece.
var numberRooms = sync.Pool{New: func() any { return new([chunk + 4]uint32) }}

// walk calls f for pieces of x in float64, with where they lie and the random numbers of their elements, and writes what it leaves in dst.
func (r *scaling) walk(w *rowWalk, out, x *Tensor, f func(dst, src []float64, off [4]int, numbers []uint32)) {
	pool := scratches[float64]()
	w.run(func(off [4]int, n int) {
		s := pool.Get().(*scratch[float64])
		var numbers []uint32
		if r.random != nil {
			room := numberRooms.Get().(*[chunk + 4]uint32)
			defer numberRooms.Put(room)
			numbers = r.random.numbers(room, off[0]-out.off, n)
		}
		dst := s.buf[1][:n]
		f(dst, fetch(&s.buf[0], x, off[1], w.step[1], n), off, numbers)
		store(out, off[0], dst)
		pool.Put(s)
	})
}

// exponentBits are those of a float64.
const exponentBits = 0x7ff << 52

// round sets dst to src rounded to the format's numbers times the scale of each, step apart: to nearest even, or with the random numbers. What is
// infinite or NaN stays what it is.
func (r *scaling) round(dst, src, scales []float64, step int, numbers []uint32) {
	if r.top == e2m1[7] && numbers == nil {
		r.nearest4(dst, src, scales, step)
		return
	}
	for i, v := range src {
		if math.Float64bits(v)&exponentBits == exponentBits {
			dst[i] = v
			continue
		}
		scale, q := scales[i*step], 0.0
		if scale > 0 {
			q = math.Abs(v) / scale
		}
		if q > r.top {
			q = r.top
		}
		unit := r.normal
		if q > unit {
			unit = math.Float64frombits(math.Float64bits(q) & exponentBits)
		}
		unit = float64(unit * r.ulp)
		large := float64(unit * (3 << 51)) // so large that a sum with it leaves whole units, rounded to nearest even
		n := q + large - large
		if numbers != nil {
			if n > q {
				n -= unit
			}
			if q-n > float64(numbers[i])*0x1p-32*unit {
				n += unit
			}
		}
		y := n * scale
		if y > r.most { // rounded up to a power of two: the number below it
			y = (n - float64(n*r.ulp/2)) * scale
		}
		dst[i] = math.Copysign(y, v)
	}
}

// e2m1 are the sizes that E2M1 has.
var e2m1 = [8]float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}

// nearest4 is round to E2M1 and nearest: it counts the numbers halfway between two of the format that |x|/s is beyond, or that it is and that go
// up to an even one, which takes no branch.
func (r *scaling) nearest4(dst, src, scales []float64, step int) {
	for i, v := range src {
		if math.Float64bits(v)&exponentBits == exponentBits {
			dst[i] = v
			continue
		}
		scale, q := scales[i*step], 0.0
		if scale > 0 {
			q = math.Abs(v) / scale
		}
		n := e2m1[(beyond(q > 0.25)+beyond(q >= 0.75)+beyond(q > 1.25)+beyond(q >= 1.75)+beyond(q > 2.5)+beyond(q >= 3.5)+beyond(q > 5))&7]
		y := n * scale
		if y > r.most { // rounded up to a power of two: the number below it
			y = (n - float64(n*r.ulp/2)) * scale
		}
		dst[i] = math.Copysign(y, v)
	}
}

func beyond(is bool) int {
	if is {
		return 1
	}
	return 0
}
