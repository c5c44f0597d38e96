package nn

import "github.com/halftone-ml/halftone/amp"

// bags say which rows are whose: those of one size lie in a dimension of their own, [bags size features]; of different sizes one after another,
// [n features].
type bags struct {
	n       int         // how many there are
	of      *amp.Tensor // of different sizes: the bag of each row, int64 [n]
	offsets *amp.Tensor // where each begins, and with last where the last one ends
	last    bool
}

func newBags(s *amp.Scope, index, offsets *amp.Tensor, last bool) bags {
	if offsets == nil {
		return bags{n: index.Dim(0)}
	}
	b := bags{n: offsets.Len(), offsets: offsets, last: last}
	if last {
		b.n--
	}
	b.of = amp.BagIndex(s, offsets, index.Len(), last)
	return b
}

// sum adds up the rows of each bag: [bags features].
func (b bags) sum(s *amp.Scope, rows *amp.Tensor) *amp.Tensor {
	if b.of == nil {
		return amp.Sum(s, rows, 1)
	}
	zeros := s.Own(amp.Zeros(s, rows.DType(), b.offsets.Len(), rows.Dim(-1)))
	return b.known(s, amp.IndexAdd(s, zeros, 0, b.of, rows, 1))
}

// known leaves out what lies behind the last offset.
func (b bags) known(s *amp.Scope, y *amp.Tensor) *amp.Tensor {
	if !b.last {
		return y
	}
	return amp.Narrow(s, y, 0, 0, b.n)
}

// sizes count the rows of each bag but pads, [… 1], if there are some, in the dtype of the rows: [bags 1].
func (b bags) sizes(s *amp.Scope, rows, pads *amp.Tensor) *amp.Tensor {
	s = s.NoGrad()
	ones := s.Own(amp.Ones(s, rows.DType(), append(rows.Shape()[:rows.Rank()-1:rows.Rank()-1], 1)...))
	if pads != nil {
		ones = amp.MaskedFill(s, ones, pads, 0)
	}
	return b.sum(s, ones)
}

// max picks of each feature the first of the largest in each bag, something where there are none: [bags features].
func (b bags) max(s *amp.Scope, rows *amp.Tensor) *amp.Tensor {
	switch {
	case rows.Len() == 0:
		return b.sum(s, rows)
	case b.of == nil:
		y, _ := amp.Max(s, rows, 1)
		return y
	}
	// Rows in falling order of each feature, then by their bags: the first in a bag is its largest. Both sorts leave equals as they are.
	quiet := s.NoGrad()
	order := amp.Argsort(quiet, rows, 0, true)
	of := amp.Gather(quiet, amp.Expand(quiet, amp.Unsqueeze(quiet, b.of, 1), rows.Shape()...), 0, order)
	order = amp.Gather(quiet, order, 0, amp.Argsort(quiet, of, 0, false))
	begins := amp.ClampMax(quiet, b.known(quiet, b.offsets), float64(rows.Dim(0)-1))
	return amp.Gather(s, rows, 0, amp.IndexSelect(quiet, order, 0, begins))
}
