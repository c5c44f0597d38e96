package nn_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

func ExampleNewResNet18() {
	s := amp.NewScope()
	defer s.Close()
	net := nn.NewResNet18(s, 10, nn.SmallImages(), nn.Width(16))
	images := amp.Randn(s, amp.Float32, 0, 1, 2, 3, 32, 32)
	logits := net.Forward(s.Autocast(amp.Float16).Eval().NoGrad(), images)
	fmt.Println(logits.Shape(), logits.DType(), len(net.Parameters()), net.Parameters()[3].Name())
	// Output: [2 10] float16 62 layer1.0.conv1.weight
}

func ExampleNewConv2d() {
	s := amp.NewScope()
	defer s.Close()
	block := nn.NewSequential(
		nn.NewConv2d(s, 3, 8, 3, nn.Stride(2), nn.Padding(1), nn.NoBias()), nn.NewBatchNorm2d(s, 8), nn.ReLU,
		nn.AdaptiveAvgPool2d(1), nn.Flatten, nn.NewLinear(s, 8, 10),
	)
	fmt.Println(block.Forward(s, amp.Randn(s, amp.Float32, 0, 1, 4, 3, 32, 32)).Shape())
	for _, b := range block.Buffers() {
		fmt.Println(b.Name(), b.DType(), b.Shape())
	}
	// Output:
	// [4 10]
	// 1.running_mean float32 [8]
	// 1.running_var float32 [8]
	// 1.num_batches_tracked int64 []
}
