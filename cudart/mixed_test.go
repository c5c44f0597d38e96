package cudart_test

import (
	"errors"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestMixedDevices: scalars of the CPU beside tensors of the device, gradients through copies in both directions, and what is refused.
func TestMixedDevices(t *testing.T) {
	device := gpu(t)
	here, there := amp.NewScope(amp.On("cpu"), amp.Seed(1)), amp.NewScope(amp.On(device))
	defer here.Close()
	defer there.Close()
	k := amp.Full(here, amp.Float32, 3).RequireGrad()
	x := amp.Randn(here, amp.Float32, 0, 1, 5, 7).RequireGrad()
	far := amp.Detach(here, x).To(there).RequireGrad()
	before := cudart.CountsOf(device)
	y := amp.Mul(there, amp.Exp(there, far), k)
	if now := cudart.CountsOf(device); now.Syncs != before.Syncs {
		t.Error("a scalar of the CPU made the host wait")
	}
	back := y.To(here)
	amp.Sum(here, amp.Mul(here, back, x)).Backward()
	for i, v := range amp.Values[float32](x) {
		want := 3 * math.Exp(float64(v))
		if g := amp.Values[float32](x.Grad())[i]; math.Abs(float64(g)-want) > 1e-5*want {
			t.Errorf("gradient %d on the CPU is %v, want %v", i, g, want)
		}
		if g := amp.Values[float32](far.Grad())[i]; math.Abs(float64(g)-want*float64(v)) > 1e-5*want*math.Abs(float64(v)) {
			t.Errorf("gradient %d on the device is %v, want %v", i, g, want*float64(v))
		}
	}
	if k.Grad().Device() != "cpu" || far.Grad().Device() != there.Device() {
		t.Errorf("gradients on %s and %s", k.Grad().Device(), far.Grad().Device())
	}
	if err := amp.Maybe(func() { amp.Mul(there, far, x) }); !errors.Is(err, amp.ErrDevice) {
		t.Error(err)
	}
	err := amp.Maybe(func() {
		there.NoGrad().Capture(func(s *amp.Scope) { amp.Mul(s, far, amp.Scalar(float32(2))) })
	})
	if !errors.Is(err, amp.ErrCapture) {
		t.Errorf("a scalar of the CPU in a captured step: %v", err)
	}
}
