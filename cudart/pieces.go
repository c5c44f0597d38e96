package cudart

import (
	"iter"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// Kernels that find their place from its number in 32 bits are given tensors of more elements in pieces, one launch after another.

// What is beyond is launched in pieces; tests make them smaller.
var (
	mostPlaces   = 1<<31 - 1 // elements, lines or indices of kernels/index.cu
	mostElements = 1<<32 - 1 // of elementwise kernels with several dimensions
)

// A piece is a range of a tensor's elements, in row-major order, that is a tensor itself.
type piece struct {
	first       int // its first element's number
	start, size [maxRank]int
}

// pieces divides what v counts into pieces of at most most elements.
func (v *view) pieces(most int) iter.Seq[piece] {
	d, inner := v.rank-1, 1 // the dimension that is cut, and the elements of one step along it
	for d >= 0 && inner*v.shape[d] <= most {
		inner *= v.shape[d]
		d--
	}
	return func(yield func(piece) bool) {
		p := piece{size: v.shape}
		if d < 0 {
			yield(p)
			return
		}
		for k := range d {
			p.size[k] = 1
		}
		rows := max(1, most/inner)
		for {
			for p.start[d] = 0; p.start[d] < v.shape[d]; p.start[d] += rows {
				p.size[d] = min(rows, v.shape[d]-p.start[d])
				if !yield(p) {
					return
				}
				p.first += p.size[d] * inner
			}
			k := d - 1
			for ; k >= 0; k-- {
				if p.start[k]++; p.start[k] < v.shape[k] {
					break
				}
				p.start[k] = 0
			}
			if k < 0 {
				return
			}
		}
	}
}

// cut returns what an operand that is broadcast to rank dimensions has of a piece.
func (v view) cut(p *piece, rank int) view {
	at := 0
	for k := range v.rank {
		d := rank - v.rank + k
		if v.shape[k] == 1 {
			continue
		}
		at += p.start[d] * v.stride[k]
		v.shape[k] = p.size[d]
	}
	v.shift(at)
	return v
}

// inPieces is apply for what lay does not take. set writes what lay does not, nil for nothing.
func (l *launcher) inPieces(f driver.Function, set func(m *mapArgs), ops ...*view) bool {
	cuts, at := make([]view, len(ops)), make([]*view, len(ops))
	for c := range ops[0].pieces(mostElements) {
		for i, v := range ops {
			cuts[i] = v.cut(&c, ops[0].rank)
			at[i] = &cuts[i]
		}
		if !l.mapArgs.lay(at...) {
			return false
		}
		if set != nil {
			set(&l.mapArgs)
		}
		l.apply(f, at...)
	}
	return true
}
