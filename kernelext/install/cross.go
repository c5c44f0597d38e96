package install

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

// Images for another processor are made on this one: Go compiles for both, and of Python packages only the wheels differ. Under
// emulation the same takes an hour.

// machines are the processors that the lock has wheels for, by Go's names: the names that Python and Linux have for them.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// checkArch refuses processors that nothing could be installed for.
func checkArch(arch string) error {
	if !foreign(arch) {
		return nil
	}
	if machines[arch] == "" {
		return fmt.Errorf("--arch %s: JupyterLab is pinned for amd64 and arm64 only; take one of them", arch)
	}
	if runtime.GOOS != "linux" {
		return fmt.Errorf("--arch %s: an installation for another processor is for an image and is made on Linux; leave --arch out to install here", arch)
	}
	return nil
}

// foreign tells whether an installation is for another processor than this one.
func foreign(arch string) bool { return arch != "" && arch != runtime.GOARCH }

// archEnv makes Go compile for the processor and pip choose its wheels. pip asks Python which machine it runs on, and Python answers
// with this variable when it is set: what makers of wheels cross-compile with.
func archEnv(arch string) []string {
	if !foreign(arch) {
		return nil
	}
	return []string{"GOARCH=" + arch, "_PYTHON_HOST_PLATFORM=linux-" + machines[arch]}
}

// builtFor is the processor that a Go program was built for, or "" when the file does not tell.
func builtFor(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "GOARCH" {
			return s.Value
		}
	}
	return ""
}

// fits tells whether a program is for the processor, as far as its file tells.
func fits(program, arch string) bool {
	if arch == "" {
		arch = runtime.GOARCH
	}
	built := builtFor(program)
	return built == "" || built == arch
}

// clearForeign removes the Python packages of an installation that was made for another processor: they are files like ours until
// they are imported.
func clearForeign(l layout.Layout, arch string) error {
	if fits(l.Halftone(), arch) {
		return nil
	}
	if err := os.RemoveAll(l.Venv()); err != nil {
		return explain("removing what is for another processor", filepath.Dir(l.Venv()), err, "")
	}
	return nil
}
