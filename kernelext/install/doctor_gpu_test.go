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
	look := func() []Part { return gpuParts(libraries.DiscoverIn(func(string) string { return "" }, root)) }
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
