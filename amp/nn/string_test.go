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
	//   (0): Conv2d(weight=[8 3 3 3], bias=[8], padding=1)
	//   (1): BatchNorm(weight=[8], bias=[8], running_mean=[8], running_var=[8])
	//   (2): ReLU()
	//   (3): MaxPool2d(kernel=2)
	//   (head): Sequential(
	//     (0): Linear(weight=[4 8] float16, bias=[4] float16)
	//     (1): Linear(weight=[2 4])
	//   )
	//   (5): Sequential()
	// )
}

// A single layer prints as it does within a model.
func Example_printLayers() {
	root := amp.NewScope()
	defer root.Close()
	fmt.Println(nn.NewLinear(root, 8, 16))
	fmt.Println(nn.NewConv2d(root, 16, 32, 3, nn.Stride(2), nn.Padding(1, 0), nn.Groups(2), nn.NoBias()))
	fmt.Println(nn.MaxPool2d(3, nn.Stride(2), nn.CeilMode()))
	fmt.Println(nn.AdaptiveAvgPool2d(1, 1), nn.Flatten, nn.Identity, nn.GELU)
	fmt.Println(nn.NewLayerNorm(root, 8), nn.NewEmbedding(root, 100, 16), nn.NewDropout(0.1))
	fmt.Println(nn.NewResidual(nn.NewSequential(nn.NewLinear(root, 2, 2)), nil))
	// Output:
	// Linear(weight=[16 8], bias=[16])
	// Conv2d(weight=[32 8 3 3], stride=2, padding=[1 0], groups=2)
	// MaxPool2d(kernel=3, stride=2, ceil_mode)
	// AdaptiveAvgPool2d(size=[1 1]) Flatten() Identity() GELU()
	// LayerNorm(weight=[8], bias=[8]) Embedding(weight=[100 16]) Dropout(p=0.1)
	// Residual(
	//   (body): Sequential(
	//     (0): Linear(weight=[2 2], bias=[2])
	//   )
	//   (shortcut): its input
	// )
}
