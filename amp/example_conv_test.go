package amp_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

func ExampleConv2d() {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3)
	edges := amp.From([]float32{1, 0, 0, -1}, 1, 1, 2, 2)
	fmt.Println(amp.Conv2d(s, x, edges, nil).Float64s())
	half := amp.Conv2d(s.Autocast(amp.Float16), x, edges, nil, amp.Stride(2), amp.Padding(1))
	fmt.Println(half.Float64s(), half.DType())
	// Output:
	// [-4 -4 -4 -4]
	// [-1 -3 -7 -4] float16
}

func ExampleMaxPool2d() {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3)
	fmt.Println(amp.MaxPool2d(s, x, 2).Float64s(), amp.MaxPool2d(s, x, 2, amp.CeilMode()).Float64s())
	fmt.Println(amp.AvgPool2d(s, x, 2, amp.Stride(1)).Float64s(), amp.AdaptiveAvgPool2d(s, x, 1).Float64s())
	// Output:
	// [5] [5 6 8 9]
	// [3 4 6 7] [5]
}

func ExampleMaxUnpool2d() {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float32{1, 2, 3, 4, 6, 5}, 1, 1, 2, 3)
	y, indices := amp.MaxPool2dIndices(s, x, 2)
	fmt.Println(y.Float64s(), indices.Float64s())
	fmt.Println(amp.MaxUnpool2d(s, y, indices, 2, amp.OutputSize(x.Shape()...)).Float64s())
	// Output:
	// [6] [4]
	// [0 0 0 0 6 0]
}

func ExampleBatchNorm() {
	s := amp.NewScope()
	defer s.Close()
	st := amp.BatchNormState{RunningMean: amp.From([]float32{0}), RunningVar: amp.From([]float32{1}), Momentum: 0.5, Eps: 1e-12}
	x := amp.FromFloat64s(amp.Float16, []float64{1, 3, 5, 7}, 4, 1)
	y := amp.BatchNorm(s, x, nil, nil, st) // float16 in and out, statistics in float32
	fmt.Printf("%.3f %v\n", y.Float64s(), y.DType())
	fmt.Printf("%.3f %.3f %v\n", st.RunningMean.Item(), st.RunningVar.Item(), st.RunningMean.DType())
	fmt.Printf("%.3f\n", amp.BatchNorm(s.Eval(), x, nil, nil, st).Float64s())
	// Output:
	// [-1.342 -0.447 0.447 1.342] float16
	// 2.000 3.833 float32
	// [-0.511 0.511 1.532 2.555]
}
