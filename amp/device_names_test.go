package amp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestDeviceNames: a name is a kind and a number, and what is behind the number is no part of another one.
func TestDeviceNames(t *testing.T) {
	for _, name := range []string{"cpu", "cpu:0"} {
		if d, _, err := amp.OpenDevice(name); err != nil || d.Name() != "cpu" {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"cpu:", "cpu:x", "cpu:-1", "cpu:+0", "cpu:0,1", "cuda:0,1", "cuda:0x1", "cuda: 0"} {
		if _, _, err := amp.OpenDevice(name); err == nil || !strings.Contains(err.Error(), "must be a number") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestMemoryOfDevices: a limit holds for a device by each of its names, and memory that there was not is no peak.
func TestMemoryOfDevices(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	kind, _, _ := strings.Cut(s.Device(), ":")
	names := []string{kind, kind + ":0"}
	for i, name := range names {
		other := names[1-i]
		before := amp.MemoryLimit(name, amp.MemStats()[s.Device()].Bytes+100)
		err := amp.Maybe(func() { amp.Zeros(s, amp.Float32, 1000) })
		if !errors.Is(err, amp.ErrMemory) {
			t.Errorf("%s is not limited: %v", name, err)
		}
		if strings.Contains(err.Error(), "()") {
			t.Error(err)
		}
		if amp.MemoryLimit(other, before) == before {
			t.Errorf("%s is not %s", other, name)
		}
	}
	amp.ResetPeakMemory()
	peak := amp.MemStats()[s.Device()].Peak
	if err := amp.Maybe(func() { amp.Zeros(s, amp.Float32, 1<<44) }); !errors.Is(err, amp.ErrMemory) {
		t.Fatalf("64 TiB: %v", err)
	}
	if got := amp.MemStats()[s.Device()].Peak; got != peak {
		t.Errorf("a peak of %d bytes of memory that was not there, before %d", got, peak)
	}
	x := amp.Zeros(s, amp.Float32, 1000)
	x.Free()
	if got := amp.MemStats()[s.Device()].Peak; got < peak+4000 {
		t.Errorf("a peak of %d bytes, %d before 4000 more", got, peak)
	}
}

// TestMixturesAreToldOfTheCall: a mask on another device is told of where, not of a cast in it, and an optimizer whose parameters moved says
// how its state follows.
func TestMixturesAreToldOfTheCall(t *testing.T) {
	defer amp.SetDefaultDevice(amp.SetDefaultDevice("cpu")) // where a model is moved from
	cpu, far := pair(t)
	x, mask := amp.Ones(far, amp.Float32, 3), amp.Ones(cpu, amp.Bool, 3)
	if err := amp.Maybe(func() { amp.Where(far, mask, x, x) }); !errors.Is(err, amp.ErrDevice) || !strings.Contains(err.Error(), "amp: where: ") || !strings.Contains(err.Error(), "bring mask to remote") {
		t.Error(err)
	}
	if got := amp.Where(far, mask.To(far), x, amp.Zeros(cpu, amp.Float32)); amp.Sum(far, got).Item() != 3 {
		t.Errorf("with a number of the CPU: %v", got)
	}
	net := nn.NewLinear(cpu, 3, 3)
	opt := optim.NewAdam(net.Parameters())
	step := func(s *amp.Scope) {
		opt.ZeroGrad()
		amp.Sum(s, net.Forward(s, amp.Ones(s, amp.Float32, 1, 3))).Backward()
		opt.Step()
	}
	step(cpu)
	nn.To(far, net)
	if err := amp.Maybe(func() { step(far) }); !errors.Is(err, amp.ErrDevice) || !strings.Contains(err.Error(), "opt.LoadState(opt.State())") {
		t.Error(err)
	}
	if err := opt.LoadState(opt.State()); err != nil {
		t.Fatal(err)
	}
	step(far)
	if opt.Steps() < 2 {
		t.Errorf("%v", opt)
	}
}
