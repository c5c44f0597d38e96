package cpu

// Products over the images of a batch: an index of a matrix counts through pieces that lie apart, such as the planes of a channel.

// A Fold says that an index counts through pieces of Len elements, the first of each Step beyond the first of the one before. Without a Len
// there is one piece.
type Fold struct{ Len, Step int }

// at is where element i is, if neighbors in a piece lie stride apart.
func (f Fold) at(i, stride int) int {
	if f.Len == 0 {
		return i * stride
	}
	return i/f.Len*f.Step + i%f.Len*stride
}

// run is how many of at most n elements from i on are in one piece.
func (f Fold) run(i, n int) int {
	if f.Len == 0 {
		return n
	}
	return min(n, f.Len-i%f.Len)
}

// pairs is how many pairs k elements are: no pair has elements of two pieces.
func (f Fold) pairs(k int) int {
	if f.Len == 0 {
		return (k + 1) / 2
	}
	return k / f.Len * ((f.Len + 1) / 2)
}

// folded says whether there is an index that counts through pieces.
func (g *product[T]) folded() bool {
	return g.a.ColFold.Len|g.b.RowFold.Len|g.b.ColFold.Len|g.out.Fold.Len|len(g.out.RowBias) != 0
}

// checkFolds is for what only the kernel of pairs can do (see PairProducts): k is whole pieces of a and of b that are equally long, and columns of
// b that are folded are neighbors in their pieces.
func (g *product[T]) checkFolds() {
	a, b, o := &g.a, &g.b, &g.out
	switch deep := a.ColFold.Len; {
	case !PairProducts() || a.BF16 == nil || b.BF16 == nil || a.RowFold.Len > 0 || o.Elems != nil && o.Fold.Len|len(o.RowBias) != 0:
		panic("cpu: folded matrices of another kind than GemmTo takes")
	case deep != b.RowFold.Len || deep > 0 && g.depth%deep > 0 || b.ColFold.Len > 0 && b.Col != 1:
		panic("cpu: matrices folded in different ways")
	}
}

// putRow finishes a piece of a row, element by element of it in its place, rounded.
func (r *Result[T]) putRow(i, j int, row []float32) {
	for len(row) > 0 {
		n := r.Fold.run(j, len(row))
		at := r.Off + i*r.Row + r.Fold.at(j, 1)
		if r.F16 != nil {
			NarrowF16(r.F16[at:at+n], row[:n])
		} else {
			NarrowBF16(r.BF16[at:at+n], row[:n])
		}
		row, j = row[n:], j+n
	}
}

// putTiles is roundTiles where columns are folded or rows have a bias; rows of c are 32 apart.
func (r *Result[T]) putTiles(c []float32, i, rows, j, cols int) {
	var bias []float32
	if r.RowBias != nil {
		bias = any(r.RowBias).([]float32)[i : i+rows]
	}
	for x := 0; x < cols; {
		n := r.Fold.run(j+x, cols-x)
		if bias == nil && n >= 16 {
			narrowRows(r.BF16[r.Off+i*r.Row+r.Fold.at(j+x, 1):], r.Row, c[x:], 32, rows, n, false)
			x += n
			continue
		}
		n = min(n, 16)
		StoreSums(BF16, rows, c[x:], r.BF16[r.Off+i*r.Row+r.Fold.at(j+x, 1):], r.Row, n, bias)
		x += n
	}
}
