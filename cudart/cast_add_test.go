package cudart_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestSumsReadHalves: a sum with a tensor that is cast for it is one launch, and so is none of what the cast is wanted for besides.
func TestSumsReadHalves(t *testing.T) {
	device := gpu(t)
	const n = 56
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
		for name, c := range map[string]struct {
			run      func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor
			launches int64
		}{
			"right": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor { return []*amp.Tensor{amp.Add(s, x, h)} }, 1},
			"left":  {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor { return []*amp.Tensor{amp.Add(s, h, x)} }, 1},
			"of a row": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor {
				return []*amp.Tensor{amp.Add(s, amp.Narrow(s, x, 0, 7, 1), h)}
			}, 1},
			"with gaps": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor {
				return []*amp.Tensor{amp.Add(s, x, amp.Transpose(s, h, 0, 1))}
			}, 2},
			"spread": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor {
				return []*amp.Tensor{amp.Add(s, x, amp.Narrow(s, h, 0, 3, 1))}
			}, 1},
			"both halves": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor { return []*amp.Tensor{amp.Add(s, h, h)} }, 1},
			"kept": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor {
				c := amp.To(s, h, amp.Float32)
				return []*amp.Tensor{amp.Add(s, x, c), c}
			}, 2},
			"with itself": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor {
				c := amp.To(s, h, amp.Float32)
				return []*amp.Tensor{amp.Add(s, c, c), c}
			}, 2},
			"twice": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor {
				c := amp.To(s, h, amp.Float32)
				a := amp.Add(s, x, c)
				return []*amp.Tensor{a, amp.Add(s, c, a)}
			}, 3},
			"changed after": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor {
				c := amp.To(s, h, amp.Float32)
				a := amp.Add(s, x, c)
				amp.CopyInPlace(s, h, amp.MulScalar(s, h, 0))
				return []*amp.Tensor{a, c, h}
			}, 4},
			"freed": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor {
				c := amp.To(s, h, amp.Float32)
				a := amp.Add(s, x, c)
				c.Free()
				h.Free()
				return []*amp.Tensor{a, amp.MulScalar(s, a, 2), amp.Randn(s, amp.Float32, 0, 1, n, n)}
			}, 3},
			"two casts": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor {
				c, d := amp.To(s, h, amp.Float32), amp.To(s, amp.Narrow(s, h, 0, 0, 1), amp.Float32)
				return []*amp.Tensor{amp.Add(s, c, d), d}
			}, 2},
			"not wanted": {func(s *amp.Scope, x, h *amp.Tensor) []*amp.Tensor {
				amp.To(s, h, amp.Float32).Free()
				return []*amp.Tensor{amp.Neg(s, x)}
			}, 1},
		} {
			t.Run(fmt.Sprintf("%v %s", dt, name), func(t *testing.T) {
				run := func(on string) (out [][]float64, launches int64) {
					s := amp.NewScope(amp.On(on), amp.Seed(4)).NoGrad()
					defer s.Close()
					x, h := amp.Randn(s, amp.Float32, 0, 1, n, n), amp.To(s, amp.Randn(s, amp.Float32, 0, 1, n, n), dt)
					h.Float64s() // the cast that made it does not wait then
					before := cudart.CountsOf(device).Launches
					list := c.run(s, x, h)
					for _, y := range list {
						out = append(out, y.Float64s())
					}
					return out, cudart.CountsOf(device).Launches - before
				}
				want, _ := run("cpu")
				got, launches := run(device)
				for i := range want {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("result %d differs from the CPU's", i)
					}
				}
				if launches != c.launches {
					t.Errorf("%d launches, want %d", launches, c.launches)
				}
			})
		}
	}
}
