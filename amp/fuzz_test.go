package amp

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// shapeFrom reads up to four small sizes.
func shapeFrom(b []byte) []int {
	var s []int
	for i := 0; i < len(b) && i < 4; i++ {
		s = append(s, int(b[i]%6))
	}
	return s
}

// FuzzBroadcast adds tensors of arbitrary shapes in every float dtype, through a transposed view too, and compares each element
// with what the index rule of broadcasting says. Shapes that do not fit must be refused with ErrShape.
func FuzzBroadcast(f *testing.F) {
	f.Add([]byte{2, 3}, []byte{3}, uint8(0))
	f.Add([]byte{2, 1, 4}, []byte{3, 1}, uint8(5))
	f.Add([]byte{}, []byte{0, 2}, uint8(3))
	f.Add([]byte{5, 5, 5, 5}, []byte{5, 1, 5, 1}, uint8(6))
	f.Fuzz(func(t *testing.T, a, b []byte, mode uint8) {
		sa, sb := shapeFrom(a), shapeFrom(b)
		dt := []DType{Float16, BFloat16, Float32, Float64}[mode%4]
		s := NewScope()
		defer s.Close()
		numbers := func(shape []int, k int) *Tensor {
			v := make([]float64, length(shape))
			for i := range v {
				v[i] = float64(k * (i%7 - 3)) // exact in every dtype, sums too
			}
			return fromFloat64s(dt, v, shape)
		}
		x, y := numbers(sa, 1), numbers(sb, 8)
		if mode&4 != 0 && len(sa) >= 2 { // the same values, laid out the other way round
			x = Transpose(s, Contiguous(s, Transpose(s, x, 0, -1)), 0, -1)
		}
		var z *Tensor
		if err := Maybe(func() { z = Add(s, x, y) }); err != nil {
			if !errors.Is(err, ErrShape) || fits(sa, sb) {
				t.Fatalf("%v + %v: %v", sa, sb, err)
			}
			return
		}
		if !fits(sa, sb) {
			t.Fatalf("%v + %v was accepted", sa, sb)
		}
		xv, yv, i := x.Float64s(), y.Float64s(), 0
		for _, got := range z.Float64s() {
			if want := xv[source(i, z.shape, sa)] + yv[source(i, z.shape, sb)]; got != want {
				t.Fatalf("%v + %v in %v: element %d is %v, want %v", sa, sb, dt, i, got, want)
			}
			i++
		}
		// Sums of what was broadcast come back to the inputs' shapes, whole and by any one dimension.
		total := 0.0
		for _, v := range z.Float64s() {
			total += v
		}
		if dt == Float64 && math.Abs(Sum(s, z).Item()-total) > 1e-9 {
			t.Fatalf("sum of %v: %v, want %v", z.shape, Sum(s, z).Item(), total)
		}
		for d := range z.shape {
			if got := Sum(s, Sum(s, z, d)).Item(); dt == Float64 && math.Abs(got-total) > 1e-9 {
				t.Fatalf("sum of %v by dimension %d: %v, want %v", z.shape, d, got, total)
			}
		}
	})
}

// fits says whether two shapes can be broadcast.
func fits(a, b []int) bool {
	for i := 1; i <= min(len(a), len(b)); i++ {
		x, y := a[len(a)-i], b[len(b)-i]
		if x != y && x != 1 && y != 1 {
			return false
		}
	}
	return true
}

// source returns the flat index within shape of element i of the broadcast result.
func source(i int, out, shape []int) int {
	index, step := 0, 1
	for d := len(out) - 1; d >= 0; d-- {
		k := i % out[d]
		i /= out[d]
		if e := d - len(out) + len(shape); e >= 0 {
			if shape[e] != 1 {
				index += k * step
			}
			step *= shape[e]
		}
	}
	return index
}

// FuzzReadTrace gives the reader anything: it must return a trace it can write again, or an error.
func FuzzReadTrace(f *testing.F) {
	f.Add(`{"schema":"halftone.trace/1","events":[{"op":"add","out":{"dtype":"float16","shape":[2]}}]}`)
	f.Add(`{"schema":"halftone.trace/1","events":[{"cast":{"from":"float32","to":"no such"}}]}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := ReadTrace(strings.NewReader(text))
		if err != nil {
			return
		}
		var b strings.Builder
		if err := tr.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadTrace(strings.NewReader(b.String())); err != nil {
			t.Fatalf("%v reading what was written: %s", err, b.String())
		}
	})
}
