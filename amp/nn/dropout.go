package nn

import (
	"github.com/halftone-ml/halftone/amp"
)

// Dropout sets elements to 0 with probability P while training and passes its input on in an Eval scope. Kinds differ in what is
// dropped together.
type Dropout struct {
	P    float64 // probability of dropping, from 0 to 1
	drop func(s *amp.Scope, x *amp.Tensor, p float64) *amp.Tensor
}

// NewDropout returns a layer that drops single elements and divides the others by 1-p. It panics with amp.ErrArgument unless
// 0 ≤ p ≤ 1.
func NewDropout(p float64) *Dropout { return newDropout("NewDropout", p, amp.Dropout) }

// NewDropout1d returns a layer that drops whole channels of [n channels l]; see NewDropout.
func NewDropout1d(p float64) *Dropout { return newDropout("NewDropout1d", p, amp.Dropout1d) }

// NewDropout2d returns a layer that drops whole channels of [n channels h w]; see NewDropout.
func NewDropout2d(p float64) *Dropout { return newDropout("NewDropout2d", p, amp.Dropout2d) }

// NewDropout3d returns a layer that drops whole channels of [n channels d h w]; see NewDropout.
func NewDropout3d(p float64) *Dropout { return newDropout("NewDropout3d", p, amp.Dropout3d) }

// NewAlphaDropout returns a layer for networks of SELU; see amp.AlphaDropout.
func NewAlphaDropout(p float64) *Dropout { return newDropout("NewAlphaDropout", p, amp.AlphaDropout) }

func newDropout(op string, p float64, drop func(s *amp.Scope, x *amp.Tensor, p float64) *amp.Tensor) *Dropout {
	if !(p >= 0 && p <= 1) {
		misused(op, "use a probability from 0 to 1", "p is %v", p)
	}
	return &Dropout{P: p, drop: drop}
}

// Forward returns x with elements dropped, x itself in an Eval scope or for P = 0.
func (d *Dropout) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	if d.drop == nil { // a literal nn.Dropout{P: 0.5}
		return amp.Dropout(s, x, d.P)
	}
	return d.drop(s, x, d.P)
}

// Parameters returns nil.
func (d *Dropout) Parameters() []*amp.Tensor { return nil }
