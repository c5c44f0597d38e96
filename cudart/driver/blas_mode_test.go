//go:build linux && (amd64 || arm64)

package driver_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ebitengine/purego"

	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/libraries"
)

// TestNewBLASAddsInFloat32: a handle as NVIDIA makes it may add partial sums of 16-bit products in 16 bits
// (CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION is not set); a new BLAS may not. One that can't be had so leaves no handle behind.
func TestNewBLASAddsInFloat32(t *testing.T) {
	d, lib := fake(t), filepath.Join(t.TempDir(), "libcublas.so.13")
	cxx := ""
	for _, c := range []string{"g++", "clang++", "clang++-19"} {
		if _, err := exec.LookPath(c); err == nil && cxx == "" {
			cxx = c
		}
	}
	if out, err := exec.Command(cxx, "-O1", "-shared", "-fPIC", "-o", lib, filepath.Join("testdata", "blas.cpp")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := driver.NewBLAS(d, lib)
	if err != nil {
		t.Fatal(err)
	}
	h, err := purego.Dlopen(lib, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	var mode, handles func() int32
	var refuse func(int32)
	purego.RegisterLibFunc(&mode, h, "fakeMode")
	purego.RegisterLibFunc(&handles, h, "fakeHandles")
	purego.RegisterLibFunc(&refuse, h, "fakeRefuse")
	const disallowReduced = 16
	if m := mode(); m != disallowReduced {
		t.Errorf("the mode of a new BLAS is %d", m)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	refuse(1)
	var e *driver.Error
	if _, err := driver.NewBLAS(d, lib); !errors.As(err, &e) || e.Call != "cublasSetMathMode" || handles() != 0 {
		t.Errorf("%v, %d handles are left", err, handles())
	}
}

// TestOpenPassesOverBroken: a file that the loader does not take, such as the empty ones that a container runtime leaves in images, does not
// hide the driver behind it; with no other the error is of the first.
func TestOpenPassesOverBroken(t *testing.T) {
	want := fake(t).Path()
	empty, broken := t.TempDir(), t.TempDir()
	for dir, text := range map[string]string{empty: "", broken: "no library"} {
		if err := os.WriteFile(filepath.Join(dir, "libcuda.so.1"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(libraries.PathEnv, empty+":"+broken+":"+filepath.Dir(want))
	d, err := driver.Open("")
	if err != nil {
		t.Fatal(err)
	}
	if d.Path() != want {
		t.Errorf("%s was opened, want %s", d.Path(), want)
	}
}
