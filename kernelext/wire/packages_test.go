package wire

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPackageFolders: every package that cells use is found by its name alone, and is there.
func TestPackageFolders(t *testing.T) {
	for _, folder := range slices.Concat(CellPackages, AskedPackages) {
		if got := PackageFolder(path.Base(folder)); got != folder {
			t.Errorf("%s is found in %q", folder, got)
		}
		if files, _ := filepath.Glob(filepath.Join("..", "..", folder, "*.go")); len(files) == 0 {
			t.Errorf("%s has no Go files", folder)
		}
	}
	if got := PackageFolder("fmt"); got != "" {
		t.Errorf("fmt is found in %q", got)
	}
}

// TestNoDebugDataIsOneFlag: what builds the command passes the flag that cells are built with; a difference compiles every package twice.
func TestNoDebugDataIsOneFlag(t *testing.T) {
	for file, line := range map[string]string{
		"Makefile":          "\nGORUN := go run -buildvcs=false " + NoDebugData + "\n",
		"docker/Dockerfile": "&& go build -buildvcs=false " + NoDebugData + " -o ",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(text), line) {
			t.Errorf("%s has no line like %q", file, line)
		}
	}
}
