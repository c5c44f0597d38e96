package session_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/kernelext/session"
)

// far is a device whose memory the host does not reach.
type far struct{}

type farBuffer struct{ mem []byte }

func (b *farBuffer) Bytes() []byte { return nil }
func (b *farBuffer) Len() int      { return len(b.mem) }
func (b *farBuffer) Free()         {}

func (far) Name() string                        { return "far:0" }
func (far) Alloc(bytes int) (amp.Buffer, error) { return &farBuffer{make([]byte, bytes)}, nil }
func (far) Run(c *amp.Call) error               { return amp.RunOnHost(c, far{}) }
func (far) Sync() error                         { return nil }
func (far) CopyIn(d amp.Buffer, at int, src []byte) error {
	copy(d.(*farBuffer).mem[at:], src)
	return nil
}
func (far) CopyOut(dst []byte, s amp.Buffer, at int) error {
	copy(dst, s.(*farBuffer).mem[at:])
	return nil
}
func (far) Copy(d amp.Buffer, to int, s amp.Buffer, from, n int) error {
	copy(d.(*farBuffer).mem[to:to+n], s.(*farBuffer).mem[from:])
	return nil
}

func init() {
	amp.RegisterDevice("far", func(int) (amp.Device, error) { return far{}, nil })
	// on DEVICE N: N steps on a device.
	cells["on"] = func(args []string) {
		device = args[0]
		e := take()
		defer e.root.Close()
		n, _ := strconv.Atoi(args[1])
		t := session.Tensor("t", func(s *amp.Scope) *amp.Tensor { return amp.Full(s, amp.Float64, 1, 100, 100) })
		for s := range e.root.Steps(n) {
			e.step(s)
			amp.AddInPlace(s.NoGrad(), t, amp.Full(s, amp.Float64, 1))
		}
		fmt.Println(t.Device(), e.net.Parameters()[0].Device(), t.Float64s()[99], e.sum())
	}
}

// TestFarDevice: what lives on a device is there in the next cell as well, whichever device that one uses.
func TestFarDevice(t *testing.T) {
	whole, parts := newNotebook(t), newNotebook(t)
	want := whole.run("on", "far", 12)
	parts.run("on", "far", 5)
	parts.run("on", "far", 3)
	if got := parts.run("on", "far", 4); got != want || !strings.HasPrefix(got, "far:0 far:0 13 12 ") {
		t.Errorf("in cells %s, at once %s", got, want)
	}
	near := parts.run("on", "cpu", 0)
	if want := strings.Replace(want, "far:0 far:0", "cpu cpu", 1); near != want {
		t.Errorf("on the CPU %s, want %s", near, want)
	}
	n := newNotebook(t)
	n.run("on", "far", 2)
	if _, _, err := n.try("on", "cpu", 3); err != nil {
		t.Error(err)
	}
	if got := n.run("on", "far", 0); !strings.HasPrefix(got, "far:0 far:0 6 5 ") {
		t.Error(got)
	}
}
