package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

func TestUninstall(t *testing.T) {
	dir := isolate(t)
	l, _ := layout.Default()
	if removed, err := Uninstall(l); err != nil || len(removed) != 0 {
		t.Fatalf("with nothing installed: %v, %v", removed, err)
	}
	data := filepath.Join(dir, "jupyter")
	other := filepath.Join(data, "kernels", "python3", "kernel.json")
	write(t, other, "{}")
	if _, err := installKernelspec(l, data); err != nil {
		t.Fatal(err)
	}
	if _, err := installFrontEnd(l, data); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(l.Bin(), "gonb"), "")
	if _, err := labConfig(l.Home); err != nil {
		t.Fatal(err)
	}
	readOnly := filepath.Join(l.Proxy(), "a", "b")
	write(t, filepath.Join(readOnly, "f"), "")
	if err := os.Chmod(readOnly, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := l.Save(layout.State{Data: data}); err != nil {
		t.Fatal(err)
	}
	removed, err := Uninstall(l)
	if err != nil || len(removed) != 3 {
		t.Fatalf("removed %v, %v", removed, err)
	}
	for _, gone := range []string{l.Home, filepath.Join(data, "kernels", "halftone"), filepath.Join(data, "labextensions", "@halftone")} {
		if _, err := os.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", gone)
		}
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("another kernel was removed: %v", err)
	}
}

func TestUninstallSparesOtherFolders(t *testing.T) {
	dir := isolate(t)
	l, _ := layout.Default()
	// HALFTONE_HOME that names a folder with the user's own things.
	write(t, filepath.Join(l.Home, "thesis.tex"), "years of work")
	if _, err := Uninstall(l); err == nil || !strings.Contains(err.Error(), "does not look like") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(l.Home, "thesis.tex")); err != nil {
		t.Error("the user's file is gone")
	}
	// A kernelspec of the same name that starts another installation.
	data := filepath.Join(dir, "jupyter")
	if _, err := installKernelspec(layout.Layout{Home: "/another"}, data); err != nil {
		t.Fatal(err)
	}
	if removed, err := removeFrom(l, data); err != nil || len(removed) != 0 {
		t.Errorf("removed %v, %v", removed, err)
	}
}
