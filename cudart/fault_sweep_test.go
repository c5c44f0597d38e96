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
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/emulator"
)

// Kernels that fail while they run: each_call_test.go has calls fail. The context is lost with them, so that each needs a process of its own.

// faultEnv makes the test binary a program in which the kernel of this number fails.
const faultEnv = "HALFTONE_TEST_FAULT"

// A faulted is what such a program came to.
type faulted struct {
	Fired         bool
	Err, After    string    // of the run with the fault, and of the one after it
	Losses, Again []float64 // theirs
}

// TestFaultProgram is the program.
func TestFaultProgram(t *testing.T) {
	at := os.Getenv(faultEnv)
	if at == "" {
		t.Skip("it is a part of TestKernelsFail")
	}
	path, err := emulator.Library()
	if err != nil {
		t.Fatal(err)
	}
	d, err := driver.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = amp.OpenDevice("cuda:0")
	check(err)
	text := func(err error) string {
		if err == nil {
			return ""
		}
		return err.Error()
	}
	var f faulted
	check(emulator.Control(d, "inject=kernel@"+at))
	f.Losses, err = wholeStep("cuda:0")
	f.Err = text(err)
	check(emulator.Control(d, "inject="))
	said, err := emulator.Report(d)
	check(err)
	f.Fired = strings.Contains(strings.Join(said, "\n"), "injected")
	f.Again, err = wholeStep("cuda:0")
	f.After = text(err)
	out, err := json.Marshal(f)
	check(err)
	fmt.Printf("\nFAULTED %s\n", out)
}

// withFault runs the program.
func withFault(t *testing.T, kernel int) faulted {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestFaultProgram$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", faultEnv, kernel), cudart.ModeEnv+"="+cudart.ModeEmulator, "HALFTONE_EMULATOR=quiet=1")
	out, err := cmd.CombinedOutput()
	_, line, ok := bytes.Cut(out, []byte("FAULTED "))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	var f faulted
	if err != nil || !ok || json.Unmarshal(line, &f) != nil {
		t.Errorf("kernel %d: %v\n%s", kernel, err, out[:min(len(out), 3000)])
	}
	return f
}

// TestKernelsFail has kernels of a training run fail, one at a time. The error says so in CUDA's words and what to do, and the next run fails as
// well, at once.
func TestKernelsFail(t *testing.T) { failKernels(t, 1, 3, 34) }

// failKernels does so with the kernels of these numbers.
func failKernels(t *testing.T, kernels ...int) {
	t.Helper()
	gpu(t)
	if os.Getenv(cudart.ModeEnv) != cudart.ModeEmulator {
		t.Skip("a real device has no faults on demand")
	}
	want := withFault(t, 1000000)
	if want.Fired || want.Err != "" || want.After != "" || len(want.Losses) != 4 || !slices.Equal(want.Losses, want.Again) {
		t.Fatalf("without a fault: %+v", want)
	}
	for _, k := range kernels {
		f := withFault(t, k)
		switch {
		case !f.Fired:
			t.Errorf("kernel %d: no fault came", k)
		case !strings.HasPrefix(f.Err, "amp: ") || !strings.Contains(f.Err, "CUDA_ERROR_"):
			t.Errorf("kernel %d: the error does not say what failed: %+v", k, f)
		case !strings.Contains(f.Err, "the CUDA context is lost") || !strings.Contains(f.Err, "start the program again") || f.After == "":
			t.Errorf("kernel %d: the device is lost, and the next run does not say so, or no advice is given: %+v", k, f)
		}
	}
}
