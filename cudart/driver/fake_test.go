//go:build linux && (amd64 || arm64)

package driver_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/driver/drivertest"
	"github.com/halftone-ml/halftone/cudart/libraries"
)

var errNoCompiler = errors.New("there is no C++ compiler (g++ or clang++)")

// fakeLibrary compiles testdata/fake.cpp.
func fakeLibrary(dir string) (string, error) {
	for _, cxx := range []string{"g++", "clang++", "clang++-19"} {
		if _, err := exec.LookPath(cxx); err != nil {
			continue
		}
		lib := filepath.Join(dir, "libcuda.so.1")
		out, err := exec.Command(cxx, "-O1", "-std=c++17", "-shared", "-fPIC", "-Wall", "-Wl,-Bsymbolic", "-o", lib, filepath.Join("testdata", "fake.cpp")).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s: %w\n%s", cxx, err, out)
		}
		return lib, nil
	}
	return "", errNoCompiler
}

func init() {
	driver.RealDescriptors = func(t *testing.T, path string) { drivertest.RunDNNDescriptors(t, path, false) }
}

func TestMain(m *testing.M) {
	code := drivertest.Main(m, func() (driver.Driver, error) { return driver.Open(drivertest.Library()) })
	if fakeDir != "" {
		os.RemoveAll(fakeDir)
	}
	os.Exit(code)
}

var (
	fakeDir  string
	fakeOnce = sync.OnceValues(func() (string, error) {
		var err error
		if fakeDir, err = os.MkdirTemp("", "halftone-driver"); err != nil {
			return "", err
		}
		return fakeLibrary(fakeDir)
	})
)

// fake returns the fake driver, the same for all tests.
func fake(t *testing.T) driver.Driver {
	t.Helper()
	path, err := fakeOnce()
	if errors.Is(err, errNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := driver.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSuiteOnFake(t *testing.T) {
	drivertest.Run(t, drivertest.Config{Driver: fake(t), Immediate: true})
}

// device returns the machine's own driver.
func device(t *testing.T) driver.Driver {
	t.Helper()
	d, err := driver.Open("")
	if errors.Is(err, driver.ErrNoCUDA) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestOnDevice is all of it on the machine's GPU.
func TestOnDevice(t *testing.T) {
	d := device(t)
	if absent := driver.Absent(d); len(absent) > 0 {
		t.Errorf("%s lacks %v", d.Path(), absent)
	}
	t.Run("suite", func(t *testing.T) { drivertest.Run(t, drivertest.Config{Driver: d}) })
	v, err := d.Version()
	if err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(*testing.T, driver.Driver, string){
		"libcublas": drivertest.RunBLAS, "libcublasLt": drivertest.RunBLASLt, "libcudnn": drivertest.RunDNN, "libnvrtc": drivertest.RunNVRTC,
	} {
		t.Run(name, func(t *testing.T) {
			lib := libraries.Find(name).For(v)
			if lib.Path == "" {
				t.Skip(lib.Missing())
			}
			run(t, d, lib.Path)
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	path := fake(t).Path()
	empty := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(empty, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := driver.Open(empty); !errors.Is(err, driver.ErrNoCUDA) || !strings.Contains(err.Error(), empty) {
		t.Error(err)
	}
	if _, err := driver.Open("libc.so.6"); !errors.Is(err, driver.ErrNoCUDA) || !strings.Contains(err.Error(), "libc.so.6 lacks cuInit") {
		t.Error(err)
	}
	// A library whose cuInit fails says what to do; the copy is another library to the loader.
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]string{"34": "stub", "100": "--gpus all"} {
		path := filepath.Join(t.TempDir(), "libcuda.so.1")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("FAKE_CUINIT", code)
		if _, err := driver.Open(path); !errors.Is(err, driver.ErrNoCUDA) || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	t.Setenv("FAKE_CUINIT", "0")
}

func TestArgsLimits(t *testing.T) {
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "gemm: more than 64 parameters") {
			t.Error(r)
		}
	}()
	a := driver.GetArgs("gemm")
	for range driver.MaxParams + 1 {
		a.Int32(1)
	}
}
