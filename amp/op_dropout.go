package amp

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The dropout family. A mask is never stored: it is a function of Attrs.Draw and of an element's index, so that backward is the
// same row applied to dy, and a result depends on the seed alone. Element (or channel) i takes number i%4 of Philox block
// Draw.Block + i/4 and is kept where that number is at least p·2³².

var opDropout, opFeatureDropout, opAlphaDropout, opAlphaDropoutBackward *Op

const whyDropout = "only drops and rescales: safe in half precision"

// SELU's fixed point, which alpha dropout keeps: minus λ·α of Klambauer et al., 2017.
const alphaPrime = 1.7580993408473766

func init() {
	opDropout = dropoutRow("dropout", "x/(1-p) or, with probability p, 0", func(c *Call) int { return 1 }, func(p float64) (float64, float64, float64) { return 1 / (1 - p), 0, 0 })
	opFeatureDropout = dropoutRow("feature_dropout", "dropout of whole channels: one number for each of the leading dimensions", func(c *Call) int {
		return length(c.Out.shape[c.Dims[0]:])
	}, func(p float64) (float64, float64, float64) { return 1 / (1 - p), 0, 0 })
	opAlphaDropout = dropoutRow("alpha_dropout", "dropout to SELU's lower limit, rescaled so that mean and variance stay", func(c *Call) int { return 1 }, alphaScales)
	opAlphaDropoutBackward = dropoutRow("alpha_dropout_backward", "dy times alpha_dropout's scale where x was kept, else 0", func(c *Call) int { return 1 },
		func(p float64) (float64, float64, float64) { a, _, _ := alphaScales(p); return a, 0, 0 })
	opAlphaDropout.Backward = func(b *Back) { b.Set(0, b.S.apply(opAlphaDropoutBackward, b.Attrs(), b.DY)) }
}

// alphaScales returns the factor and the two offsets of alpha dropout.
func alphaScales(p float64) (scale, kept, dropped float64) {
	a := 1 / math.Sqrt((float64(alphaPrime*alphaPrime*p)+1)*(1-p))
	return a, alphaPrime * a * p, alphaPrime * a * (p - 1)
}

// dropoutRow defines a row whose elements become x·scale + kept, or x·0 + dropped. Without offsets it is its own gradient.
func dropoutRow(name, doc string, group func(c *Call) int, scales func(p float64) (scale, kept, dropped float64)) *Op {
	var o *Op
	o = define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: whyDropout, CUDA: name, Check: checkUnary,
		CPU: func(c *Call) {
			m := mask{Draw: c.Draw, group: group(c), bound: uint64(math.Ceil(c.Scalar * (1 << 32)))}
			m.scale, m.kept, m.dropped = scales(c.Scalar)
			if c.Scalar == 1 { // nothing is kept, and 0 whatever x is
				clear(c.Out.st.mem)
				return
			}
			if c.Out.dt == Float64 {
				dropOn[float64](c, m)
				return
			}
			dropOn[float32](c, m)
		},
		Backward: func(b *Back) { b.Set(0, b.S.apply(o, b.Attrs(), b.DY)) },
	})
	return o
}

// A mask says which groups of elements are kept and what becomes of them.
type mask struct {
	Draw
	group                int    // elements that share a number
	bound                uint64 // numbers below it drop
	scale, kept, dropped float64
}

// dropMask is plain dropout's mask.
func dropMask(d Draw, p float64) *mask {
	m := &mask{Draw: d, group: 1, bound: uint64(math.Ceil(p * (1 << 32)))}
	if p < 1 {
		m.scale = 1 / (1 - p)
	}
	return m
}

// draw sets kept[i] to 1 where the number of element first+i is large enough, else to 0.
func (m *mask) draw(kept []uint8, first int) {
	if m.group == 1 {
		m.drawGroups(kept, first)
		return
	}
	var one [1]uint8
	for i := 0; i < len(kept); { // the elements of one group at a time
		g := (first + i) / m.group
		end := min(len(kept), (g+1)*m.group-first)
		m.drawGroups(one[:], g)
		for ; i < end; i++ {
			kept[i] = one[0]
		}
	}
}

// drawGroups is draw for the groups first, first+1, …
func (m *mask) drawGroups(kept []uint8, first int) {
	var buf [chunk + 4]uint32
	for len(kept) > 0 {
		n := min(len(kept), chunk)
		for i, number := range m.numbers(&buf, first, n) {
			kept[i] = 0
			if uint64(number) >= m.bound {
				kept[i] = 1
			}
		}
		kept, first = kept[n:], first+n
	}
}

