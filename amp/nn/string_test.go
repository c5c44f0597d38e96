package nn_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// Printing a model shows its modules.
func ExampleSequential_String() {
	root := amp.NewScope()
	defer root.Close()
	head := nn.NewSequential(nn.NewLinear(root, 8, 4, nn.DType(amp.Float16)), nn.NewLinear(root, 4, 2, nn.NoBias()))
	net := nn.NewSequential(
		nn.NewConv2d(root, 3, 8, 3, nn.Padding(1)), nn.NewBatchNorm2d(root, 8), nn.ReLU, nn.MaxPool2d(2),
		nn.Named{Name: "head", Module: head}, nn.NewSequential())
	fmt.Println(net)
	// Output:
	// Sequential(
	//   (0): Conv(weight=[8 3 3 3], bias=[8])
	//   (1): BatchNorm(weight=[8], bias=[8], running_mean=[8], running_var=[8])
	//   (2): ReLU()
	//   (3): Func()
	//   (head): Sequential(
	//     (0): Linear(weight=[4 8] float16, bias=[4] float16)
	//     (1): Linear(weight=[2 4])
	//   )
	//   (5): Sequential()
	// )
}
