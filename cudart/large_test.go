package cudart_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// indices are n numbers below size, as a tensor of a shape.
func indices(s *amp.Scope, r *rand.Rand, size int, shape ...int) *amp.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(r.IntN(size))
	}
	return placed(s, amp.Int64, out, shape...)
}

// inPieces are calls of what is launched in pieces where it is large.
var inPieces = map[string]func(s *amp.Scope, r *rand.Rand, x *amp.Tensor) *amp.Tensor{
	"gather": func(s *amp.Scope, r *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.Gather(s, x, 1, indices(s, r, 5, 3, 4, 7))
	},
	"index_select": func(s *amp.Scope, r *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.IndexSelect(s, x, 1, indices(s, r, 5, 9))
	},
	"index_select last": func(s *amp.Scope, r *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.IndexSelect(s, amp.Transpose(s, x, 0, 2), 2, indices(s, r, 3, 11))
	},
	"embedding": func(s *amp.Scope, r *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.Embedding(s, amp.Reshape(s, x, 15, 7), indices(s, r, 15, 4, 3))
	},
	"scatter": func(s *amp.Scope, r *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.Scatter(s, x, 1, indices(s, r, 5, 3, 4, 7), amp.Narrow(s, amp.AddScalar(s, x, 100), 1, 0, 4))
	},
	"scatter_value": func(s *amp.Scope, r *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.ScatterValue(s, x, 0, indices(s, r, 3, 2, 5, 7), 9)
	},
	"scatter_add": func(s *amp.Scope, r *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.ScatterAdd(s, x, 2, indices(s, r, 7, 3, 5, 6), amp.Narrow(s, x, 2, 1, 6))
	},
	"long lines": func(s *amp.Scope, r *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.ScatterAdd(s, amp.Reshape(s, x, 5, 21), 1, indices(s, r, 21, 5, 20), amp.Reshape(s, amp.IndexSelect(s, x, 0, list(s, 0, 1, 2)), 5, 21))
	},
	"tril": func(s *amp.Scope, _ *rand.Rand, x *amp.Tensor) *amp.Tensor { return amp.Tril(s, x, -1) },
	"triu": func(s *amp.Scope, _ *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.Triu(s, amp.Transpose(s, x, 1, 2), 1)
	},
	"one_hot": func(s *amp.Scope, r *rand.Rand, _ *amp.Tensor) *amp.Tensor {
		return amp.OneHot(s, indices(s, r, 6, 5, 8), 6)
	},
	"bucketize": func(s *amp.Scope, _ *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.Bucketize(s, amp.Transpose(s, x, 0, 1), placed(s, amp.Float32, []float64{-2, 0, 1, 3}, 4), false)
	},
	"index": func(s *amp.Scope, r *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.Index(s, x, indices(s, r, 3, 4, 1), indices(s, r, 5, 1, 6))
	},
	"broadcast": func(s *amp.Scope, _ *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.Mul(s, amp.Transpose(s, x, 0, 2), placed(s, amp.Float32, numbers(5), 5, 1))
	},
	"cast": func(s *amp.Scope, _ *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.To(s, amp.Transpose(s, x, 0, 1), amp.Float64)
	},
	"contiguous": func(s *amp.Scope, _ *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.Contiguous(s, amp.Transpose(s, x, 0, 2))
	},
	"masked_fill": func(s *amp.Scope, _ *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.MaskedFill(s, amp.Transpose(s, x, 0, 1), amp.Gt(s, amp.Transpose(s, x, 0, 1), amp.Full(s, amp.Float32, 0)), 4)
	},
	"leaky_relu": func(s *amp.Scope, _ *rand.Rand, x *amp.Tensor) *amp.Tensor {
		return amp.LeakyReLU(s, amp.Transpose(s, x, 0, 1), 0.25)
	},
}

// TestLaunchedInPieces: calls of more than so many elements give the same numbers in several launches, and refuse the same index.
func TestLaunchedInPieces(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device)).NoGrad()
	defer s.Close()
	for name, call := range inPieces {
		run := func(places, elements int) (out []float64, launches int64) {
			defer cudart.SetMost(places, elements)()
			if name == "long lines" {
				defer cudart.ShortLists(8)()
			}
			x := placed(s, amp.Float32, numbers(105), 3, 5, 7)
			before := cudart.CountsOf(device).Launches
			y := call(s, rand.New(rand.NewPCG(3, 4)), x)
			launches = cudart.CountsOf(device).Launches - before
			return y.Float64s(), launches
		}
		fell := cudart.Fallbacks()
		want, few := run(1<<31-1, 1<<32-1)
		for _, most := range []int{1, 6, 30, 31, 75} {
			places := most
			if name == "one_hot" || name == "long lines" { // whose indices, or lines, are not divided
				places = max(most, 20)
			}
			got, many := run(places, most)
			if i := farApart(want, got, 0, 0); i >= 0 {
				t.Errorf("%s in pieces of %d: number %d is %v, want %v", name, most, i, got[i], want[i])
			}
			if most == 1 && many < few+3 {
				t.Errorf("%s: %d launches, in pieces %d", name, few, many)
			}
		}
		if now := cudart.Fallbacks(); !maps.Equal(now, fell) {
			t.Errorf("%s ran on the host: %v, before %v", name, now, fell)
		}
	}
}

// TestRefusedInPieces: the place of an index out of range is that in the whole call, whichever piece it is in.
func TestRefusedInPieces(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device)).NoGrad()
	defer s.Close()
	defer cudart.SetMost(4, 4)()
	x := placed(s, amp.Float32, numbers(12), 4, 3)
	bad := list(s, 0, 1, 2, 0, 1, 2, 3, 9, 1)
	for name, c := range map[string]struct {
		call func() *amp.Tensor
		says string
	}{
		"embedding":    {func() *amp.Tensor { return amp.Embedding(s, x, bad) }, "index 7 is 9"},
		"index_select": {func() *amp.Tensor { return amp.IndexSelect(s, x, 0, bad) }, "index 7 is 9"},
		"gather":       {func() *amp.Tensor { return amp.Gather(s, x, 0, amp.Reshape(s, bad, 3, 3)) }, "index 7 is 9"},
		"scatter":      {func() *amp.Tensor { return amp.ScatterValue(s, x, 0, amp.Reshape(s, bad, 3, 3), 1) }, "index 7 is 9"},
		"one_hot":      {func() *amp.Tensor { return amp.OneHot(s, bad, 4) }, "index 7 is 9"},
		"index":        {func() *amp.Tensor { return amp.Index(s, x, bad, list(s, 0)) }, "index 7 of dimension 0 is 9"},
	} {
		y := c.call()
		if err := amp.Maybe(func() { y.Float64s() }); !errors.Is(err, amp.ErrArgument) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, without %q", name, err, c.says)
		}
	}
}
