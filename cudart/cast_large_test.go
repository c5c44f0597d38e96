package cudart

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestLargeCasts: a cast to halves that no cache holds is a launch of the kernel that writes past the cache, behind those that waited; smaller
// ones, and those to float32, go on waiting for each other.
func TestLargeCasts(t *testing.T) {
	r, _, root := onRecorder(t)
	s := root.NoGrad()
	small, large := amp.Zeros(s, amp.Float32, 1000), amp.Zeros(s, amp.Float32, streamedMap/2)
	halves := amp.Zeros(s, amp.Float16, streamedMap/2)
	amp.Neg(s, amp.To(s, halves, amp.Float32)) // the first of its kind makes room for what such casts tell
	r.list = nil
	for _, x := range []*amp.Tensor{small, small, large, small, small} {
		amp.To(s, x, amp.Float16)
	}
	amp.To(s, halves, amp.Float32)
	amp.Neg(s, small) // launches what waits
	var got []string
	for _, l := range r.list {
		got = append(got, l.kernel)
	}
	if want := []string{"casts_f32_f16", "cast_f32_f16", "casts_f32_f16", "casts_f16_f32", "neg_f32"}; !slices.Equal(got, want) {
		t.Errorf("launches %v, want %v", got, want)
	}
}
