package optim_test

import (
	"errors"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestStepWithoutMemory: a step that finds no memory for a part of its state leaves none of it behind, and can be taken later.
func TestStepWithoutMemory(t *testing.T) {
	s := amp.NewScope(amp.On("cpu"))
	defer s.Close()
	w := amp.Full(s, amp.Float32, 1, 1000).SetName("w").RequireGrad()
	defer w.Free()
	opt := optim.NewAdam([]*amp.Tensor{w})
	amp.Sum(s, amp.Mul(s, w, w)).Backward()
	used := func() int64 { return amp.MemStats()["cpu"].Bytes }
	before := used()
	defer amp.MemoryLimit("cpu", amp.MemoryLimit("cpu", before+6000)) // for one of two averages
	for range 3 {
		if err := amp.Maybe(opt.Step); !errors.Is(err, amp.ErrMemory) {
			t.Fatal(err)
		}
		if now := used(); now != before || opt.Steps() != 0 {
			t.Errorf("%d bytes before, %d after; %d steps", before, now, opt.Steps())
		}
	}
	amp.MemoryLimit("cpu", 0)
	opt.Step()
	if v := w.Float64s()[7]; !(v < 1) || opt.Steps() != 1 {
		t.Errorf("the weight is %v after %d steps", v, opt.Steps())
	}
}
