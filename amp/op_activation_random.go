package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// rrelu: leaky_relu with a slope drawn for each element. As with dropout the draws are never stored: element i takes number i%4 of
// Philox block Draw.Block + i/4.

var opRReLU, opRReLUBackward *Op

func init() {
	opRReLU = define(Op{
		Name: "rrelu", Doc: "x above 0, below a·x with a drawn between two numbers", Args: []string{"x"}, Why: "straight pieces, in the range of its input", CUDA: "rrelu", Saves: SaveIn0,
		Check:    checkUnary,
		CPU:      func(c *Call) { rreluCPU(c, c.In[0], c.In[0]) },
		Backward: func(b *Back) { b.Set(0, b.S.apply(opRReLUBackward, b.Attrs(), b.DY, b.In(0))) },
	})
	opRReLUBackward = define(Op{
		Name: "rrelu_backward", Doc: "dy where x > 0, else a·dy with the same draws", Args: []string{"dy", "x"}, Why: whyBackward, CUDA: "rrelu_backward", Saves: SaveIn1,
		Check:    checkSlope,
		CPU:      func(c *Call) { rreluCPU(c, c.In[0], c.In[1]) },
		Backward: func(b *Back) { b.Set(0, b.S.apply(opRReLUBackward, b.Attrs(), b.DY, b.In(1))) }, // linear in dy, flat in x
	})
}

// rreluCPU multiplies v by the drawn slopes where x is not above 0.
func rreluCPU(c *Call, v, x *Tensor) {
	lo, width := c.Pair[0], c.Pair[1]-c.Pair[0]
	out := c.Out
	w := newRowWalk(out, v, x)
	pool := scratches[float64]()
	w.run(func(off [4]int, n int) {
		s := pool.Get().(*scratch[float64])
		value := fetch(&s.buf[0], v, off[1], w.step[1], n)
		at := fetch(&s.buf[1], x, off[2], w.step[2], n)
		dst := s.buf[2][:n]
		var block [4]uint32
		have := -1
		for i, y := range value {
			if !(at[i] > 0) {
				k := off[0] - out.off + i
				if k/4 != have {
					block, have = cpu.PhiloxBlock(c.Draw.Seed, c.Draw.Block+uint64(k/4)), k/4
				}
				y *= lo + float64(width*(float64(block[k%4])/(1<<32)))
			}
			dst[i] = y
		}
		store(out, off[0], dst)
		pool.Put(s)
	})
}

// RReLU returns x above 0 and a·x below, a drawn for each element between lower and upper from the scope's random stream; in an Eval
// scope LeakyReLU with their mean. PyTorch's are 1/8 and 1/3. It panics with ErrArgument unless lower ≤ upper
// and both are finite.
func RReLU(s *Scope, x *Tensor, lower, upper float64) *Tensor {
	s.alive("rrelu")
	x.live("rrelu")
	if math.IsInf(lower, 0) || math.IsInf(upper, 0) {
		fail("rrelu", ErrArgument, "use finite bounds; the usual ones are 1/8 and 1/3", "bounds %v and %v", lower, upper)
	}
	if !(lower <= upper) {
		fail("rrelu", ErrArgument, "give the smaller bound first", "bounds %v and %v", lower, upper)
	}
	if s.eval {
		return LeakyReLU(s, x, (lower+upper)/2)
	}
	return s.apply(opRReLU, Attrs{Pair: [2]float64{lower, upper}, Draw: s.draw((x.Len() + 3) / 4)}, x)
}
