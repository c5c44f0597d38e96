package cudart_test

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestCopiesTogether: copies that follow each other are few launches, and come out as one after the other, also where one reads what an
// earlier one wrote, or writes what an earlier one read.
func TestCopiesTogether(t *testing.T) {
	device := gpu(t)
	for _, dt := range []amp.DType{amp.Float16, amp.Float32, amp.Float64, amp.Int64, amp.Bool} {
		run := func(on string) (out [][]float64, launches int64) {
			s := amp.NewScope(amp.On(on), amp.Seed(4)).NoGrad()
			defer s.Close()
			number := func(n int) *amp.Tensor { return amp.To(s, amp.RandInt(s, 0, 2, n), dt) }
			all := number(9000) // pieces of it begin at odd places
			var to []*amp.Tensor
			sizes := []int{1, 7, 768, 768, 4096, 5000, 33}
			for i := range 100 {
				to = append(to, number(sizes[i%len(sizes)]))
			}
			chain := []*amp.Tensor{number(300), number(300), number(300)}
			before := cudart.CountsOf(device).Launches
			for i, x := range to {
				amp.CopyInPlace(s, x, amp.Narrow(s, all, 0, 3*i, x.Len()))
			}
			amp.Sum(s, amp.To(s, to[0], amp.Float32)).Item() // launches what waits
			launches = cudart.CountsOf(device).Launches - before
			amp.CopyInPlace(s, chain[0], amp.Narrow(s, all, 0, 11, 300))
			amp.CopyInPlace(s, chain[1], chain[0])                                                // of what was just written
			amp.CopyInPlace(s, chain[0], chain[2])                                                // over what was just read
			amp.CopyInPlace(s, amp.Narrow(s, chain[2], 0, 0, 30), amp.Narrow(s, to[6], 0, 3, 30)) // over a part of it
			for _, x := range append(to, chain...) {
				out = append(out, x.Float64s())
			}
			return out, launches
		}
		want, _ := run("cpu")
		got, launches := run(device)
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Fatalf("%v: tensor %d of %d elements differs from the CPU's", dt, i, len(want[i]))
			}
		}
		if launches > 6 { // two of copies, and what Sum takes
			t.Errorf("%v: %d launches for 100 copies", dt, launches)
		}
	}
}
