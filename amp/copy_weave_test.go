package amp

import (
	"fmt"
	"testing"
)

// TestWovenCopies compares copies of short rows whose elements lie in a row each with the elements one by one, in every size of element, with
// rows that end within what a task takes at a time.
func TestWovenCopies(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, dt := range []DType{Bool, Float16, Float32, Int64} {
		for _, shape := range [][]int{{2, 1}, {2, 5}, {3, 513}, {4, 1024}, {7, 1300}, {15, 40}} {
			t.Run(fmt.Sprint(dt, shape), func(t *testing.T) {
				n, rows := shape[0], shape[1]
				x := To(s, Reshape(s, Remainder(s, Arange(s, Float32, 0, float64(3*n*rows), 1), Full(s, Float32, 251)), 3, n, rows), dt)
				got, from := Contiguous(s, Transpose(s, x, -1, -2)).Float64s(), x.Float64s()
				for b := range 3 {
					for r := range rows {
						for j := range n {
							if g, w := got[(b*rows+r)*n+j], from[(b*n+j)*rows+r]; g != w {
								t.Fatalf("batch %d, row %d, element %d: %v, want %v", b, r, j, g, w)
							}
						}
					}
				}
			})
		}
	}
}
