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

// Layers of sequences and images say their sizes and the options they were made with.
func Example_printSequenceLayers() {
	root := amp.NewScope()
	defer root.Close()
	fmt.Println(nn.NewLSTM(root, 8, 16, nn.RecurrentOptions{Layers: 2, Bidirectional: true, BatchFirst: true, Dropout: 0.1}))
	fmt.Println(nn.NewRNN(root, 8, 16, nn.RecurrentOptions{ReLU: true, NoBias: true}), nn.NewGRU(root, 8, 16, nn.RecurrentOptions{DType: amp.BFloat16}))
	fmt.Println(nn.NewRNNCell(root, 8, 16), nn.NewGRUCell(root, 8, 16), nn.NewLSTMCell(root, 8, 16, nn.NoBias()))
	fmt.Println(nn.NewBilinear(root, 3, 4, 5), nn.NewUpsample(amp.Interpolation{Size: []int{8, 8}, Mode: "bilinear", AlignCorners: true}))
	fmt.Println(nn.NewUpsample(amp.Interpolation{Scale: []float64{2}}), nn.NewReflectionPad(1, 2), nn.NewConstantPad(0.5, 1, 1))
	fmt.Println(nn.NewPositionalEncoding(root, 32, 8), nn.NewLearnedPositions(root, 32, 8))
	fmt.Println(nn.NewTransformerEncoderLayer(root, 8, 2, 32, nn.TransformerOptions{PreNorm: true, Dropout: 0.1, Activation: nn.GELU}))
	// Output:
	// LSTM(in=8, hidden=16, layers=2, bidirectional, batch_first, dropout=0.1)
	// RNN(in=8, hidden=16, no_bias, relu) GRU(in=8, hidden=16, bfloat16)
	// RNNCell(in=8, hidden=16) GRUCell(in=8, hidden=16) LSTMCell(in=8, hidden=16, no_bias)
	// Bilinear(weight=[5 3 4], bias=[5]) Upsample(size=[8 8], mode=bilinear, align_corners)
	// Upsample(scale=[2], mode=nearest) Pad(pads=[1 2], mode=reflect) Pad(pads=[1 1], mode=constant, value=0.5)
	// PositionalEncoding(table=[32 8]) PositionalEncoding(weight=[32 8], learned)
	// TransformerEncoderLayer(
	//   (self_attn): MultiheadAttention(in_proj_weight=[24 8], in_proj_bias=[24], weight=[8 8], bias=[8])
	//   (linear1): Linear(weight=[32 8], bias=[32])
	//   (linear2): Linear(weight=[8 32], bias=[8])
	//   (norm1): LayerNorm(weight=[8], bias=[8])
	//   (norm2): LayerNorm(weight=[8], bias=[8])
	//   (activation): GELU()
	//   pre_norm
	//   dropout=0.1
	// )
}
