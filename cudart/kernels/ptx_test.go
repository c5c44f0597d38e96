package kernels

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart/internal/wheel"
	"github.com/halftone-ml/halftone/cudart/kernels/internal/made"
)

// TestPTXIsOfTheseSources compares what the generator noted of sources and modules, unit by unit, with what lies here now.
func TestPTXIsOfTheseSources(t *testing.T) {
	ptx, err := fs.Sub(modules, "ptx")
	if err != nil {
		t.Fatal(err)
	}
	noted, err := fs.ReadFile(ptx, made.Name)
	if err != nil {
		t.Fatalf("%v; run go generate ./cudart/kernels", err)
	}
	now, err := made.Text(os.DirFS("."), ptx)
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Split(string(noted), "\n")
	for line := range strings.Lines(now) {
		if unit, _, _ := strings.Cut(line, " "); !slices.Contains(before, strings.TrimSuffix(line, "\n")) {
			t.Errorf("unit %s: the module is not what was made, or not of this source: run go generate ./cudart/kernels", unit)
		}
	}
	if a, b := len(before), strings.Count(now, "\n")+1; a != b || a < 5 {
		t.Errorf("%s has %d lines, and there are %d units: run go generate ./cudart/kernels", made.Name, a-1, b-1)
	}
}

// unpacked reads a file, and uncompresses it if it is compressed: Go versions compress differently.
func unpacked(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return data, err
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

var ptxTarget = regexp.MustCompile(`(?m)^\.version (\d+)\.(\d+)\n\.target sm_(\d+)(a?)\n`)

// modulesOf calls f with every module and the architecture that it is for.
func modulesOf(t *testing.T, f func(file string, ptx []byte, target, version string)) {
	t.Helper()
	files, err := fs.Glob(modules, "ptx/*.ptx.gz")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d modules, %v", len(files), err)
	}
	for _, file := range files {
		ptx, err := unpacked(file)
		if err != nil {
			t.Fatal(err)
		}
		m := ptxTarget.FindSubmatch(ptx)
		if m == nil {
			t.Errorf("%s begins with %q", file, ptx[:min(60, len(ptx))])
			continue
		}
		f(file, ptx, string(m[3])+string(m[4]), string(m[1])+"."+string(m[2]))
	}
}

// TestPTXVersions: modules are of the lowest version of PTX that has what they use. TestPTXAssembles gives them to NVIDIA's assembler.
func TestPTXVersions(t *testing.T) {
	modulesOf(t, func(file string, _ []byte, target, version string) {
		if want := map[bool]string{false: "7.0", true: "8.0"}[target == "90a"]; version != want {
			t.Errorf("%s is PTX %s, not %s: drivers older than that can't load it", file, version, want)
		}
	})
}

// assembler returns the path of ptxas, or skips the test.
func assembler(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("NVIDIA's wheel with ptxas is for Linux on amd64")
	}
	dir, err := wheel.Fetch(t.Context(), wheel.PTXAS)
	if err != nil {
		t.Skipf("needs NVIDIA's wheel with ptxas, and it can't be had here: %v", err)
	}
	return filepath.Join(dir, "nvidia", "cuda_nvcc", "bin", "ptxas")
}

// TestWarpgroupsOverlap: products of warpgroups keep their sums in registers, and the assembler leaves one under way while the next begins. Where it
// can't, it says "serialized", and the tensor cores wait.
func TestWarpgroupsOverlap(t *testing.T) {
	ptxas := assembler(t)
	for _, layout := range []string{"kk", "kn", "mk", "mn"} {
		ptx, err := Kernel("gemm_wgmma_"+layout+"_f16", 90)
		if err != nil || ptx == nil {
			t.Fatalf("%s: %v", layout, err)
		}
		cmd := exec.CommandContext(t.Context(), ptxas, "-v", "-arch=sm_90a", "-o", os.DevNull, "-")
		cmd.Stdin = bytes.NewReader(ptx)
		out, err := cmd.CombinedOutput()
		if said := string(out); err != nil || strings.Contains(said, "serialized") || !strings.Contains(said, " 0 bytes spill stores, 0 bytes spill loads") {
			t.Errorf("%s: %v\n%s", layout, err, said)
		}
	}
}

// TestIndex: a kernel is found in its unit's module.
func TestIndex(t *testing.T) {
	n := 0
	Symbols(func(symbol, unit string) {
		n++
		if n%40 != 0 {
			return
		}
		ptx, err := PTX(unit, 90)
		if err != nil || !bytes.Contains(ptx, []byte(".entry "+symbol+"(")) {
			t.Errorf("%s is not in unit %s: %v", symbol, unit, err)
		}
	})
	if n < 100 || Unit("no such kernel") != "" {
		t.Errorf("%d kernels", n)
	}
	if _, err := PTX("arith", 61); err == nil {
		t.Error("there is PTX for sm_61")
	}
}
