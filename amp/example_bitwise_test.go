package amp_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// Flags are kept in the bits of integers; truths are combined by the same operators.
func ExampleBitwiseAnd() {
	s := amp.NewScope()
	defer s.Close()
	flags, seen := amp.From([]int64{0, 1, 2, 7}), amp.Scalar(int64(2))
	marked := amp.BitwiseOr(s, flags, seen)
	fmt.Println(marked.Float64s(), amp.BitwiseAnd(s, flags, seen).Float64s(), amp.BitwiseRightShift(s, flags, amp.Scalar(int64(1))).Float64s())
	fmt.Println(amp.Values[bool](amp.BitwiseNot(s, amp.Eq(s, marked, flags))))
	// Output:
	// [2 3 2 7] [0 0 2 2] [0 0 1 3]
	// [true true false false]
}
