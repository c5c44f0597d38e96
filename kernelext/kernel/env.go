package kernel

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	runcell "github.com/halftone-ml/halftone/kernelext/cell"
)

// childEnv is GoNB's environment: env, with temporary files in the kernel's private folder, and cells whose training loops
// end when they are interrupted.
func childEnv(env []string, dir, cells string) []string {
	tmp := filepath.Join(dir, tmpName)
	_ = os.MkdirAll(tmp, 0o700)
	return setEnv(env, "TMPDIR="+tmp, amp.CellsEnv+"="+cells, amp.InterruptEnv+"=steps",
		amp.DefaultsEnv+"="+filepath.Join(dir, defaultsName), runcell.UsageEnv+"="+filepath.Join(dir, usageName))
}

// tmpName is the folder for temporary files in a kernel's private folder: short, because sockets are made in it.
const tmpName = "t"

// Files in a kernel's private folder that cells read and write: the settings of %amp, and what an %%amp cell used.
const (
	defaultsName = "defaults"
	usageName    = "usage.json"
)

// workDirs lists the folders in which a GoNB with the given TMPDIR builds cells: one when it runs.
func workDirs(tmp string) []string {
	var dirs []string
	files, _ := filepath.Glob(filepath.Join(tmp, "gonb_*", "go.mod"))
	for _, file := range files {
		dirs = append(dirs, filepath.Dir(file))
	}
	return dirs
}

// seedSums gives the module that GoNB makes for the cells the checksums of the checkout. Modules that Halftone pins are
// then verified against these, with no question to the checksum database and so without a network; all others are
// verified as ever.
func seedSums(tmp, checkout string) error {
	if checkout == "" {
		return nil
	}
	sums, err := os.ReadFile(filepath.Join(checkout, "go.sum"))
	if err != nil {
		return err
	}
	for _, dir := range workDirs(tmp) {
		file := filepath.Join(dir, "go.sum")
		if _, err := os.Stat(file); err == nil {
			continue
		}
		if err := os.WriteFile(file, sums, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// setEnv returns env with variables set, each in one place only: programs differ in which of two they read.
func setEnv(env []string, vars ...string) []string {
	out := slices.Clone(env)
	for _, v := range vars {
		name, _, _ := strings.Cut(v, "=")
		out = slices.DeleteFunc(out, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		out = append(out, v)
	}
	return out
}
