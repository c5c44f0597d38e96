package session_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/kernelext/session"
)

// far is a device whose memory the host does not reach. It does its work at once, and takes it for done when it is waited for.
type far struct{}

// Whether the far device has work that nobody has waited for; how often Sync waited, and how often a copy to the host had to.
var (
	farQueued           bool
	farSyncs, farCopies int
)

type farBuffer struct{ mem []byte }

func (b *farBuffer) Bytes() []byte { return nil }
func (b *farBuffer) Len() int      { return len(b.mem) }
func (b *farBuffer) Free()         {}

func (far) Name() string                        { return "far:0" }
func (far) Alloc(bytes int) (amp.Buffer, error) { return &farBuffer{make([]byte, bytes)}, nil }
func (far) Run(c *amp.Call) error {
	err := amp.RunOnHost(c, far{})
	farQueued = true
	return err
}
func (far) Sync() error {
	if farQueued {
		farQueued = false
		farSyncs++
	}
	return nil
}
func (far) CopyIn(d amp.Buffer, at int, src []byte) error {
	copy(d.(*farBuffer).mem[at:], src)
	return nil
}
func (far) CopyOut(dst []byte, s amp.Buffer, at int) error {
	copy(dst, s.(*farBuffer).mem[at:])
	if farQueued {
		farQueued = false
		farCopies++
	}
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

func init() {
	// mirrored: a large and a small tensor change in each step, and the cell says who waited for the device in commits.
	cells["mirrored"] = func([]string) {
		root := session.NewScope(amp.On("far"))
		defer root.Close()
		var kept []*amp.Tensor
		for _, n := range []int{1 << 14, 4} {
			kept = append(kept, session.Tensor(fmt.Sprint("t", n), func(s *amp.Scope) *amp.Tensor { return amp.Full(s, amp.Float32, 1, n) }))
		}
		one := amp.Full(root, amp.Float32, 1)
		change := func() {
			for _, t := range kept {
				amp.AddInPlace(root.NoGrad(), t, one)
			}
			farQueued, farSyncs, farCopies = true, 0, 0
		}
		for range root.Steps(1) { // the first step is always committed
			change()
		}
		fmt.Println(farSyncs > 0, farCopies)
		change()
		if err := session.Commit(); err != nil {
			fmt.Println(err)
		}
		fmt.Println(farSyncs > 0, farCopies)
	}
}

// TestMirrorsArriveFirst: where a device's memory is not shared, commits wait until it has done what was queued before their copies do:
// that wait would else be taken for their cost, and they came more rarely than is meant.
func TestMirrorsArriveFirst(t *testing.T) {
	if got := newNotebook(t).run("mirrored"); got != "true 0\ntrue 0\n" {
		t.Errorf("%q", got)
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
