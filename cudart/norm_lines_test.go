package cudart_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// manyLines is a residual block whose norm has lines of n numbers, under autocast or not; it returns the gradients of x, weight and bias.
func manyLines(on string, dt amp.DType, norm string, lines, n int) (out [3][]float64) {
	s := amp.NewScope(amp.On(on), amp.Seed(5))
	defer s.Close()
	draw := func(i int, shape ...int) *amp.Tensor { return drawn(s, dt, i, 1, shape...) }
	in := []*amp.Tensor{draw(0, lines, n), draw(1, n), draw(2, n)}
	h := amp.MulScalar(s, in[0], 1.5)
	y := amp.LayerNorm(s, h, in[1], in[2], 1e-5)
	if norm == "rms_norm" {
		y = amp.RMSNorm(s, h, in[1], 1e-5)
		in = in[:2]
	}
	y = amp.Add(s, h, y)
	dy := amp.Detach(s, draw(3, lines, n))
	for i, g := range amp.Grad(s, []*amp.Tensor{y}, in, amp.GradOutputs(dy)) {
		out[i] = g.Float64s()
	}
	return out
}

// TestNormsOfManyLines: blocks, and warps, take many lines each, as those of large networks do.
func TestNormsOfManyLines(t *testing.T) {
	device := gpu(t)
	defer cudart.SetWholeProcessors(1)()
	for dt, eps := range map[amp.DType]float64{amp.Float16: 0x1p-9, amp.Float32: 0x1p-20, amp.Float64: 0x1p-46} {
		for _, n := range []int{8, 100, 132, 768, 1024, 2048, 4096} {
			for _, norm := range []string{"layer_norm", "rms_norm"} {
				t.Run(fmt.Sprintf("%v %s of %d", dt, norm, n), func(t *testing.T) {
					lines := 30000/n + 37
					want, before := manyLines("cpu", dt, norm, lines, n), cudart.Fallbacks()
					got := manyLines(device, dt, norm, lines, n)
					if !maps.Equal(before, cudart.Fallbacks()) {
						t.Errorf("on the host ran %v", cudart.Fallbacks())
					}
					compareLists(t, want[:], got[:], eps)
				})
			}
		}
	}
}

// TestNormsOfAnyWidth: lines as long as a lane's registers, a warp or a block can keep, and a vector or an element more or less, shared by a
// warp or a block, with and without weight and bias.
func TestNormsOfAnyWidth(t *testing.T) {
	device := gpu(t)
	for _, many := range []int64{1, 1 << 40} {
		defer cudart.SetManyLines(many)()
		for dt, v := range map[amp.DType]int{amp.Float16: 8, amp.BFloat16: 8, amp.Float32: 4, amp.Float64: 2} {
			for _, vectors := range []int{1, 32, 128, 192, 256, 512, 1024} {
				for _, more := range []int{-v, -1, 0, 1, v} {
					t.Run(fmt.Sprintf("%v %d%+d many from %d", dt, vectors*v, more, many), func(t *testing.T) {
						for _, lines := range []int{1, 11} {
							normsOfWidth(t, device, dt, lines, max(1, vectors*v+more))
						}
					})
				}
			}
		}
	}
}

// normsOfWidth compares norms of lines of n numbers, far from zero, on a device with those of the CPU.
func normsOfWidth(t *testing.T, device string, dt amp.DType, lines, n int) {
	t.Helper()
	run := func(on string) (out [][]float64) {
		s := amp.NewScope(amp.On(on), amp.Seed(7))
		defer s.Close()
		x := amp.To(s, amp.AddScalar(s, drawn(s, amp.Float32, 0, 1, lines, n), 3), dt)
		w, b := drawn(s, dt, 1, 1, n), drawn(s, dt, 2, 1, n)
		for _, y := range []*amp.Tensor{
			amp.LayerNorm(s, x, w, b, 1e-5), amp.LayerNorm(s, x, w, nil, 1e-5), amp.LayerNorm(s, x, nil, nil, 1e-5),
			amp.RMSNorm(s, x, w, 1e-5), amp.RMSNorm(s, x, nil, 1e-5),
		} {
			out = append(out, y.Float64s())
		}
		return out
	}
	want, before := run("cpu"), cudart.Fallbacks()
	got := run(device)
	if !maps.Equal(before, cudart.Fallbacks()) {
		t.Errorf("on the host ran %v", cudart.Fallbacks())
	}
	eps := map[amp.DType]float64{amp.Float16: 0x1p-10, amp.BFloat16: 0x1p-7, amp.Float32: 0x1p-20, amp.Float64: 0x1p-46}[dt]
	compareLists(t, want, got, eps)
}
