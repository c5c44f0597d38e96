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
	lib, err := emulator.Build(ctx, emulator.Options{Kernels: drivertest.Sources})
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
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-tags=gorgonia_cu", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "HALFTONE_CUDA=emulator",
		"CGO_CFLAGS=-I"+filepath.Join(headers, "nvidia", "cuda_runtime", "include"),
		"CGO_LDFLAGS=-L"+dir+" -Wl,--unresolved-symbols=ignore-all -Wl,-z,lazy", "LD_LIBRARY_PATH="+dir)
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(strings.TrimSpace(line), "---") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestSuite") {
		t.Fatalf("%v\n%s", err, out)
	}
}
