package amp

import (
	"fmt"
	"strings"
	"testing"
)

func ExampleTensor_String() {
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, -2.5, 1.0 / 3, 65504, 0, 1e-8}, 2, 3)
	fmt.Println(x)
	fmt.Println(Transpose(s, To(s, x, Float16), 0, 1))
	fmt.Println(Gt(s, x, Scalar[float32](0)), From([]int64{1 << 60}), Scalar(2.0).SetName("w").RequireGrad())
	fmt.Println(Arange(s, Int64, 0, 1000, 1))
	// Output:
	// [[       1,     -2.5,   0.3333],
	//  [6.55e+04,        0,    1e-08]] float32 [2 3]
	// [[       1, 6.55e+04],
	//  [    -2.5,        0],
	//  [  0.3333,        0]] float16 [3 2]
	// [[ true, false,  true],
	//  [ true, false,  true]] bool [2 3] [1152921504606846976] int64 [1] 2 "w" float64 [], wants a gradient
	// [  0,   1,   2, …, 997, 998, 999] int64 [1000]
}

// TestTensorsAreCutWhenPrinted checks large, empty, nil and freed tensors, and the empty lines between matrices.
func TestTensorsAreCutWhenPrinted(t *testing.T) {
	s := NewScope()
	x := Reshape(s, Arange(s, Int64, 0, 4000, 1), 10, 20, 20)
	text := x.String()
	if n := strings.Count(text, "…"); n != 1+6+36 || !strings.HasPrefix(text, "[[[   0,    1,    2, …,   17,   18,   19],\n") || !strings.HasSuffix(text, "3999]]] int64 [10 20 20]") {
		t.Errorf("%d cuts in\n%s", n, text)
	}
	if got := fmt.Sprint(Zeros(s, Float32, 2, 2, 1)); got != "[[[0],\n  [0]],\n\n [[0],\n  [0]]] float32 [2 2 1]" {
		t.Errorf("%s", got)
	}
	if got := fmt.Sprint(Zeros(s, Float32, 2, 0)); got != "[[],\n []] float32 [2 0]" {
		t.Errorf("%s", got)
	}
	if got, want := fmt.Sprint(Zeros(s, Float32, 3000000, 0)), "[[],\n []"; !strings.HasPrefix(got, want) || strings.Count(got, "[]") != 2*printEdge || !strings.Contains(got, "…") {
		t.Errorf("%.200s", got)
	}
	if got := fmt.Sprint(Zeros(s, Float32, 1<<40, 3, 0)); len(got) > 500 || !strings.HasSuffix(got, "float32 [1099511627776 3 0]") {
		t.Errorf("%.200s", got)
	}
	s.Close()
	if got := fmt.Sprint(x, (*Tensor)(nil)); got != "freed tensor int64 [10 20 20] nil tensor" {
		t.Errorf("%s", got)
	}
}
