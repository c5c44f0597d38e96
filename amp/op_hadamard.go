package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

var opHadamard *Op

func init() {
	opHadamard = define(Op{
		Name: "hadamard", Doc: "random Hadamard transform of 16 neighbors: H·(signs ⊙ x)/4, orthogonal", Args: []string{"x"},
		Why: "spreads what lies far out over 16 numbers before they are rounded", CUDA: "hadamard", CPU: hadamardCPU,
		Check: func(c *Call) []int {
			c.floats()
			x, d := c.In[0].shape, c.Dims[0]
			if x[d]%hadamardBlock != 0 {
				fail(c.Op.Name, ErrShape, "pad it with amp.Pad", "dimension %d of shape %v has %d elements, which are no blocks of %d", d, x, x[d], hadamardBlock)
			}
			return x
		},
		Backward: func(b *Back) {
			at := b.Attrs()
			at.Reverse = !at.Reverse
			b.Set(0, b.S.apply(opHadamard, at, b.DY))
		},
	})
}

// hadamardBlock is how many neighbors are transformed together.
const hadamardBlock = 16

// HadamardSigns has bit i set where number i of a block changes its sign before the transform: one fixed draw, Transformer Engine's
// (get_wgrad_sign_vector).
const HadamardSigns uint16 = 0xd7e8

// Hadamard returns the random Hadamard transform of each 16 neighbors of x along dim, in x's shape and dtype: y[j] = Σ H[j][i]·sign[i]·x[i] / 4, with
// H[j][i] = (-1)^(number of bits that i and j share) and fixed random signs (HadamardSigns). It is orthogonal: lengths stay, and so does a product of two
// matrices that sums over a transformed dimension of both. A single large number spreads over its 16, so that rounding with a common scale
// loses less. Halves are added up in float32 and rounded once. An infinity or NaN makes others of its block infinite or NaN, and in float16 a sum
// above 65504, of numbers above 16376, is infinite. It panics with ErrShape where dim is no multiple of 16.
func Hadamard(s *Scope, x *Tensor, dim int) *Tensor { return s.hadamard(x, dim, false) }

// HadamardInverse undoes Hadamard, but for rounding: x[i] = sign[i]·Σ H[i][j]·y[j] / 4.
func HadamardInverse(s *Scope, y *Tensor, dim int) *Tensor { return s.hadamard(y, dim, true) }

func (s *Scope) hadamard(x *Tensor, dim int, inverse bool) *Tensor {
	opHadamard.need(x)
	x.live(opHadamard.Name)
	return s.apply(opHadamard, Attrs{Dims: []int{x.axis(opHadamard.Name, dim)}, Reverse: inverse}, x)
}

func hadamardCPU(c *Call) {
	if c.Out.dt == Float64 {
		hadamardOn[float64](c)
		return
	}
	hadamardOn[float32](c)
}

// hadamardRun is how many blocks are transformed side by side.
const hadamardRun = chunk / hadamardBlock

// hadamardOn walks over the first numbers of blocks; the others lie at one distance from each other.
func hadamardOn[T cpu.Float](c *Call) {
	d := c.Dims[0]
	x, out := c.In[0].split(d, hadamardBlock), c.Out.split(d, hadamardBlock)
	from, to := x.strides[d+1], out.strides[d+1]
	w := newRowWalk(out.first(d+1), x.first(d+1))
	pool := scratches[T]()
	w.runBy(hadamardRun, func(off [4]int, n int) {
		s := pool.Get().(*scratch[T])
		defer pool.Put(s)
		v := s.buf[0][:hadamardBlock*n]
		for i := range hadamardBlock {
			load(v[i*n:][:n], x, off[1]+i*from, w.step[1])
		}
		if !c.Reverse {
			hadamardSigned(v, n)
		}
		hadamardSums(v, n)
		if c.Reverse {
			hadamardSigned(v, n)
		}
		for i := range hadamardBlock {
			storeLine(out, off[0]+i*to, w.step[0], v[i*n:][:n])
		}
	})
}

// first returns the part of t that has index 0 in dimension d, for a kernel to walk over.
func (t *Tensor) first(d int) *Tensor {
	v := &Tensor{dt: t.dt, off: t.off, st: t.st, view: true}
	for i := range t.shape {
		if i != d {
			v.shape, v.strides = append(v.shape, t.shape[i]), append(v.strides, t.strides[i])
		}
	}
	return v
}

// hadamardSigned changes the signs of the lines of n that HadamardSigns names.
func hadamardSigned[T cpu.Float](v []T, n int) {
	for i := range hadamardBlock {
		if HadamardSigns>>i&1 == 0 {
			continue
		}
		line := v[i*n:][:n]
		for k, x := range line {
			line[k] = -x
		}
	}
}

// hadamardSums multiplies 16 lines of n by H/4: in four rounds each number becomes the sum or difference of two, in the same order on every device.
func hadamardSums[T cpu.Float](v []T, n int) {
	for half := 1; half < hadamardBlock; half *= 2 {
		for i := range hadamardBlock {
			if i&half != 0 {
				continue
			}
			a, b := v[i*n:][:n], v[(i+half)*n:][:n]
			for k, x := range a {
				y := b[k]
				a[k], b[k] = x+y, x-y
			}
		}
	}
	for k := range v {
		v[k] /= 4
	}
}
