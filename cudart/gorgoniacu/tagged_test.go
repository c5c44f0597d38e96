//go:build !gorgonia_cu && linux && amd64

package gorgoniacu

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver/drivertest"
	"github.com/halftone-ml/halftone/cudart/emulator"
	"github.com/halftone-ml/halftone/cudart/internal/wheel"
)

// TestTagged runs the tests behind the build tag: the package is compiled against NVIDIA's headers of CUDA 12 and linked with the
// emulator, which is no whole libcuda: what gorgonia.org/cu names and never calls here is left unresolved.
func TestTagged(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("cgo needs gcc: ", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	headers, err := wheel.Fetch(ctx, wheel.CUDA12Headers)
	if err != nil {
		t.Fatal(err)
	}
	suite := library(t, ctx, emulator.Options{Kernels: drivertest.Sources})
	program := filepath.Join(t.TempDir(), "gorgoniacu.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", program, "-tags=gorgonia_cu", ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS=-I"+filepath.Join(headers, "nvidia", "cuda_runtime", "include"),
		"CGO_LDFLAGS=-L"+suite+" -Wl,--unresolved-symbols=ignore-all -Wl,-z,lazy")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run(t, ctx, program, "^(TestSuite|TestUnsupported)$", "LD_LIBRARY_PATH="+suite)
	run(t, ctx, program, "^TestStep$", "LD_LIBRARY_PATH="+library(t, ctx, emulator.Options{}), cudart.ModeEnv+"="+cudart.ModeEmulator)
}

// library returns a folder with the emulator as libcuda.so, to link with, and as libcuda.so.1, to run with.
func library(t *testing.T, ctx context.Context, o emulator.Options) string {
	lib, err := emulator.Build(ctx, o)
	if errors.Is(err, emulator.ErrUnavailable) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"libcuda.so", "libcuda.so.1"} {
		if err := os.Symlink(lib, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run runs tests of the tagged program, which must pass and not be skipped.
func run(t *testing.T, ctx context.Context, program, tests string, env ...string) {
	cmd := exec.CommandContext(ctx, program, "-test.v", "-test.run="+tests)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	passed := 0
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "---") {
			t.Log(line)
		}
		if strings.HasPrefix(line, "--- PASS") {
			passed++
		}
	}
	if err != nil || passed == 0 || strings.Contains(string(out), "--- SKIP") {
		t.Fatalf("%d passed, %v\n%s", passed, err, out)
	}
}
