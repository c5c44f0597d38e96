package wire

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// maxTrainCell is what a training cell may be linked to. Each run of an edited cell links it anew: a package that draws in
// the cell, or speaks HTTP there, costs every cell that the kernel runs.
const maxTrainCell = 8_000_000 // bytes

func TestCellStaysSmall(t *testing.T) {
	if runtime.GOARCH != "amd64" || runtime.GOOS != "linux" {
		t.Skip("the bound is that of linux/amd64")
	}
	file := filepath.Join(t.TempDir(), "cell")
	build := exec.Command("go", "build", "-o", file, "./testdata/traincell")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+goFlags(""))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxTrainCell {
		t.Errorf("a cell that trains and shows a figure is linked to %.1f MB, of %.1f: see what `go list -deps ./testdata/traincell` has new, and let the kernel do it",
			float64(info.Size())/1e6, maxTrainCell/1e6)
	}
	t.Logf("%.2f MB", float64(info.Size())/1e6)
	if out, err := exec.Command(file).CombinedOutput(); err != nil {
		t.Errorf("it does not run: %v\n%s", err, out)
	}
}
