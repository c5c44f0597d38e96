package drivertest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPTXIsOfThisSource makes kernels.ptx again with the version of clang that it was made with, and compares.
func TestPTXIsOfThisSource(t *testing.T) {
	pinned, err := os.ReadFile(filepath.Join("..", "..", "kernels", "clang.version"))
	if os.IsNotExist(err) {
		t.Skip("not in a checkout")
	}
	if err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command("clang-19", "--version").Output()
	if err != nil {
		t.Skipf("there is no clang-19 to make the PTX again with; on Debian 12, apt-get install clang-19 (%v)", err)
	}
	if want := strings.TrimSpace(string(pinned)); !bytes.Contains(version, []byte("version "+want)) {
		t.Skipf("the PTX is made with clang %s, and this is %.60s", want, version)
	}
	fresh := filepath.Join(t.TempDir(), "kernels.ptx")
	// The command of go:generate, with another output.
	out, err := exec.Command("clang-19", "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_70",
		"--cuda-feature=+ptx70", "-O3", "-S", "-o", fresh, "kernels.cu").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, err := os.ReadFile(fresh); err != nil || !bytes.Equal(got, PTX) {
		t.Errorf("kernels.ptx is not made of kernels.cu (%v); run go generate ./cudart/driver/drivertest", err)
	}
}
