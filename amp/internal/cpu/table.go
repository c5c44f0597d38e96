package cpu

// A Table places the elements of a matrix by two lists of offsets: element (i,j) is Src[Row[i]+Col[j]]. It is how the windows of a
// convolution overlap in memory.
type Table[T Float] struct {
	Src      []T
	Row, Col []int32
}

// check reads the two ends of what the product will read.
func (t *Table[T]) check(rows, cols int) {
	lowest, highest := 0, 0
	for _, list := range [][]int32{t.Row[:rows], t.Col[:cols]} {
		lo, hi := list[0], list[0]
		for _, v := range list {
			lo, hi = min(lo, v), max(hi, v)
		}
		lowest, highest = lowest+int(lo), highest+int(hi)
	}
	_, _ = t.Src[lowest], t.Src[highest]
}

// packTable sets dst[p*width+y] to src[along[p]+across[y]] for y below len(across), and to 0 for y from there on.
func packTable[T Float](dst []T, width int, src []T, along, across []int32) {
	if d, ok := any(dst).([]float32); ok && gather(d, width, any(src).([]float32), along, across) {
		return
	}
	if len(across) < width {
		clear(dst[:width*len(along)])
	}
	for p, at := range along {
		row := dst[p*width:][:len(across)]
		for y, off := range across {
			row[y] = src[at+off]
		}
	}
}
