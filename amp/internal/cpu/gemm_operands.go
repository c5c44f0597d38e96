package cpu

// Float is an accumulator type; int64 is there for integer matrices.
type Float interface{ float32 | float64 | int64 }

// A Matrix is an operand: element (i,j) lies at Off + i*Row + j*Col. Where the elements are in memory, give the slice of
// their type, which is packed without a call per run; else give Load.
type Matrix[T Float] struct {
	Off, Row, Col int

	// RowFold and ColFold say that rows or columns are folded: see PairProducts.
	RowFold, ColFold Fold

	Elems     []T      // elements of the accumulator's type
	F16, BF16 []uint16 // halves, for T float32

	// Half says that Elems or Load give numbers of this format only, so that instructions for it may multiply them.
	Half Format

	// Load sets dst to len(dst) elements that start at off and lie stride apart, widened to T.
	Load func(dst []T, off, stride int)

	// Table, beside Load, says where the elements are.
	Table *Table[T]
}

// A Format is one of the two halves, or neither.
type Format int8

// The formats.
const (
	NoHalf Format = iota
	F16
	BF16
)

// format is that of the elements.
func (x *Matrix[T]) format() Format {
	switch {
	case x.F16 != nil:
		return F16
	case x.BF16 != nil:
		return BF16
	}
	return x.Half
}

// halves returns the elements of a matrix of halves.
func (x *Matrix[T]) halves() []uint16 {
	if x.F16 != nil {
		return x.F16
	}
	return x.BF16
}

// Transposed returns the matrix with its rows and columns exchanged.
func (x Matrix[T]) Transposed() Matrix[T] {
	x.Row, x.Col = x.Col, x.Row
	x.RowFold, x.ColFold = x.ColFold, x.RowFold
	if t := x.Table; t != nil {
		x.Table = &Table[T]{t.Src, t.Col, t.Row}
	}
	return x
}

// A Result takes a product. Element (i,j) is written to Off + i*Row + j of Elems, or rounded to F16 or BF16, for T float32; one
// of the three, or none. Bias, if given, has a number per column that is added first. Where Done is given, it is called
// then, once for every finished piece of a row, from column j on, in any order and from several workers: with the values in
// Elems, or with a buffer; it may change them, and what it leaves is rounded to F16 or BF16.
//
// With Add the product is added to what is in Elems; halves are then multiplied as float32.
//
// Rounded products that PairProducts names may have folded columns, and RowBias, a number per row.
type Result[T Float] struct {
	Off, Row  int
	Fold      Fold
	RowBias   []T
	Elems     []T
	F16, BF16 []uint16
	Bias      []T
	Done      func(i, j int, row []T)
	Add       bool

	rows func(i int, row []T) // Done for whole rows
}

// check reads the two ends of what assembly will read, so that a wrong stride is a panic.
func (x *Matrix[T]) check(rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	down, across := x.RowFold.at(rows-1, x.Row), x.ColFold.at(cols-1, x.Col)
	lo, hi := x.Off+min(0, down)+min(0, across), x.Off+max(0, down)+max(0, across)
	switch {
	case x.Elems != nil:
		_, _ = x.Elems[lo], x.Elems[hi]
	case x.F16 != nil:
		_, _ = x.F16[lo], x.F16[hi]
	case x.BF16 != nil:
		_, _ = x.BF16[lo], x.BF16[hi]
	case x.Table != nil:
		x.Table.check(rows, cols)
	}
}

func (r *Result[T]) check(m, n int) {
	last := r.Off + (m-1)*r.Row + r.Fold.at(n-1, 1)
	switch {
	case r.Elems != nil:
		_, _ = r.Elems[r.Off], r.Elems[last]
	case r.F16 != nil:
		_, _ = r.F16[r.Off], r.F16[last]
	case r.BF16 != nil:
		_, _ = r.BF16[r.Off], r.BF16[last]
	}
	if r.Bias != nil {
		_ = r.Bias[n-1]
	}
	if r.RowBias != nil {
		_ = r.RowBias[m-1]
	}
}

// plain says that finished sums need no more than to be in Elems.
func (r *Result[T]) plain() bool {
	return r.Elems != nil && r.Bias == nil && r.Done == nil && r.rows == nil
}
