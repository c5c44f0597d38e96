package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// foldedHalves are random halves of a matrix, once as it is and once in pieces along its columns, with elements between them.
func foldedHalves(r *rand.Rand, rows, piece, pieces, gap int) (plain, folded Matrix[float32]) {
	cols := piece * pieces
	plain = Matrix[float32]{Row: cols, Col: 1, BF16: make([]uint16, rows*cols)}
	step := rows*(piece+gap) + 5
	folded = Matrix[float32]{Off: 3, Row: piece + gap, Col: 1, BF16: make([]uint16, 3+pieces*step), ColFold: Fold{piece, step}}
	for i := range folded.BF16 {
		folded.BF16[i] = 0x7fc1 // NaN, wherever nothing should be read
	}
	for i := range rows {
		for j := range cols {
			h := F32ToBF16(r.Float32() - 0.5)
			plain.BF16[i*cols+j], folded.BF16[folded.Off+i*folded.Row+folded.ColFold.at(j, 1)] = h, h
		}
	}
	return plain, folded
}

// TestFoldedColumns: a product whose columns are folded has the bits of the same product in one piece.
func TestFoldedColumns(t *testing.T) {
	forPairs(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range []struct{ m, k, piece, pieces int }{
		{1, 1, 1, 1}, {3, 5, 7, 4}, {12, 8, 16, 3}, {13, 31, 49, 5}, {40, 129, 1, 70}, {24, 64, 33, 9}, {64, 64, 256, 4}, {30, 1700, 20, 11}, {200, 300, 196, 3}, {700, 520, 60, 9},
	} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			n := s.piece * s.pieces
			a, _ := foldedHalves(r, s.m, s.k, 1, 0)
			b, folded := foldedHalves(r, s.k, s.piece, s.pieces, 2)
			bias := make([]float32, s.m)
			for i := range bias {
				bias[i] = r.Float32()
			}
			want := make([]float32, s.m*n)
			GemmTo(s.m, n, s.k, a, b, Result[float32]{Elems: want, Row: n})
			_, got := foldedHalves(r, s.m, s.piece, s.pieces, 1)
			clear(got.BF16)
			for _, add := range [][]float32{nil, bias} {
				GemmTo(s.m, n, s.k, a, folded, Result[float32]{BF16: got.BF16, Off: got.Off, Row: got.Row, Fold: got.ColFold, RowBias: add})
				written := 0
				for i := range s.m {
					for j := range n {
						v := want[i*n+j]
						if add != nil {
							v += add[i]
						}
						h := got.BF16[got.Off+i*got.Row+got.ColFold.at(j, 1)]
						if h != F32ToBF16(v) {
							t.Fatalf("element %d %d, bias %v: %v, want %v", i, j, add != nil, BF16ToF32(h), v)
						}
						if h != 0 {
							written++
						}
					}
				}
				for _, h := range got.BF16 {
					if h != 0 {
						written--
					}
				}
				if written != 0 {
					t.Fatal("something was written between the pieces")
				}
			}
		})
	}
}

// TestFoldedDepth: k that is folded is one sum over the pieces in their order, those of odd length with a zero at their end.
func TestFoldedDepth(t *testing.T) {
	forPairs(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range []struct{ m, n, piece, pieces int }{
		{1, 1, 1, 1}, {3, 5, 7, 4}, {12, 8, 16, 3}, {13, 31, 49, 5}, {40, 129, 1, 70}, {24, 64, 33, 9}, {64, 64, 256, 4}, {30, 17, 200, 11}, {200, 300, 197, 9}, {256, 256, 256, 8},
	} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			even := up(s.piece, 2)
			k := even * s.pieces
			_, a := foldedHalves(r, s.m, s.piece, s.pieces, 1)
			_, b := foldedHalves(r, s.n, s.piece, s.pieces, 0)
			filled := func(x Matrix[float32], rows int) Matrix[float32] {
				out := Matrix[float32]{Row: k, Col: 1, BF16: make([]uint16, rows*k)}
				for i := range rows {
					for j := range s.piece * s.pieces {
						out.BF16[i*k+j/s.piece*even+j%s.piece] = x.BF16[x.Off+i*x.Row+x.ColFold.at(j, 1)]
					}
				}
				return out
			}
			want, got := make([]float32, s.m*s.n), make([]float32, s.m*s.n)
			GemmTo(s.m, s.n, k, filled(a, s.m), filled(b, s.n).Transposed(), Result[float32]{Elems: want, Row: s.n})
			GemmTo(s.m, s.n, s.piece*s.pieces, a, b.Transposed(), Result[float32]{Elems: got, Row: s.n})
			half := make([]uint16, s.m*s.n)
			GemmTo(s.m, s.n, s.piece*s.pieces, a, b.Transposed(), Result[float32]{BF16: half, Row: s.n})
			for i, v := range want {
				if got[i] != v || half[i] != F32ToBF16(v) {
					t.Fatalf("element %d: %v, rounded %v, want %v", i, got[i], BF16ToF32(half[i]), v)
				}
			}
		})
	}
}
