package amp

import (
	"errors"
	"strings"
	"testing"
)

// TestSetGradRefuses: a gradient is like its tensor, as PyTorch demands: in another dtype, passes would be added in that dtype and overflow there.
func TestSetGradRefuses(t *testing.T) {
	w := From([]float32{1, 2}).SetName("w").RequireGrad()
	g := From([]float32{3, 4})
	w.SetGrad(g)
	for _, c := range []struct {
		g    *Tensor
		kind error
		says []string
	}{
		{FromFloat64s(Float16, []float64{1, 2}), ErrDType, []string{`"w"`, "is float32", "gradient float16", "convert it to float32 with amp.To"}},
		{FromFloat64s(Float64, []float64{1, 2}), ErrDType, []string{"gradient float64"}},
		{From([]int64{1, 2}), ErrDType, []string{"gradient int64"}},
		{From([]float32{1, 2, 3}), ErrShape, []string{`"w"`, "[2]", "[3]"}},
	} {
		err := Maybe(func() { w.SetGrad(c.g) })
		if !errors.Is(err, c.kind) {
			t.Fatalf("%v %v: %v", c.g.dt, c.g.shape, err)
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v\ndoes not say %q", err, part)
			}
		}
	}
	if w.SetGrad(w.Grad()); w.Grad() != g || g.Float64s()[1] != 4 {
		t.Error("the gradient that it had is gone")
	}
	if w.SetGrad(nil); w.Grad() != nil {
		t.Error("not removed")
	}
}
