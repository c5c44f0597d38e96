package cudart_test

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestCastsTogether: casts that follow each other are one launch, also of tensors at odd places, and of what an earlier one made none.
func TestCastsTogether(t *testing.T) {
	device := gpu(t)
	for _, half := range []amp.DType{amp.Float16, amp.BFloat16} {
		for _, to := range []amp.DType{half, amp.Float32} {
			run := func(on string) (out [][]float64, launches int64) {
				s := amp.NewScope(amp.On(on), amp.Seed(4)).NoGrad()
				defer s.Close()
				from := amp.Float32
				if to == amp.Float32 {
					from = half
				}
				all := amp.To(s, amp.Randn(s, amp.Float64, 0, 300, 12000), from)
				all.Float64s()
				before := cudart.CountsOf(device).Launches
				var list []*amp.Tensor
				for i, n := range []int{768, 9000, 4096, 8192, 1, 0, 33} {
					list = append(list, amp.To(s, amp.Narrow(s, all, 0, 8*i, n), to), amp.To(s, amp.Narrow(s, all, 0, 3*i+1, n), to))
				}
				list[3].Free() // nobody wants it
				list = slices.Delete(list, 3, 4)
				list = append(list, amp.To(s, list[0], from)) // of what waits
				for _, x := range list {
					out = append(out, x.Float64s())
				}
				return out, cudart.CountsOf(device).Launches - before
			}
			want, _ := run("cpu")
			got, launches := run(device)
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Fatalf("to %v: tensor %d of %d elements differs from the CPU's", to, i, len(want[i]))
				}
			}
			if launches != 2 {
				t.Errorf("to %v: %d launches, want 2", to, launches)
			}
		}
	}
}
