package cudart_test

import (
	"errors"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestScalerWithoutMemory: a scaler that finds no memory when it is first used says so, keeps nothing, and goes on when there is some.
func TestScalerWithoutMemory(t *testing.T) {
	device := gpu(t)
	root := amp.NewScope(amp.On(device))
	defer root.Close()
	w := amp.Full(root, amp.Float32, 3, 4).RequireGrad()
	opt := optim.NewSGD([]*amp.Tensor{w}, optim.LR(0.5))
	scaler := amp.NewGradScaler()
	step := func() {
		for s := range root.Steps(1) {
			scaler.Scale(s, amp.Sum(s, w)).Backward()
			scaler.Step(opt)
			scaler.Update()
			opt.ZeroGrad()
		}
	}
	used := func() int64 { return amp.MemStats()[root.Device()].Bytes }
	const own = 4 + 8 + 4 + 8192 + 8 // bytes: scale, growth tracker, inverse, log and its length
	before, failed := used(), 0
	defer amp.MemoryLimit(root.Device(), 0)
	for _, room := range []int64{1, 5, 13, 17, 8209, 8217, 8221, 8225, 8229, 8233, 8237, 1 << 20} {
		amp.MemoryLimit(root.Device(), before+room)
		err := amp.Maybe(step)
		if err == nil {
			break
		}
		w.ZeroGrad()
		if left := used() - before; !errors.Is(err, amp.ErrMemory) || left != 0 && left < own || room < own && left != 0 {
			t.Fatalf("room for %d bytes, %d are left: %v", room, left, err)
		}
		failed++
	}
	if v := w.Float64s()[0]; failed < 6 || v != 2.5 {
		t.Errorf("failed %d times; the weight is %v", failed, v)
	}
}
