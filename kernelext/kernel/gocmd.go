package kernel

import (
	"os"
	"path/filepath"
	"strings"
)

// linkGo puts the program that stands before the go command where GoNB looks first. Without it cells take longer, and work.
func (k *kernel) linkGo(dir string, env []string) []string {
	if k.opts.Go == "" {
		return env
	}
	bin := filepath.Join(dir, "bin")
	err := os.Mkdir(bin, 0o700)
	if err == nil {
		_, err = os.Stat(k.opts.Go)
	}
	if err == nil {
		err = os.Symlink(k.opts.Go, filepath.Join(bin, "go"))
	}
	if err != nil {
		k.logf("cells run `go get` each: %v", err)
		return env
	}
	path := bin
	for _, v := range env {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok && rest != "" {
			path = bin + string(filepath.ListSeparator) + rest
		}
	}
	return setEnv(env, "PATH="+path)
}
