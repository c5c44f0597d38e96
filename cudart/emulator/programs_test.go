//go:build linux && (amd64 || arm64)

package emulator

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// programs are test binaries of other packages, compiled once for all tests here; TestMain removes them.
var programs struct {
	sync.Mutex
	dir string
}

// testProgram returns the test binary of a package, which lies at a path in the checkout.
func testProgram(t *testing.T, pkg string) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if programs.dir == "" {
		dir, err := os.MkdirTemp("", "halftone-emulator-tests-")
		if err != nil {
			t.Fatal(err)
		}
		programs.dir = dir
	}
	program := filepath.Join(programs.dir, strings.ReplaceAll(pkg, "/", ".")+".test")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	dir := "." + string(filepath.Separator) + filepath.Join("..", "..", filepath.FromSlash(pkg))
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", program, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// removePrograms is called when all tests have ended.
func removePrograms() {
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
}
