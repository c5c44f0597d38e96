package cudart_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestTraceHasDeviceTimes: a recorded step does not wait for the device, and its trace has the device's times of its ops.
func TestTraceHasDeviceTimes(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device), amp.Record(amp.Decisions))
	defer s.Close()
	x := amp.Full(s, amp.Float32, 1, 256, 256)
	amp.MatMul(s, x, x)
	before := cudart.CountsOf(device)
	const ops = 700 // more than the recorder keeps in one block
	for range ops {
		amp.Exp(s, x)
	}
	if now := cudart.CountsOf(device); now.Syncs != before.Syncs {
		t.Errorf("the host waited %d times", now.Syncs-before.Syncs)
	}
	timed := 0
	for _, e := range s.Trace().Events {
		if e.Op == "exp" && e.NS > 0 && e.NS < 1e9 {
			timed++
		}
	}
	if timed < ops*9/10 { // the resolution is half a microsecond
		t.Errorf("%d of %d ops have a time", timed, ops)
	}
}
