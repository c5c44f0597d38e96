package kernels

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/halftone-ml/halftone/cudart/internal/wheel"
)

// TestPTXIsOfTheseSources makes the modules again and compares. They are made by one version of clang: others write other code.
func TestPTXIsOfTheseSources(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	pinned, err := os.ReadFile("clang.version")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(string(pinned))
	out, err := exec.Command("clang-19", "--version").Output()
	if err != nil {
		t.Skipf("there is no clang-19 to make the PTX again with; on Debian 12, apt-get install clang-19 (%v)", err)
	}
	if !bytes.Contains(out, []byte("version "+want)) {
		first, _, _ := bytes.Cut(out, []byte("\n"))
		t.Skipf("the PTX is made with clang %s, and this is %s", want, first)
	}
	fresh := t.TempDir()
	if out, err := exec.Command("go", "run", "-buildvcs=false", "./generate", "-o", fresh).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := map[string]bool{}
	for _, dir := range []string{fresh, "ptx"} {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if seen[f.Name()] {
				continue
			}
			seen[f.Name()] = true
			a, errA := unpacked(filepath.Join("ptx", f.Name()))
			b, errB := unpacked(filepath.Join(fresh, f.Name()))
			if err := errors.Join(errA, errB); err != nil {
				t.Errorf("%v; run go generate ./cudart/kernels", err)
			} else if !bytes.Equal(a, b) {
				t.Errorf("ptx/%s is not made of these sources, from line %d on; run go generate ./cudart/kernels", f.Name(), firstDifference(a, b))
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %d files were compared", len(seen))
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

func firstDifference(a, b []byte) int {
	line := 1
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		if a[i] == '\n' {
			line++
		}
	}
	return line
}

var ptxTarget = regexp.MustCompile(`(?m)^\.version (\d+)\.(\d+)\n\.target sm_(\d+)`)

// TestPTXAssembles gives every module to NVIDIA's assembler, which checks what clang takes on trust: inline PTX, and the limits of
// shared memory. It does not optimize.
func TestPTXAssembles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("NVIDIA's wheel with ptxas is for Linux on amd64")
	}
	dir, err := wheel.Fetch(t.Context(), wheel.PTXAS)
	if err != nil {
		t.Skipf("needs NVIDIA's wheel with ptxas, and it can't be had here: %v", err)
	}
	ptxas := filepath.Join(dir, "nvidia", "cuda_nvcc", "bin", "ptxas")
	modules, err := fs.Glob(modules, "ptx/*.ptx.gz")
	if err != nil || len(modules) < 5 {
		t.Fatalf("%d modules, %v", len(modules), err)
	}
	slots := make(chan bool, runtime.NumCPU())
	var wg sync.WaitGroup
	for _, file := range modules {
		ptx, err := unpacked(file)
		if err != nil {
			t.Fatal(err)
		}
		m := ptxTarget.FindSubmatch(ptx)
		if m == nil {
			t.Errorf("%s begins with %q", file, ptx[:60])
			continue
		}
		target, _ := strconv.Atoi(string(m[3]))
		if version := string(m[1]) + "." + string(m[2]); version != "7.0" {
			t.Errorf("%s is PTX %s: drivers older than that can't load it", file, version)
		}
		for _, arch := range []int{70, 80, 90} {
			if arch < target {
				continue
			}
			slots <- true
			wg.Go(func() {
				defer func() { <-slots }()
				cmd := exec.CommandContext(t.Context(), ptxas, "-O0", fmt.Sprintf("-arch=sm_%d", arch), "-o", os.DevNull, "-")
				cmd.Stdin = bytes.NewReader(ptx)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s for sm_%d: %v\n%s", file, arch, err, out)
				}
			})
		}
	}
	wg.Wait()
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
