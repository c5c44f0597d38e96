package bench

// Operations, two per multiply-add, of a training step of the models: products and convolutions alone, forward and, twice that, backward.

// gptFlops: 8 sequences of 128 tokens, 4 layers of 256 features, a vocabulary of 256; a position sees half of the others on average.
func gptFlops() float64 {
	const tokens, context, features, layers, vocabulary = 8 * 128, 128, 256, 4, 256
	perToken := layers*(12*features*features+2*features*context/2) + features*vocabulary
	return 3 * 2 * float64(tokens*perToken)
}

// resnetFlops: ResNet-18 for images of 32×32, batch 32. The gradient of the images is not computed.
func resnetFlops() float64 {
	const batch = 32
	conv := func(in, out, size, kernel int) float64 {
		return float64(batch * in * out * size * size * kernel * kernel)
	}
	first := conv(3, 64, 32, 3)
	sum := float64(batch*512*10) + 4*conv(64, 64, 32, 3)
	for c, size := 128, 16; c <= 512; c, size = 2*c, size/2 {
		sum += conv(c/2, c, size, 3) + 3*conv(c, c, size, 3) + conv(c/2, c, size, 1)
	}
	return 2 * (3*sum + 2*first)
}

// mlpFlops: 8→16→16→1 with 512 rows; the gradient of the input is not computed.
func mlpFlops() float64 {
	return 2 * 512 * (2*8*16 + 3*16*16 + 3*16)
}

func modelFlops(model string) float64 {
	return map[string]func() float64{"gpt": gptFlops, "resnet18": resnetFlops, "mlp": mlpFlops}[model]()
}
