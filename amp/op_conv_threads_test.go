package amp

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// TestConvThreads is about convolutions, batch norm and pools, forward and backward, for sizes that are cut into many boxes.
func TestConvThreads(t *testing.T) { sameOnAnyThreads(t, convDigest) }

func convDigest() string {
	root := NewScope(Seed(3))
	defer root.Close()
	h := sha256.New()
	for _, dt := range []DType{NoDType, Float16, BFloat16} {
		s := root
		if dt != NoDType {
			s = root.Autocast(dt)
		}
		x := Randn(root, Float32, 0, 1, 6, 12, 23, 21).RequireGrad()
		w, d := Randn(root, Float32, 0, 0.1, 40, 12, 3, 3).RequireGrad(), Randn(root, Float32, 0, 0.3, 40, 1, 3, 3).RequireGrad()
		g, b := Rand(root, Float32, 0.5, 1.5, 40).RequireGrad(), Randn(root, Float32, 0, 1, 40).RequireGrad()
		y := BatchNorm(s, Conv2d(s, x, w, nil, Padding(1)), g, b, BatchNormState{Eps: 1e-5})
		y = Conv2d(s, MaxPool2d(s, ReLU(s, y), 3, Stride(2), Padding(1)), d, nil, Stride(2), Groups(40))
		small, e := Randn(root, Float32, 0, 1, 37, 40, 6, 5).RequireGrad(), Randn(root, Float32, 0, 0.1, 150, 40, 3, 3).RequireGrad()
		z := Conv2d(s, small, e, nil, Padding(1))
		loss := Add(s, Sum(s, Mul(s, y, y)), Sum(s, Mul(s, z, z)))
		loss.Backward()
		fmt.Fprintln(h, loss.Item())
		for _, p := range []*Tensor{x, w, d, g, b, small, e} {
			fmt.Fprintln(h, p.Grad().Float64s())
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
