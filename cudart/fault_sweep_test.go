package cudart_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/emulator"
)

// faultEnv makes the test binary a program whose first calls to the driver meet a fault: "captured alloc@3".
const faultEnv = "HALFTONE_TEST_FAULT"

// A faulted is what such a program came to.
type faulted struct {
	Fired         bool
	Err, After    string    // of the run with the fault, and of the one after it
	Losses, Again []float64 // theirs
	Left          int64     // bytes of tensors when all is closed; a captured optimizer keeps its numbers
}

// trainOnce makes a model and takes three training steps, the last two as replays of a captured one, or with a trace that counts, as
// kind says.
func trainOnce(kind string) (losses []float64, err error) {
	var held []*amp.Tensor
	keep := func(t *amp.Tensor) *amp.Tensor { held = append(held, t); return t }
	root := amp.NewScope(amp.On("cuda:0"), amp.Seed(1))
	if kind == "traced" {
		root.Close()
		root = amp.NewScope(amp.On("cuda:0"), amp.Seed(1), amp.Record(amp.Health))
	}
	var opt *optim.SGD
	defer func() {
		root.Close()
		if opt != nil {
			for _, s := range opt.LiveState().Tensors {
				s.Free()
			}
		}
		for _, t := range held {
			t.ZeroGrad()
			t.Free()
		}
	}()
	err = amp.Maybe(func() {
		x, y := keep(amp.Randn(root, amp.Float32, 0, 1, 32, 8)), keep(amp.Randn(root, amp.Float32, 0, 1, 32, 1))
		w1, w2 := keep(amp.Randn(root, amp.Float32, 0, 0.5, 16, 8)).RequireGrad(), keep(amp.Randn(root, amp.Float32, 0, 0.5, 1, 16)).RequireGrad()
		opt = optim.NewSGD([]*amp.Tensor{w1, w2}, optim.LR(0.05), optim.Momentum(0.9))
		loss := keep(amp.Full(root, amp.Float32, 0))
		step := func(s *amp.Scope) {
			half := s.Autocast(amp.Float16)
			l := amp.MSELoss(half, amp.Linear(half, amp.ReLU(half, amp.Linear(half, x, w1, nil)), w2, nil), y)
			opt.ZeroGrad()
			l.Backward()
			opt.Step()
			amp.Assign(loss, l)
		}
		for s := range root.Steps(1) {
			step(s)
			losses = append(losses, loss.Item())
		}
		if kind != "captured" {
			for s := range root.Steps(2) {
				step(s)
				losses = append(losses, loss.Item())
			}
			return
		}
		g := root.Capture(step)
		defer g.Close()
		losses = append(losses, loss.Item())
		g.Replay()
		losses = append(losses, loss.Item())
	})
	return losses, err
}

// TestFaultProgram is the program.
func TestFaultProgram(t *testing.T) {
	kind, fault, ok := strings.Cut(os.Getenv(faultEnv), " ")
	if !ok {
		t.Skip("it is a part of TestFaults")
	}
	path, err := emulator.Library()
	if err != nil {
		t.Fatal(err)
	}
	d, err := driver.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := amp.OpenDevice("cuda:0"); err != nil {
		t.Fatal(err)
	}
	var f faulted
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	text := func(err error) string {
		if err == nil {
			return ""
		}
		return err.Error()
	}
	check(emulator.Control(d, "inject="+fault))
	f.Losses, err = trainOnce(kind)
	f.Err = text(err)
	check(emulator.Control(d, "inject="))
	said, err := emulator.Report(d)
	check(err)
	f.Fired = strings.Contains(strings.Join(said, "\n"), "injected")
	f.Again, err = trainOnce(kind)
	f.After = text(err)
	for name, m := range amp.MemStats() {
		if strings.HasPrefix(name, "cuda") {
			f.Left = m.Bytes
		}
	}
	out, err := json.Marshal(f)
	check(err)
	fmt.Printf("\nFAULTED %s\n", out)
}

// withFault runs the program.
func withFault(t *testing.T, kind, fault string) faulted {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestFaultProgram$")
	cmd.Env = append(os.Environ(), faultEnv+"="+kind+" "+fault, cudart.ModeEnv+"="+cudart.ModeEmulator, "HALFTONE_EMULATOR=quiet=1")
	out, err := cmd.CombinedOutput()
	_, line, ok := bytes.Cut(out, []byte("FAULTED "))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	var f faulted
	if err != nil || !ok || json.Unmarshal(line, &f) != nil {
		t.Errorf("%s %s: %v\n%s", kind, fault, err, out[:min(len(out), 3000)])
	}
	return f
}

// TestFaults has each of the first calls to the driver fail, one at a time. The error says what failed in CUDA's words; after one that leaves
// the device at work the same run is right, bit for bit, and nothing of the first one is left; after others it fails as well, at once.
func TestFaults(t *testing.T) { sweepFaults(t, []string{"captured", "traced"}, 1, 2) }

// sweepFaults does so in runs of these kinds, at these calls of each sort.
func sweepFaults(t *testing.T, kinds []string, calls ...int) {
	t.Helper()
	gpu(t)
	if os.Getenv(cudart.ModeEnv) != cudart.ModeEmulator {
		t.Skip("a real device has no faults on demand")
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			want := withFault(t, kind, "alloc@1000000")
			if want.Fired || want.Err != "" || want.Left > 64 || len(want.Losses) != 3 || !slices.Equal(want.Losses, want.Again) {
				t.Fatalf("without a fault: %+v", want)
			}
			for _, what := range []string{"alloc", "launch", "module", "copy", "sync", "kernel", "any"} {
				fired := 0
				for _, k := range calls {
					f := withFault(t, kind, fmt.Sprintf("%s@%d", what, k))
					if !f.Fired {
						break
					}
					fired++
					f.judge(t, fmt.Sprintf("%s, %s@%d", kind, what, k), want)
				}
				if fired == 0 {
					t.Errorf("%s, %s: no fault came", kind, what)
				}
			}
		})
	}
}

// judge compares a run with a fault with one without.
func (f *faulted) judge(t *testing.T, name string, want faulted) {
	t.Helper()
	lost := strings.Contains(f.Err, "the CUDA context is lost")
	switch {
	case f.Err == "" && !slices.Equal(f.Losses, want.Losses):
		t.Errorf("%s: no error, and other losses: %+v", name, f)
	case f.Err != "" && (!strings.HasPrefix(f.Err, "amp: ") || !strings.Contains(f.Err, "CUDA_ERROR_")):
		t.Errorf("%s: the error does not say what failed: %+v", name, f)
	case strings.Contains(f.Err, "device mismatch") || strings.Contains(f.Err, "no such device"):
		t.Errorf("%s: a failure is called a mistake of the program's: %+v", name, f)
	case strings.Contains(f.Err, "CUDA_ERROR_OUT_OF_MEMORY") && !strings.Contains(f.Err, ": out of memory: "):
		t.Errorf("%s: out of memory by another name: %+v", name, f)
	case lost && (f.After == "" || !strings.Contains(f.Err, "start the program again")):
		t.Errorf("%s: the device is lost, and the next run does not say so, or no advice is given: %+v", name, f)
	case !lost && (f.After != "" || !slices.Equal(f.Again, want.Losses)):
		t.Errorf("%s: the next run is not what it was without a fault: %+v", name, f)
	case !lost && f.Left > want.Left:
		t.Errorf("%s: %d bytes of tensors are left: %+v", name, f.Left, f)
	}
}
