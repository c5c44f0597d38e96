package install

import (
	"context"
	"os"
	"path/filepath"

	"github.com/halftone-ml/halftone/kernelext/layout"
	"github.com/halftone-ml/halftone/kernelext/wire"
)

// cellEnv is the environment that the kernel gives to cells, so that what is compiled with it is what they compile.
func (in *Installer) cellEnv() []string {
	return wire.Env(in.Layout, layout.State{Checkout: in.Checkout, Go: in.goCmd}, append(os.Environ(), archEnv(in.Arch)...))
}

// fillProxy brings the file proxy up to date, unless it was made from the same go.mod and go.sum.
func (in *Installer) fillProxy(ctx context.Context, p *Progress) (string, error) {
	dir := in.Layout.Proxy()
	mark := filepath.Join(in.Layout.Home, "goproxy.from")
	want, err := sumFiles(filepath.Join(in.Checkout, "go.mod"), filepath.Join(in.Checkout, "go.sum"))
	if err != nil {
		return "", err
	}
	if have, _ := os.ReadFile(mark); string(have) == want && countModules(dir) > 0 {
		return plural(countModules(dir), "module"), nil
	}
	os.Remove(mark)
	p.Status("downloading")
	if err := wire.BuildProxy(dir, in.Checkout, in.goCmd); err != nil {
		return "", explain("fetching the modules that cells import", in.Layout.Home, err, "")
	}
	if err := os.WriteFile(mark, []byte(want), 0o644); err != nil {
		return "", explain("writing "+mark, in.Layout.Home, err, "")
	}
	return plural(countModules(dir), "module") + ", fetched", ctx.Err()
}

// countModules counts the modules in a file proxy.
func countModules(dir string) int {
	n := 0
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() == "list" {
			n++
		}
		return nil
	})
	return n
}
