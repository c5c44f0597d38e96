package amp

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestPlaces: Nonzero and MaskedSelect find every place, in order, whatever the shape, the strides, the dtype and the number of threads; sizes
// lie around those that are taken at a time.
func TestPlaces(t *testing.T) { sameOnAnyThreads(t, checkPlaces) }

// checkPlaces panics where a place is wrong.
func checkPlaces() string {
	shapes := [][]int{{0}, {1}, {7}, {4095}, {4097}, {placesGrain + 5}, {3, 5}, {257, 131}, {9, 4099}, {4099, 9}, {5, 0, 3}, {7, 33, 151}, {2, 3, 4, 1, 1021}}
	for _, shape := range shapes {
		for _, turned := range []bool{false, true} {
			s := NewScope(Seed(3))
			x := Randn(s, Float32, 0, 1, shape...)
			values := Values[float32](x)
			for i := range values { // what counts: NaN, infinities and subnormals, but neither zero
				switch i % 11 {
				case 0, 3:
					values[i] = 0
				case 1:
					values[i] = float32(math.NaN())
				case 2:
					values[i] = float32(math.Copysign(0, -1))
				case 5:
					values[i] = 0x1p-149
				case 7:
					values[i] = float32(math.Inf(-1))
				}
			}
			x = s.Own(From(values, shape...))
			if turned && len(shape) > 1 {
				x = Transpose(s, x, 0, 1)
			}
			elements := Values[float32](x)
			for _, mask := range []*Tensor{x, Ne(s, x, s.Own(From([]float32{0}))), To(s, x, BFloat16), To(s, x, Float64)} {
				name := fmt.Sprintf("%v %v turned %v", mask.dt, shape, turned)
				var want []int64
				var kept []uint32
				for i, v := range mask.Float64s() {
					if v == 0 {
						continue
					}
					var at []int64
					for d, rest := len(x.shape)-1, i; d >= 0; d-- {
						at, rest = append(at, int64(rest%x.shape[d])), rest/x.shape[d]
					}
					slices.Reverse(at)
					want = append(want, at...)
					kept = append(kept, math.Float32bits(elements[i]))
				}
				if got := Values[int64](Nonzero(s, mask)); !slices.Equal(got, want) {
					panic(fmt.Sprintf("%s: Nonzero differs: %d numbers, want %d", name, len(got), len(want)))
				}
				if mask.dt != Bool {
					continue
				}
				var got []uint32
				for _, v := range Values[float32](MaskedSelect(s, x, mask)) {
					got = append(got, math.Float32bits(v))
				}
				if !slices.Equal(got, kept) {
					panic(fmt.Sprintf("%s: MaskedSelect differs: %d elements, want %d", name, len(got), len(kept)))
				}
			}
			s.Close()
		}
	}
	return "right"
}

// TestPick: pad, flip, roll and index_select move every element to its place, in rows with runs of any length, forward, backward and repeated,
// from tensors that begin anywhere and have strides, for words of every size.
func TestPick(t *testing.T) { sameOnAnyThreads(t, checkPick) }

func checkPick() string {
	s := NewScope(Seed(5))
	defer s.Close()
	for _, n := range []int{1, 2, 7, 8, 9, 31, 33, 100, 1027} {
		for _, dt := range []DType{Bool, BFloat16, Float32, Int64} {
			whole := To(s, RandInt(s, 0, 2, 37, n+3), dt)
			if dt != Bool {
				whole = To(s, RandInt(s, 0, 100, 37, n+3), dt)
			}
			for turn, x := range []*Tensor{Narrow(s, whole, 1, 1, n), Slice(s, whole, 1, 0, n, 2), Narrow(s, Transpose(s, whole, 0, 1), 0, 1, n)} {
				in, shape := x.Float64s(), x.Shape()
				check := func(name string, y *Tensor, from func(r, c int) float64) {
					columns := y.shape[1]
					for i, got := range y.Float64s() {
						if want := from(i/columns, i%columns); got != want {
							panic(fmt.Sprintf("%s %v %v form %d: element %d is %v, want %v", name, dt, shape, turn, i, got, want))
						}
					}
				}
				rows, columns := shape[0], shape[1]
				at := func(r, c int) float64 { return in[r*columns+c] }
				mod := func(i, n int) int { return (i%n + n) % n }
				check("pad", Pad(s, x, []int{2, 3, 1, 0}, "constant", 1), func(r, c int) float64 {
					if r < 1 || c < 2 || c >= columns+2 {
						return 1
					}
					return at(r-1, c-2)
				})
				check("flip", Flip(s, x, 1), func(r, c int) float64 { return at(r, columns-1-c) })
				check("flip both", Flip(s, x, 0, 1), func(r, c int) float64 { return at(rows-1-r, columns-1-c) })
				check("roll", Roll(s, x, []int{3, -2}, []int{1, 0}), func(r, c int) float64 { return at(mod(r+2, rows), mod(c-3, columns)) })
				index := RandInt(s, 0, int64(columns), 2*columns+1)
				to := Values[int64](index)
				check("index_select", IndexSelect(s, x, 1, index), func(r, c int) float64 { return at(r, int(to[c])) })
				row := Select(s, x, 0, rows-1)
				check("index_select of a vector", Reshape(s, IndexSelect(s, row, 0, index), 1, -1), func(_, c int) float64 { return at(rows-1, int(to[c])) })
				every := Slice(s, index, 0, 1, 2*columns+1, 2)
				check("index_select by every other", Reshape(s, IndexSelect(s, row, 0, every), 1, -1), func(_, c int) float64 { return at(rows-1, int(to[2*c+1])) })
				if columns > 4 {
					wide := Reshape(s, Contiguous(s, x), 1, rows, columns)
					check("reflect", Reshape(s, Pad(s, wide, []int{3, 4}, "reflect", 0), rows, -1), func(r, c int) float64 {
						c = max(c-3, 3-c)
						return at(r, min(c, 2*(columns-1)-c))
					})
					check("replicate", Reshape(s, Pad(s, wide, []int{9, 20}, "replicate", 0), rows, -1), func(r, c int) float64 {
						return at(r, min(max(c-9, 0), columns-1))
					})
					check("circular", Reshape(s, Pad(s, wide, []int{4, 3}, "circular", 0), rows, -1), func(r, c int) float64 { return at(r, mod(c-4, columns)) })
				}
			}
		}
	}
	return "right"
}
