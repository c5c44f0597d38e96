package cpu

// A gatherPiece is up to 8 neighbors of a row of packTable: how many bytes behind the row's place they lie, where they go, and which they are. Assembly
// knows its layout.
type gatherPiece struct {
	from, to int
	mask     [8]int32
}

// gatherMost bounds the pieces: with more of them, of fewer than two elements, single elements are as fast.
const gatherMost = 16

// gatherRuns is packTable with AVX2 where a row is made of runs of neighbors, as taps beside each other are. A piece is stored as a whole vector, whose
// zeros the next piece or row overwrites; so the last row, which has none behind it, is not for this.
func gatherRuns(dst []float32, width int, src []float32, along, across []int32) bool {
	k, have := len(along)-1, len(across)
	if k < 8 || width < 8 || have < 4 {
		return false
	}
	var pieces [gatherMost]gatherPiece
	n := 0
	for y := 0; y < have; n++ {
		if 2*(n+1) > have || n == gatherMost {
			return false
		}
		p := &pieces[n]
		p.from, p.to = 4*int(across[y]), 4*y
		for i, first := 0, y; i < 8 && y < have && across[y] == across[first]+int32(i); i++ {
			p.mask[i] = -1
			y++
		}
	}
	_ = dst[(k+1)*width-1]
	if have < width {
		clear(dst[:(k+1)*width])
	}
	gatherRunsY(k, &src[0], &along[0], &pieces[0], n, &dst[0], 4*width)
	for y, off := range across {
		dst[k*width+y] = src[along[k]+off]
	}
	return true
}
