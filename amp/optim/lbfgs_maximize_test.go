package optim_test

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestLBFGSMaximizes: to climb a hill is to descend into its mirror image, bit for bit, and Step returns the height.
func TestLBFGSMaximizes(t *testing.T) {
	for _, opts := range [][]optim.Option{{optim.StrongWolfe(), optim.MaxIter(3)}, {optim.LR(0.1), optim.MaxIter(3)}} {
		root := amp.NewScope()
		p, f := bowl(root)
		q, g := bowl(root)
		down, up := optim.NewLBFGS(p, opts...), optim.NewLBFGS(q, append(opts, optim.Maximize())...)
		hill := func(s *amp.Scope) *amp.Tensor {
			loss := amp.Neg(s, g(up)(s))
			for _, x := range q {
				x.SetGrad(amp.Neg(s, x.Grad()))
			}
			return loss
		}
		for range 3 {
			if a, b := down.Step(root, f(down)), up.Step(root, hill); a != -b {
				t.Errorf("%v, mirrored %v", a, b)
			}
		}
		for i := range p {
			if a, b := p[i].Float64s(), q[i].Float64s(); !slices.Equal(a, b) {
				t.Errorf("%v, mirrored %v", a, b)
			}
		}
		root.Close()
	}
}
