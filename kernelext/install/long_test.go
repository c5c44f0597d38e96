//go:build long

package install

import (
	"context"
	"debug/elf"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestLockInstallsOnEveryPython makes the private environment with every supported Python of this machine.
func TestLockInstallsOnEveryPython(t *testing.T) {
	isolate(t)
	tried := map[string]bool{}
	for _, path := range pythonCandidates() {
		base, err := probePython(context.Background(), path)
		if err != nil || !base.Recent() || !base.Venv || tried[base.Version] {
			continue
		}
		tried[base.Version] = true
		t.Run(base.Version, func(t *testing.T) {
			in, _ := newInstaller(t)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			var py Python
			err := in.Report.Phase("venv", func(p *Progress) (string, error) {
				var err error
				py, err = makeVenv(ctx, t.TempDir()+"/venv", []Python{base}, "", p)
				return "", err
			})
			if IsOffline(err) {
				t.Skipf("needs a network: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !py.HasLab() || py.Broken != "" {
				t.Errorf("%+v", py)
			}
		})
	}
	if len(tried) == 0 {
		t.Skip("no Python 3.10 or newer with venv on this machine")
	}
}

// TestLockInstallsForAnotherProcessor makes the environment of an image for another processor and looks at the code in it.
func TestLockInstallsForAnotherProcessor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("installations for another processor are made on Linux")
	}
	isolate(t)
	in, _ := newInstaller(t)
	in.Arch, in.Private = otherArch(), true
	_, err := choose(t, in)
	if IsOffline(err) || err != nil && strings.Contains(err.Error(), "JupyterLab needs Python") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "amd64": elf.EM_X86_64}[in.Arch]
	found := 0
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(filepath.WalkDir(in.Layout.Venv(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".so") {
			return err
		}
		found++
		f, err := elf.Open(path)
		must(err)
		defer f.Close()
		// debugpy, without a wheel for arm64, brings a library that it attaches to programs on x86-64 with.
		if f.Machine != want && filepath.Base(path) != "attach_linux_amd64.so" {
			t.Errorf("%s is for %v", path, f.Machine)
		}
		return nil
	}))
	if found < 5 {
		t.Errorf("%d libraries in the environment", found)
	}
}
