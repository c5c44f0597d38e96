package cudart

import (
	"math/rand/v2"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestPieces: the pieces of a tensor are all of its elements, in order, none larger than was asked for, and of the operands of any strides
// what belongs to them.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		v := view{ptr: 1 << 20, dt: amp.Float32, rank: r.IntN(5)}
		n := 1
		for d := v.rank - 1; d >= 0; d-- {
			v.shape[d] = 1 + r.IntN(5)
			v.stride[d] = n
			n *= v.shape[d]
		}
		most, next, count := 1+r.IntN(20), 0, 0
		row := v // broadcast along all but the last dimension
		if v.rank > 0 {
			row.rank, row.shape[0], row.stride[0] = 1, v.shape[v.rank-1], 3
		}
		for p := range v.pieces(most) {
			c := v.cut(&p, v.rank)
			if p.first != next || c.len() > most || c.len() == 0 {
				t.Fatalf("%v in pieces of %d: one of %d from %d on, after %d", v.shape[:v.rank], most, c.len(), p.first, next)
			}
			if want := v.ptr + uint64(4*p.first); c.ptr != want {
				t.Fatalf("%v: the piece from %d on is at %d, want %d", v.shape[:v.rank], p.first, c.ptr, want)
			}
			if w := row.cut(&p, v.rank); v.rank > 0 && w.shape[0] != 1 && (w.shape[0] != c.shape[c.rank-1] || w.ptr != v.ptr+uint64(4*3*p.start[v.rank-1])) {
				t.Fatalf("%v: the piece from %d on has %d of a row, at %d", v.shape[:v.rank], p.first, w.shape[0], w.ptr)
			}
			next += c.len()
			count++
		}
		if next != n || n <= most && count != 1 {
			t.Fatalf("%v in pieces of %d: %d pieces of %d of %d elements", v.shape[:v.rank], most, count, next, n)
		}
	}
}

// TestPiecesBeyondInt: where sizes do not fit into 32 bits, pieces are cut in whatever dimension it takes.
func TestPiecesBeyondInt(t *testing.T) {
	for _, shape := range [][]int{{1<<31 + 64}, {3, 1 << 31}, {1 << 31, 3}, {1 << 16, 1 << 17, 5}, {2, 1<<33 + 1, 1}} {
		next := 0
		for p := range denseView(shape...).pieces(1<<31 - 1) {
			n := 1
			for d, size := range p.size[:len(shape)] {
				if size < 1 || p.start[d]+size > shape[d] {
					t.Fatalf("%v: %d from %d on in dimension %d", shape, size, p.start[d], d)
				}
				n *= size
			}
			if p.first != next || n >= 1<<31 {
				t.Fatalf("%v: %d elements from %d on, after %d", shape, n, p.first, next)
			}
			next += n
		}
		if want := denseView(shape...).len(); next != want {
			t.Errorf("%v: the pieces have %d elements of %d", shape, next, want)
		}
	}
}