// numbers returns those of n groups from the first on.
func (m *mask) numbers(buf *[chunk + 4]uint32, first, n int) []uint32 {
	skip := first % 4
	cpu.Philox(buf[:skip+n], m.Seed, m.Block+uint64(first/4))
	return buf[skip : skip+n]
}

func dropOn[T float32 | float64](c *Call, m mask) {
	x, out := c.In[0], c.Out
	w := newRowWalk(out, x)
	pool := scratches[T]()
	// A product as in PyTorch: what is dropped of an infinity is NaN, so that the scaler sees it.
	factor, shift := [2]T{0, T(m.scale)}, [2]T{T(m.dropped), T(m.kept)}
	w.run(func(off [4]int, n int) {
		s := pool.Get().(*scratch[T])
		defer pool.Put(s)
		src := fetch(&s.buf[0], x, off[1], w.step[1], n)
		dst, inPlace := direct[T](out, off[0], 1, n)
		if !inPlace {
			dst = s.buf[1][:n]
		}
		first := off[0] - out.off
		if narrow, ok := any(src).([]float32); ok && m.group == 1 && m.bound > 0 {
			d := cpu.Dropping{Bound: m.bound, Factor: [2]float32{float32(factor[0]), float32(factor[1])}, Summand: [2]float32{float32(shift[0]), float32(shift[1])}}
			var buf [chunk + 4]uint32
			cpu.Drop(any(dst).([]float32), narrow, m.numbers(&buf, first, n), &d)
		} else {
			var keep [chunk]uint8
			m.draw(keep[:n], first)
			for i, v := range src {
				k := keep[i] & 1
				dst[i] = T(v*factor[k]) + shift[k]
			}
		}
		if !inPlace {
			store(out, off[0], dst)
		}
	})
}

// drops runs a row of the family: x itself in evaluation or for p = 0.
func (s *Scope) drops(o *Op, x *Tensor, p float64, lead int) *Tensor {
	s.alive(o.Name)
	x.live(o.Name)
	if !(p >= 0 && p <= 1) {
		fail(o.Name, ErrArgument, "use a probability from 0 to 1", "p is %v", p)
	}
	if s.eval || p == 0 {
		return x
	}
	groups := x.Len()
	if lead > 0 {
		groups = length(x.shape[:lead])
	}
	return s.apply(o, Attrs{Scalar: p, Dims: []int{lead}, Draw: s.draw((groups + 3) / 4)}, x)
}

// Dropout returns x with each element set to 0 with probability p and divided by 1-p otherwise, in x's dtype; x itself in an Eval
// scope or for p = 0. The mask depends on the scope's random stream alone, not on the number of threads or the dtype. It panics with
// ErrArgument unless 0 ≤ p ≤ 1.
func Dropout(s *Scope, x *Tensor, p float64) *Tensor { return s.drops(opDropout, x, p, 0) }

// AlphaDropout is Dropout for networks of SELU: dropped elements become SELU's lower limit -1.758…, and the result is scaled and
// shifted so that an input of mean 0 and variance 1 keeps them. It panics with ErrArgument unless 0 ≤ p ≤ 1.
func AlphaDropout(s *Scope, x *Tensor, p float64) *Tensor {
	return s.drops(opAlphaDropout, x, p, 0)
}

// Dropout1d drops whole channels of x [n channels l] or [channels l]: each is set to 0 with probability p and divided by 1-p
// otherwise; x itself in an Eval scope or for p = 0. It panics with ErrShape for another rank and with ErrArgument unless 0 ≤ p ≤ 1.
func Dropout1d(s *Scope, x *Tensor, p float64) *Tensor { return s.dropChannels(x, p, 1) }

// Dropout2d drops whole channels of x [n channels h w] or [channels h w]; see Dropout1d. (PyTorch takes three dimensions for
// [n channels l] here and says that it will change that; use Dropout1d for such an input.)
func Dropout2d(s *Scope, x *Tensor, p float64) *Tensor { return s.dropChannels(x, p, 2) }

// Dropout3d drops whole channels of x [n channels d h w] or [channels d h w]; see Dropout1d.
func Dropout3d(s *Scope, x *Tensor, p float64) *Tensor { return s.dropChannels(x, p, 3) }

func (s *Scope) dropChannels(x *Tensor, p float64, spatial int) *Tensor {
	x.live("feature_dropout")
	lead := len(x.shape) - spatial
	if lead != 1 && lead != 2 {
		fail("feature_dropout", ErrShape, fmt.Sprintf("use [channels, %d sizes] with or without a batch before it", spatial), "x has the shape %v", x.shape)
	}
	return s.drops(opFeatureDropout, x, p, lead)
}
