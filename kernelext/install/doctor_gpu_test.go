package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart/libraries"
)

func TestGPUParts(t *testing.T) {
	root := t.TempDir()
	look := func() []Part { return gpuParts("", libraries.DiscoverIn(func(string) string { return "" }, root)) }
	parts := look()
	if len(parts) != 1 || parts[0].Status != OK || !strings.Contains(parts[0].Version, "CPU") {
		t.Fatalf("without a driver: %+v", parts)
	}
	dir := filepath.Join(root, "usr", "lib64")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"libcuda.so.1", "libcublas.so.12"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parts = look()
	if len(parts) != 5 || parts[0].Path != filepath.Join(dir, "libcuda.so.1") || parts[1].Name != "cublas" || parts[1].Version != "12" || !Healthy(parts) {
		t.Errorf("with a driver: %+v", parts)
	}
	for _, p := range parts[2:] {
		if p.Status != Missing || !strings.Contains(p.Fix, "pip install nvidia-") {
			t.Errorf("%+v", p)
		}
	}
}

// TestModePart: the doctor says what HALFTONE_CUDA is set to, and leaves it out where it is not.
func TestModePart(t *testing.T) {
	driver := []libraries.Library{{Name: "libcuda", Required: true, Path: "/lib/libcuda.so.1"}}
	for _, c := range []struct{ mode, status, detail, fix string }{
		{"emulator", OK, "run cuda:0 on the CPU", ""},
		{"emulated", Broken, `only "emulator" is a mode`, "unset HALFTONE_CUDA"},
	} {
		parts := gpuParts(c.mode, driver)
		if len(parts) != 2 || parts[0].Version != "HALFTONE_CUDA="+c.mode || parts[0].Status != c.status || !strings.Contains(parts[0].Detail, c.detail) || parts[0].Fix != c.fix {
			t.Errorf("%s: %+v", c.mode, parts)
		}
	}
	if parts := gpuParts("", driver); len(parts) != 1 || parts[0].Name != "GPU driver" {
		t.Errorf("without a mode: %+v", parts)
	}
}
