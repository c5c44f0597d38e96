package cudart_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

const twoEnv = "HALFTONE_TEST_TWO_DEVICES"

// TestCaptureBesideAnotherDevice: a step that is captured on one device may free what it has on another, and is refused where it works there,
// which no replay would do. The device captures again afterwards. A process of its own has two emulated devices.
func TestCaptureBesideAnotherDevice(t *testing.T) {
	if os.Getenv(twoEnv) == "" {
		if gpu(t); os.Getenv(cudart.ModeEnv) == "" {
			t.Skip("this machine has a GPU, and may have no compiler for the emulator, which makes two of it")
		}
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), twoEnv+"=1", cudart.ModeEnv+"="+cudart.ModeEmulator, "HALFTONE_EMULATOR=quiet=1,devices=2")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if err := amp.Maybe(func() { amp.NewScope(amp.On("cuda:1")).Close() }); err != nil {
		t.Fatal(err)
	}
	here, there := amp.NewScope(amp.On("cuda:0")), amp.NewScope(amp.On("cuda:1"))
	defer here.Close()
	defer there.Close()
	x, far := amp.Ones(here, amp.Float32, 4), amp.Ones(there, amp.Float32, 4)
	for what, step := range map[string]func(s *amp.Scope){
		"an op":           func(*amp.Scope) { amp.AddInPlace(there, far, far) },
		"a copy":          func(*amp.Scope) { amp.Assign(x, far) },
		"memory":          func(*amp.Scope) { amp.Zeros(there, amp.Float32, 4).Free() },
		"its own scope's": func(s *amp.Scope) { amp.Add(s, x, far.To(s)) },
	} {
		err := amp.Maybe(func() { here.Capture(step) })
		if !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), "captured on cuda:0 (emulated), and a replay would not do what it does on cuda:1") {
			t.Errorf("%s on the other device: %v", what, err)
		}
	}
	spare := []*amp.Tensor{amp.Ones(there, amp.Float32, 4), amp.Ones(there, amp.Float32, 4)}
	amp.SetValues(x, []float32{1, 1, 1, 1})
	g := here.Capture(func(s *amp.Scope) {
		amp.AddInPlace(s, x, x)
		spare[0].Free()
		spare = spare[1:]
	})
	defer g.Close()
	g.Replay()
	if got := x.Float64s(); got[0] != 4 {
		t.Errorf("after the first run and a replay: %v", got)
	}
	if got := amp.Sum(there, amp.Mul(there, far, far)).Item(); got == 0 {
		t.Errorf("the other device computes %v", got)
	}
}

// TestReplayAfterItsScope: what a step made in a scope that is closed is gone, and a replay says so.
func TestReplayAfterItsScope(t *testing.T) {
	root := amp.NewScope(amp.On(gpu(t)))
	defer root.Close()
	x := amp.Ones(root, amp.Float32, 3)
	var g *amp.Graph
	for s := range root.Steps(2) {
		if g == nil {
			g = s.Capture(func(s *amp.Scope) { amp.AddInPlace(s, x, amp.MulScalar(s, x, 1)) })
			g.Replay()
			continue
		}
		if err := amp.Maybe(g.Replay); !errors.Is(err, amp.ErrClosed) || !strings.Contains(err.Error(), "such as the root") {
			t.Errorf("%v", err)
		}
	}
	if got := x.Float64s(); got[0] != 4 {
		t.Errorf("%v", got)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
