package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// Two sequences of 2 and 3 tokens, padded to 4.
func ExampleKeyPaddingMask() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	x := amp.Randn(root, amp.Float32, 0, 1, 2, 4, 8)
	keep := nn.LengthMask(root, amp.From([]int64{2, 3}), 4)
	mask := nn.KeyPaddingMask(root, keep)
	y := nn.NewMultiheadAttention(root, 8, 2, nn.AttentionOptions{}).Attend(root, x, x, x, mask, true)
	fmt.Println(amp.Values[bool](keep), mask.Shape(), y.Shape())
	fmt.Println(amp.Values[bool](nn.CausalMask(root, 2)))
	// Output:
	// [true true false false true true true false] [2 1 1 4] [2 4 8]
	// [true false true true]
}

// TestCausalWithMask: the pattern and the mask hold together, whether the mask is of bools or of floats.
func TestCausalWithMask(t *testing.T) {
	root := amp.NewScope(amp.Seed(5))
	defer root.Close()
	m := nn.NewMultiheadAttention(root, 6, 2, nn.AttentionOptions{DType: amp.Float64})
	q, qs := matrix(root, 3, 6)
	k, ks := matrix(root, 5, 6)
	keep := []bool{true, false, true, true, true}
	added := make([]float64, 5)
	for j := range keep {
		if !keep[j] {
			added[j] = math.Inf(-1)
		}
	}
	want, weights := attendByHand(m, qs, ks, ks, func(h, i, j int) bool { return j <= i && keep[j] })
	for name, mask := range map[string]*amp.Tensor{"bool": amp.From(keep, 1, 5), "float": amp.From(added, 1, 5)} {
		if got := m.Attend(root, q, k, k, mask, true); !near(got.Float64s(), slices.Concat(want...), 1e-12) {
			t.Errorf("%s: %v, want %v", name, got.Float64s(), want)
		}
		if w := m.Weights(root, q, k, mask, true); !near(w.Float64s(), weights, 1e-12) {
			t.Errorf("%s: weights %v, want %v", name, w.Float64s(), weights)
		}
	}
	l := nn.NewTransformerEncoderLayer(root, 8, 2, 16, nn.TransformerOptions{Causal: true})
	x := amp.Randn(root, amp.Float32, 0, 1, 2, 5, 8)
	half := root.Autocast(amp.Float16)
	padding := nn.KeyPaddingMask(root, nn.LengthMask(root, amp.From([]int64{5, 3}), 5))
	pattern := nn.CausalMask(root, 5)
	bare := nn.NewTransformerEncoderLayer(root, 8, 2, 16, nn.TransformerOptions{})
	if err := nn.LoadStateDict(bare, nn.StateDict(l)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.Run(half, x, padding).Float64s(), bare.Run(half, x, amp.LogicalAnd(root, padding, pattern)).Float64s()) {
		t.Error("causal with padding differs from both in one mask")
	}
}

// TestPaddingOfTwoDimensions: [batch S] is refused where it could be read as [T S], and never taken for padding.
func TestPaddingOfTwoDimensions(t *testing.T) {
	root := amp.NewScope(amp.Seed(6))
	defer root.Close()
	m := nn.NewMultiheadAttention(root, 4, 1, nn.AttentionOptions{})
	attend := func(batch, positions int, mask *amp.Tensor) error {
		x := amp.Randn(root, amp.Float32, 0, 1, batch, positions, 4)
		return amp.Maybe(func() { m.Attend(root, x, x, x, mask, false) })
	}
	for _, batch := range []int{3, 2} {
		mask := nn.LengthMask(root, amp.From([]int64{1, 2, 3}[:batch]), 3)
		if err := attend(batch, 3, mask); !errors.Is(err, amp.ErrShape) || !strings.Contains(err.Error(), "nn.KeyPaddingMask(s, mask)") {
			t.Errorf("batch %d: %v", batch, err)
		}
		if err := attend(batch, 3, nn.KeyPaddingMask(root, mask)); err != nil {
			t.Error(err)
		}
	}
	causal := nn.CausalMask(root, 3)
	for batch, mask := range map[int]*amp.Tensor{1: causal, 2: causal, 3: amp.Reshape(root, causal, 1, 3, 3), 4: causal} {
		if err := attend(batch, 3, mask); err != nil {
			t.Errorf("a pattern for a batch of %d: %v", batch, err)
		}
	}
	if err := attend(3, 3, amp.Zeros(root, amp.Float32, 3, 3)); err != nil { // floats are no padding
		t.Error(err)
	}
}

func TestMaskErrors(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	lengths := amp.From([]int64{1, 2})
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"lengths": {amp.ErrShape, func() { nn.LengthMask(root, amp.From([]int64{1, 2}, 1, 2), 3) }},
		"floats":  {amp.ErrDType, func() { nn.LengthMask(root, amp.From([]float32{1}), 3) }},
		"fewer":   {amp.ErrArgument, func() { nn.LengthMask(root, lengths, -1) }},
		"dtype":   {amp.ErrDType, func() { nn.KeyPaddingMask(root, lengths) }},
		"rank":    {amp.ErrShape, func() { nn.KeyPaddingMask(root, amp.From([]bool{true})) }},
	} {
		if err := amp.Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
