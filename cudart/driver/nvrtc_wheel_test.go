//go:build linux && amd64

package driver_test

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/internal/wheel"
	"github.com/halftone-ml/halftone/cudart/kernels"
)

// TestNVRTC is NVIDIA's own compiler, which needs no GPU.
func TestNVRTC(t *testing.T) {
	dir, err := wheel.Fetch(t.Context(), wheel.NVRTC)
	if err != nil {
		t.Skipf("needs NVIDIA's wheel with NVRTC, and it can't be had here: %v", err)
	}
	n, err := driver.OpenNVRTC(filepath.Join(dir, "nvidia", "cuda_nvrtc", "lib", "libnvrtc.so.12"))
	if err != nil {
		t.Fatal(err)
	}
	if archs := n.Archs(); n.Version() != "12.4" || len(archs) < 5 || archs[len(archs)-1] != 90 {
		t.Errorf("version %s, for %v", n.Version(), archs)
	}
	c := &driver.Cache{Dir: t.TempDir()}
	src := driver.Source{Name: "cell.cu", Arch: 90, Headers: map[string]string{"count.h": "typedef int count;"},
		Text: "#include \"count.h\"\nextern \"C\" __global__ void twice(float* x, count n) {\n  int unused;\n  if (threadIdx.x < n) x[threadIdx.x] *= 2;\n}\n"}
	for round := range 2 {
		code, err := n.Compile(src, c)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(code.Image, []byte("\x7fELF")) || code.Cached != (round == 1) || code.CacheError != nil {
			t.Errorf("round %d: an image that begins with %q, cached %v, %v", round, code.Image[:8], code.Cached, code.CacheError)
		}
		if d := code.Diagnostics; len(d) != 1 || d[0].Severity != "warning" || d[0].Line != 3 || d[0].File != "cell.cu" || !strings.Contains(d[0].Source, "int unused;") {
			t.Errorf("round %d: %+v", round, d)
		}
	}
	src.Arch = 120 // newer than this compiler: PTX, for the driver to translate
	if code, err := n.Compile(src, c); err != nil || !bytes.Contains(code.Image, []byte(".target sm_90")) {
		t.Errorf("%.200s, %v", code.Image, err)
	}
	src.Arch = 80
	src.Text = "extern \"C\" __global__ void k(float* x) {\n  x[0] = y;\n  f(1);\n}\n"
	var ce *driver.CompileError
	if _, err := n.Compile(src, c); !errors.As(err, &ce) || len(ce.Diagnostics) != 2 || ce.Diagnostics[0].Line != 2 || ce.Diagnostics[1].Line != 3 ||
		!strings.Contains(err.Error(), "cell.cu:2: error: identifier \"y\" is undefined\n\tx[0] = y;") {
		t.Errorf("%v", err)
	}
	var e *driver.Error
	src.Options = []string{"--no-such-option"}
	if _, err := n.Compile(src, nil); !errors.As(err, &e) || e.Name != "NVRTC_ERROR_INVALID_OPTION" || !strings.Contains(err.Error(), "--no-such-option") {
		t.Error(err)
	}
}

// TestNVRTCTakesOurKernels compiles units of Halftone's kernels with NVIDIA's compiler: a cell may start from their source.
func TestNVRTCTakesOurKernels(t *testing.T) {
	dir, err := wheel.Fetch(t.Context(), wheel.NVRTC)
	if err != nil {
		t.Skipf("needs NVIDIA's wheel with NVRTC, and it can't be had here: %v", err)
	}
	n, err := driver.OpenNVRTC(filepath.Join(dir, "nvidia", "cuda_nvrtc", "lib", "libnvrtc.so.12"))
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string]string{}
	files, err := fs.Glob(kernels.Sources, "*.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := fs.ReadFile(kernels.Sources, f)
		if err != nil {
			t.Fatal(err)
		}
		headers[f] = string(b)
	}
	for _, unit := range []string{"cast", "scaler", "clip"} { // the others take minutes, and were compiled by hand
		b, err := fs.ReadFile(kernels.Sources, unit+".cu")
		if err != nil {
			t.Fatal(err)
		}
		code, err := n.Compile(driver.Source{Name: unit + ".cu", Text: string(b), Headers: headers, Options: []string{"--fmad=false", "--device-int128"}, Arch: 90}, nil)
		if err != nil || len(code.Image) < 1000 {
			t.Errorf("%s: %d bytes, %v", unit, len(code.Image), err)
		}
	}
}
