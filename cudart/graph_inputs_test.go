package cudart_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestReplayKnowsWhatAssignUses: memory that a captured step reads or changes outside of ops is looked after, too: a replay refuses to touch it
// once it is another tensor's.
func TestReplayKnowsWhatAssignUses(t *testing.T) {
	device := gpu(t)
	for _, freed := range []string{"source", "destination"} {
		t.Run(freed, func(t *testing.T) {
			root := amp.NewScope(amp.On(device))
			defer root.Close()
			from, to := amp.Ones(root, amp.Float32, 1000).SetName("from"), amp.Zeros(root, amp.Float32, 1000)
			g := root.Capture(func(s *amp.Scope) {
				amp.Assign(to, from)
				amp.Assign(to, amp.Full(s, amp.Float32, 7, 1000))
			})
			defer g.Close()
			g.Replay()
			if got, want := g.String(), "uses 2 tensors from outside and changes 1 of them"; !strings.Contains(got, want) {
				t.Errorf("%s, want %q", got, want)
			}
			gone := map[string]*amp.Tensor{"source": from, "destination": to}[freed]
			gone.Free()
			var others []*amp.Tensor // of which one has its memory
			for range 20 {
				others = append(others, amp.Ones(root, amp.Float32, 1000))
			}
			if err := amp.Maybe(g.Replay); !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), "shape [1000] that the step uses was freed") {
				t.Errorf("a replay: %v", err)
			}
			for i, o := range others {
				if v := o.Float64s(); v[0] != 1 || v[999] != 1 {
					t.Fatalf("tensor %d was overwritten: %v", i, v[0])
				}
			}
		})
	}
}

// TestUnplayedIsNotRead: what a recording made holds nothing before the first replay, and says so.
func TestUnplayedIsNotRead(t *testing.T) {
	root := amp.NewScope(amp.On(gpu(t)))
	defer root.Close()
	x, kept := amp.Full(root, amp.Float32, 2, 3), amp.Zeros(root, amp.Float32)
	var y *amp.Tensor
	printed := []string{}
	g := root.Capture(func(s *amp.Scope) {
		y = amp.Sum(s, amp.Mul(s, x, x))
		amp.Assign(kept, y)
		printed = append(printed, fmt.Sprint(y))
	})
	defer g.Close()
	if want := []string{"12 float32 []", "(no values while a step is captured) float32 []"}; !slices.Equal(printed, want) {
		t.Errorf("printed in the step: %q, want %q", printed, want)
	}
	if got := y.String(); got != "(no values before the first Replay) float32 []" {
		t.Errorf("printed: %s", got)
	}
	for what, read := range map[string]func(){"Item": func() { y.Item() }, "CPU": func() { y.CPU() }, "Float64s": func() { y.Float64s() }} {
		if err := amp.Maybe(read); !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), "call Replay first") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if kept.Item() != 12 {
		t.Errorf("what the first run assigned: %v", kept)
	}
	amp.SetValues(x, []float32{1, 2, 3})
	g.Replay()
	if y.Item() != 14 || kept.Item() != 14 || y.String() != "14 float32 []" {
		t.Errorf("replayed: %v, %v", y, kept)
	}
}
