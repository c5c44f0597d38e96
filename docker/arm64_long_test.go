//go:build long

package docker_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What can be had of arm64 on another machine in a few minutes: the build of the image takes longer (README.md has the command).

// goFor builds a program of this module for a processor.
func goFor(t *testing.T, arch, pkg string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s for %s: %v\n%s", pkg, arch, err, text)
	}
	return out
}

// armCommand is how a program for arm64 runs here.
func armCommand(t *testing.T, program string) []string {
	t.Helper()
	if exec.Command(program).Run() == nil {
		return []string{program}
	}
	for _, name := range []string{"qemu-aarch64-static", "qemu-aarch64"} {
		if qemu, err := exec.LookPath(name); err == nil {
			return []string{qemu, program}
		}
	}
	t.Skip("programs for arm64 were built but cannot run here: install qemu-user-static")
	return nil
}

// TestArm64Numbers trains on an (emulated) arm64 processor and on this one. Go fuses multiplications with additions there and not on
// amd64: the reproducible kernels give the same bits in spite of it.
func TestArm64Numbers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds for another processor")
	}
	arm := armCommand(t, goFor(t, "arm64", "./testdata/digest"))
	here := []string{goFor(t, runtime.GOARCH, "./testdata/digest")}
	digest := func(mode string, command []string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "HALFTONE_CPU="+mode)
		out, err := cmd.CombinedOutput()
		name, sum, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
		if err != nil || len(sum) != 64 {
			t.Fatalf("%q: %v\n%s", command, err, out)
		}
		t.Logf("%s: %.12s…", name, sum)
		return sum
	}
	want := digest("reproducible", here)
	if got := digest("reproducible", arm); got != want {
		t.Errorf("arm64 computes %s, %s computes %s", got, runtime.GOARCH, want)
	}
	if runtime.GOARCH == "amd64" && digest("generic", here) == want {
		t.Error("the plain generic kernels give the same: nothing was compared")
	}
}

// mayFuse are the parts whose fused multiply-adds are written down as such, or change nothing that is compared: drawing, timings.
var mayFuse = regexp.MustCompile(`^(amp/internal/cpu|widgets/render|kernelext/(bench|train))\.|^widgets\.\(\*OpError\)\.Bar\(`)

// TestArm64FusesNothing looks for multiplications that Go's compiler fused with additions: their results are not those of amd64. Elsewhere
// than in kernels, sources round products before they add them.
func TestArm64FusesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds for another processor")
	}
	const module = "github.com/halftone-ml/halftone/"
	out, err := exec.Command("go", "tool", "objdump", "-s", "^"+module, goFor(t, "arm64", "../kernelext/cmd/halftone")).Output()
	if err != nil {
		t.Fatal(err)
	}
	fused := regexp.MustCompile(`\bFN?M(ADD|SUB)[SD]\b`)
	kernels, name := 0, ""
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); strings.HasPrefix(line, "TEXT ") {
			name = strings.TrimPrefix(words[1], module)
		} else if fused.MatchString(line) {
			if strings.HasPrefix(name, "amp/internal/cpu.") {
				kernels++
			}
			if !mayFuse.MatchString(name) {
				t.Errorf("%s: %s fuses: write float64(x*y) + z", name, words[0])
			}
		}
	}
	if kernels < 100 {
		t.Errorf("%d fused multiply-adds in the kernels: the listing is not read as it is written", kernels)
	}
}

// TestArm64Wheels asks pip whether every pinned package can be had for arm64 with a hash of the lock. Images have Python 3.13.
func TestArm64Wheels(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the package index")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	pip, _ := filepath.Glob("../kernelext/install/python/pip-*.whl")
	if len(pip) != 1 {
		t.Fatalf("pip: %q", pip)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, filepath.Join(pip[0], "pip"), "--disable-pip-version-check", "install", "--dry-run", "--quiet", "--ignore-installed",
		"--no-deps", "--require-hashes", "--only-binary=:all:", "--python-version=3.13", "--implementation=cp", "--platform=manylinux_2_28_aarch64",
		"--platform=manylinux_2_17_aarch64", "--platform=manylinux2014_aarch64", "--target", t.TempDir(), "-r", "../kernelext/install/python/requirements.txt")
	out, err := cmd.CombinedOutput()
	// Whatever else goes wrong is about the way to the index.
	lacks := strings.Contains(string(out), "DO NOT MATCH THE HASHES") || strings.Contains(string(out), "No matching distribution")
	if err != nil && (!lacks || strings.Contains(string(out), "WARNING")) {
		t.Skipf("the package index does not answer as it should: %s", last(out))
	}
	if err != nil {
		t.Errorf("%v\n%s", err, last(out))
	}
}
