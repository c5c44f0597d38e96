package nn

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
)

// MaxNorm makes Forward bring every row that it looks up to a norm of at most max, in the table itself and without a gradient: a longer row is
// multiplied by max/(norm + 1e-7). The other rows stay. (PyTorch: max_norm.) As there the table then counts as changed: what was kept of it
// for a Backward before that Forward is refused as stale, so use the table itself after it. The new table is made beside the old one, which
// costs a pass over all rows.
func MaxNorm(max float64) EmbeddingOption {
	return func(e *Embedding) {
		if e.maxNorm = max; max == 0 {
			e.maxNorm = math.NaN() // to be refused: 0 stands for none
		}
	}
}

// MaxNormType sets the norm of MaxNorm: (Σ |x|ᵖ)^(1/p) for p above 0, the largest |x| for math.Inf(1); the default is 2. (PyTorch: norm_type.)
func MaxNormType(p float64) EmbeddingOption { return func(e *Embedding) { e.norm = p } }

// checkNorm refuses norms that no row can have.
func (e *Embedding) checkNorm(op string) {
	if m := e.maxNorm; m != 0 && !(m > 0 && !math.IsInf(m, 1)) || !(e.norm > 0) {
		misused(op, "use a finite largest norm above 0, and a norm type above 0", "largest norm %v of type %v", e.maxNorm, e.norm)
	}
}

// shorten brings the rows of index to their largest norm. A row that comes twice is written twice with the same numbers.
func (e *Embedding) shorten(s *amp.Scope, index *amp.Tensor) {
	if e.maxNorm == 0 || index.Len() == 0 {
		return
	}
	s = s.In("max_norm").NoGrad().Autocast(amp.Float32)
	at := amp.Reshape(s, index, -1)
	rows := amp.IndexSelect(s, e.Weight, 0, at)
	wide := rows
	if rows.DType().IsHalf() {
		wide = amp.To(s, rows, amp.Float32)
	}
	norms := amp.Unsqueeze(s, amp.NormP(s, wide, e.norm, -1), -1)
	by := amp.Div(s, amp.FullLike(s, norms, e.maxNorm), amp.AddScalar(s, norms, 1e-7))
	long := amp.Gt(s, norms, amp.FullLike(s, norms, e.maxNorm))
	short := amp.Mul(s, wide, amp.Where(s, long, by, amp.OnesLike(s, norms)))
	if short.DType() != e.Weight.DType() {
		short = amp.To(s, short, e.Weight.DType())
	}
	amp.CopyInPlace(s, e.Weight, amp.IndexCopy(s, e.Weight, 0, at, short))
}
