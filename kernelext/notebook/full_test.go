package notebook

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
)

// TestFullDisk: what cannot be written whole leaves the notebook as it was, and nothing else.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	_, state := testenv.Installed(t)
	path := filepath.Join(t.TempDir(), "a.ipynb")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	const program = `import os, sys, tempfile
run = {"__name__": "run"}
exec(open("run.py").read(), run)
real = tempfile.mkstemp
def full(**where): # the file that is written to first
    fd, name = real(**where)
    os.close(fd)
    return os.open("/dev/full", os.O_WRONLY), name
tempfile.mkstemp = full
try:
    run["replace"](sys.argv[1], lambda f: f.write("new"))
except run["WriteError"] as err:
    print(err)
`
	out, err := exec.Command(state.Python, "-c", program, path).CombinedOutput()
	if want := "all cells ran, but " + path + " could not be written: No space left on device\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
	names, err := os.ReadDir(filepath.Dir(path))
	if b, _ := os.ReadFile(path); err != nil || len(names) != 1 || string(b) != "old" {
		t.Errorf("left: %v %v, in the notebook %q", names, err, b)
	}
}
