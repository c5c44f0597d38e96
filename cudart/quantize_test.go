package cudart_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestQuantizeOnDevice rounds to every format, to nearest and at random: the CPU's numbers exactly.
func TestQuantizeOnDevice(t *testing.T) {
	device := gpu(t)
	v := numbers(200, 1e-7, -1e-10, 70000, -500, 3e38)
	for _, dt := range []amp.DType{amp.Float16, amp.Float32, amp.Float64} {
		for _, f := range amp.Formats() {
			for name, q := range map[string]func(s *amp.Scope, x *amp.Tensor, f amp.Format) *amp.Tensor{"nearest": amp.Quantize, "random": amp.QuantizeStochastic} {
				want, got := onBoth(t, device, func(s *amp.Scope) *amp.Tensor { return q(s, placed(s, dt, v), f) })
				if i := farApart(want, got, 0, 0); i >= 0 {
					t.Errorf("%s %v to %v: element %d is %v, on the CPU %v", name, dt, f, i, got[i], want[i])
				}
			}
		}
	}
}
