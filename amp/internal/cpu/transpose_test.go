package cpu

import "testing"

// TestTranspose: each word of the squares at its place, and none beside them. Plain Go has no kernel: it does nothing and says so, and the caller
// turns words one by one.
func TestTranspose(t *testing.T) {
	defer SetMode(Current())
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		t.Run(v.String(), func(t *testing.T) { testTranspose(t, Transpose, v != Generic) })
		t.Run(v.String()+" halves", func(t *testing.T) { testTranspose(t, TransposeHalves, v != Generic) })
	}
}

func testTranspose[T uint16 | uint32](t *testing.T, transpose func(dst, src []T, rows, columns, lds, ldd int) (int, int), does bool) {
	for _, s := range [][4]int{{16, 16, 16, 16}, {16, 32, 17, 33}, {33, 49, 40, 50}, {48, 16, 64, 16}, {15, 40, 20, 40}, {100, 70, 111, 71}, {48, 600, 50, 601}, {63, 97, 71, 103}, {32, 272, 1024, 512}} {
		rows, columns, lds, ldd := s[0], s[1], s[2], s[3]
		src, dst := make([]T, columns*lds+1)[1:], make([]T, rows*ldd+1)[1:]
		for i := range src {
			src[i] = T(i + 1)
		}
		r, c := transpose(dst, src, rows, columns, lds, ldd)
		wantRows, wantColumns := 0, 0
		if does && min(rows, columns) >= 16 {
			wantRows, wantColumns = rows&^15, columns&^15
		}
		if r != wantRows || c != wantColumns {
			t.Errorf("%v: %d rows and %d columns done, want %d and %d", s, r, c, wantRows, wantColumns)
		}
		for i := range rows {
			for j := range ldd {
				want := T(0)
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
