//go:build long

package kernels

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// TestPTXAssembles gives every module to NVIDIA's assembler, for its own architecture and for the newest, which takes all of it as those between do.
// That checks what clang takes on trust: inline PTX, and the limits of shared memory. It does not optimize.
func TestPTXAssembles(t *testing.T) {
	ptxas := assembler(t)
	slots := make(chan bool, runtime.NumCPU())
	var wg sync.WaitGroup
	modulesOf(t, func(file string, ptx []byte, target, _ string) {
		for _, arch := range oldestAndNewest(target) {
			slots <- true
			wg.Go(func() {
				defer func() { <-slots }()
				cmd := exec.CommandContext(t.Context(), ptxas, "-O0", "-arch=sm_"+arch, "-o", os.DevNull, "-")
				cmd.Stdin = bytes.NewReader(ptx)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s for sm_%s: %v\n%s", file, arch, err, out)
				}
			})
		}
	})
	wg.Wait()
}

// oldestAndNewest are the ends of what modules for an architecture run on: itself, and the newest that the assembler knows. Those for sm_90a are for
// it alone.
func oldestAndNewest(target string) []string {
	if target == "90a" {
		return []string{target}
	}
	return []string{target, "120"}
}

// TestPTXIsMadeAgain makes the modules again and compares. They are made by one version of clang: others write other code.
func TestPTXIsMadeAgain(t *testing.T) {
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
