package cudart_test

import (
	"errors"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestCaptureThatFailsLeavesNothing: whether a step panics in its first run or when it is recorded, what it made is freed.
func TestCaptureThatFailsLeavesNothing(t *testing.T) {
	device := gpu(t)
	for name, c := range map[string]struct {
		on    string
		first bool
	}{"in the first run": {device, true}, "when it is recorded": {device, false}, "on the CPU": {"cpu", true}} {
		t.Run(name, func(t *testing.T) {
			root := amp.NewScope(amp.On(c.on))
			defer root.Close()
			x := amp.Full(root, amp.Float32, 2, 1000)
			used := func() int64 { return amp.MemStats()[root.Device()].Bytes }
			before := used()
			for range 3 {
				err := amp.Maybe(func() {
					root.Capture(func(s *amp.Scope) {
						y := amp.Add(s, amp.Dropout(s, x, 0.5), amp.Arange(s, amp.Float32, 0, 1000, 1))
						if c.first || amp.CapturingOn(x).Recording() {
							amp.Split(s, y, 7, 1)
						}
					})
				})
				if !errors.Is(err, amp.ErrArgument) && !errors.Is(err, amp.ErrShape) {
					t.Fatal(err)
				}
				if now := used(); now != before {
					t.Errorf("%d bytes before, %d after", before, now)
				}
			}
			if v := amp.Sum(root, x).Item(); v != 2000 {
				t.Errorf("the device computes %v afterwards", v)
			}
		})
	}
}
