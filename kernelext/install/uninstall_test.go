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
	for _, program := range []string{l.GoNB(), l.Halftone(), l.CellGo(), builtFile(l)} {
		write(t, program, "")
	}
	if _, err := labConfig(l.Home); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(l.Home, "cache", "emulator", "lib.so"), "")
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

// TestUninstallSparesOtherFolders: HALFTONE_HOME may name a folder with the user's own things, whatever these are called.
func TestUninstallSparesOtherFolders(t *testing.T) {
	dir := isolate(t)
	l, _ := layout.Default()
	for _, c := range []struct {
		files []string
		says  string
	}{
		{[]string{"thesis.tex"}, "does not look like"},
		{nil, "does not look like"},
		{[]string{"bin/run", "tmp/notes", "venv/pyvenv.cfg"}, "does not look like"},
		{[]string{"install.lock", "thesis.tex"}, "has not put there (thesis.tex)"},
		{[]string{"install.json", "bin/gonb", "bin/mine.sh"}, "has not put there (" + filepath.Join("bin", "mine.sh") + ")"},
	} {
		if err := os.MkdirAll(l.Home, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range c.files {
			write(t, filepath.Join(l.Home, f), "years of work")
		}
		if removed, err := Uninstall(l); err == nil || !strings.Contains(err.Error(), c.says) || len(removed) > 0 {
			t.Errorf("%q: removed %v, error %v, want %q", c.files, removed, err, c.says)
		}
		for _, f := range append(c.files, ".") {
			if _, err := os.Stat(filepath.Join(l.Home, f)); err != nil {
				t.Errorf("%q: %s is gone", c.files, f)
			}
		}
		if err := os.RemoveAll(l.Home); err != nil {
			t.Fatal(err)
		}
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

// TestUninstallChecksBeforeItRemoves: a folder that is refused keeps its kernel in Jupyter, and goes on working.
func TestUninstallChecksBeforeItRemoves(t *testing.T) {
	dir := isolate(t)
	l, _ := layout.Default()
	data := filepath.Join(dir, "jupyter")
	if _, err := installKernelspec(l, data); err != nil {
		t.Fatal(err)
	}
	if err := l.Save(layout.State{Data: data}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(l.Home, "mine"), "")
	if _, err := Uninstall(l); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(kernelDir(data)); err != nil {
		t.Error("the kernel is gone")
	}
}

// TestUninstallOfInterruptedInstallation: all that it leaves may be the lock.
func TestUninstallOfInterruptedInstallation(t *testing.T) {
	isolate(t)
	l, _ := layout.Default()
	write(t, filepath.Join(l.Home, "install.lock"), "process 1\n")
	if removed, err := Uninstall(l); err != nil || len(removed) != 1 {
		t.Errorf("removed %v, %v", removed, err)
	}
}
