package amp

import (
	"slices"
	"testing"
)

func TestIntegersAndInPlacePassUntouched(t *testing.T) {
	s := NewScope()
	defer s.Close()
	half := s.Autocast(Float16)
	a := From([]int64{1, 2, 3, 4}, 2, 2)
	if y := MatMul(half, a, a); y.DType() != Int64 || !slices.Equal(Values[int64](y), []int64{7, 10, 15, 22}) {
		t.Errorf("%v %v", y.DType(), Values[int64](y))
	}
	if y := Sum(half, From([]bool{true, false, true})); y.DType() != Int64 || y.Item() != 2 {
		t.Errorf("%v %v", y.DType(), y.Item())
	}
	x := From([]float32{1, 2})
	AddInPlace(half, x, fromFloat64s(BFloat16, []float64{0.5, 0.5}, []int{2}))
	if x.DType() != Float32 || !slices.Equal(Values[float32](x), []float32{1.5, 2.5}) {
		t.Errorf("%v %v", x.DType(), Values[float32](x))
	}
	if y := Softmax(half, x, 0, BFloat16); y.DType() != BFloat16 {
		t.Errorf("an explicit dtype lost against autocast: %v", y.DType())
	}
}
