package cpu

import "testing"

// TestTranspose: each word of the squares at its place, and none beside them.
func TestTranspose(t *testing.T) {
	for _, s := range [][4]int{{16, 16, 16, 16}, {16, 32, 17, 33}, {33, 49, 40, 50}, {48, 16, 64, 16}, {15, 40, 20, 40}, {100, 70, 111, 71}} {
		rows, columns, lds, ldd := s[0], s[1], s[2], s[3]
		src, dst := make([]uint32, columns*lds+1)[1:], make([]uint32, rows*ldd+1)[1:]
		for i := range src {
			src[i] = uint32(i + 1)
		}
		r, c := Transpose(dst, src, rows, columns, lds, ldd)
		if variant() == AVX512 && (r != rows&^15 || c != columns&^15) && min(rows, columns) >= 16 {
			t.Errorf("%v: %d rows and %d columns done", s, r, c)
		}
		for i := range rows {
			for j := range ldd {
				want := uint32(0)
				if i < r && j < c {
					want = src[j*lds+i]
				}
				if got := dst[i*ldd+j]; got != want {
					t.Fatalf("%v: word (%d,%d) is %d, want %d", s, i, j, got, want)
				}
			}
		}
	}
}
