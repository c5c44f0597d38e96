package amp_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// Two steps of two equally likely classes, the blank and label 1: of the four paths three are the target "1", with a blank before, behind, or
// the label twice.
func ExampleCTCLoss() {
	root := amp.NewScope()
	defer root.Close()
	logits := amp.Zeros(root, amp.Float32, 2, 1, 2) // [steps n classes]
	logp := amp.LogSoftmax(root, logits, -1)
	loss := amp.CTCLoss(root, logp, amp.From([]int64{1}, 1, 1), amp.From([]int64{2}), amp.From([]int64{1}))
	fmt.Printf("%.4f\n", amp.Exp(root, amp.Neg(root, loss)).Item())
	// Output: 0.7500
}
