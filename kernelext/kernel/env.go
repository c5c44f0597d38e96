package kernel

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// childEnv is GoNB's environment: env, with temporary files in the kernel's private folder.
func childEnv(env []string, dir, cells string) []string {
	tmp := filepath.Join(dir, "t")
	_ = os.MkdirAll(tmp, 0o700)
	return setEnv(env, "TMPDIR="+tmp, CellsEnv+"="+cells)
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
