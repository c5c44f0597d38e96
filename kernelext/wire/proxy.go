package wire

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"

	"github.com/halftone-ml/halftone/internal/wholefile"
)

// BuildProxy fills dir with a module proxy of files: every module that the checkout needs, at exactly the version it
// needs. With it first in GOPROXY a cell's imports of those modules resolve to those versions, at once and without a
// network, while what it does not hold is asked from the next proxy. Running it again brings it up to date; a folder that
// is being read stays whole at every moment.
func BuildProxy(dir, checkout, goCmd string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	modules, err := download(ctx, checkout, goCmd)
	if err != nil {
		return err
	}
	graph, cache, err := moduleGraph(ctx, checkout, goCmd)
	if err != nil {
		return err
	}
	keep := map[string][]string{} // folder of a module: its listed versions
	latest := map[string][]byte{}
	for _, m := range modules {
		escaped, err := module.EscapePath(m.Path)
		if err != nil {
			return err
		}
		at := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
		version, err := module.EscapeVersion(m.Version)
		if err != nil {
			return err
		}
		for ext, from := range map[string]string{".info": m.Info, ".mod": m.GoMod, ".zip": m.Zip} {
			if err := copyFile(filepath.Join(at, version+ext), from); err != nil {
				return fmt.Errorf("module %s@%s: %w; empty the module cache (go clean -modcache) and install again", m.Path, m.Version, err)
			}
		}
		keep[at] = append(keep[at], m.Version)
		if latest[at], err = os.ReadFile(m.Info); err != nil {
			return err
		}
	}
	// Resolving versions reads the go.mod files of modules that no package comes from, too.
	for _, m := range graph {
		if err := copyGoMod(dir, cache, m); err != nil {
			return err
		}
	}
	for at, versions := range keep {
		slices.Sort(versions)
		if err := replaceFile(filepath.Join(at, "list"), []byte(strings.Join(versions, "\n")+"\n")); err != nil {
			return err
		}
		// For versions that are commits, which a list does not hold.
		if err := replaceFile(filepath.Join(filepath.Dir(at), "@latest"), latest[at]); err != nil {
			return err
		}
	}
	return forget(dir, keep)
}

// A downloaded module, as `go mod download -json` describes it.
type downloaded struct {
	Path, Version    string
	Info, GoMod, Zip string
	Error            string
}

// download brings the modules that the checkout's packages need into the module cache, checked against its go.sum.
func download(ctx context.Context, checkout, goCmd string) ([]downloaded, error) {
	out, err := goCommand(ctx, checkout, goCmd, "mod", "download", "-json")
	var modules []downloaded
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var m downloaded
		if e := dec.Decode(&m); e != nil {
			if !errors.Is(e, io.EOF) && err == nil {
				err = e
			}
			break
		}
		if m.Error != "" {
			return nil, fmt.Errorf("module %s@%s cannot be downloaded: %s; check the network and `go env GOPROXY`", m.Path, m.Version, m.Error)
		}
		modules = append(modules, m)
	}
	return modules, err
}

// moduleGraph lists every module version that resolving the checkout's dependencies looks at, and the folder of the module
// cache that holds their files.
func moduleGraph(ctx context.Context, checkout, goCmd string) ([]module.Version, string, error) {
	cache, err := goCommand(ctx, checkout, goCmd, "env", "GOMODCACHE")
	if err != nil {
		return nil, "", err
	}
	out, err := goCommand(ctx, checkout, goCmd, "mod", "graph")
	if err != nil {
		return nil, "", err
	}
	seen := map[module.Version]bool{}
	var list []module.Version
	for _, node := range strings.Fields(string(out)) {
		path, version, ok := strings.Cut(node, "@")
		m := module.Version{Path: path, Version: version}
		if ok && path != "go" && path != "toolchain" && !seen[m] {
			seen[m] = true
			list = append(list, m)
		}
	}
	return list, filepath.Join(strings.TrimSpace(string(cache)), "cache", "download"), nil
}

// copyGoMod copies what the cache has of a module's go.mod and time. What it lacks was not needed.
func copyGoMod(dir, cache string, m module.Version) error {
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return err
	}
	for _, ext := range []string{".mod", ".info"} {
		name := filepath.Join(filepath.FromSlash(path), "@v", version+ext)
		if err := copyFile(filepath.Join(dir, name), filepath.Join(cache, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func goCommand(ctx context.Context, dir, goCmd string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, goCmd, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "PWD="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s in %s: %w\n%s", filepath.Base(goCmd), strings.Join(args, " "), dir, err, strings.TrimSpace(stderr.String()))
	}
	return out, err
}

// copyFile copies a file whose content is fixed by its name: one that is there with the right size is kept.
func copyFile(to, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if have, err := os.Stat(to); err == nil && have.Size() == info.Size() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	// The module cache never changes a file in place, so the same file under a second name will do: no space, no time.
	link := to + "." + rand.Text() // of its own: others may do the same at this moment
	if os.Link(from, link) == nil {
		return os.Rename(link, to)
	}
	tmp, err := os.CreateTemp(filepath.Dir(to), ".new")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := io.Copy(tmp, src); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), to)
}

// replaceFile writes a file in one step.
func replaceFile(name string, content []byte) error {
	if have, err := os.ReadFile(name); err == nil && bytes.Equal(have, content) {
		return nil
	}
	return wholefile.Replace(name, content, 0o644)
}

// forget unlists modules that the checkout does not need any more and removes their archives, which are what takes space.
func forget(dir string, keep map[string][]string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		base, at := filepath.Base(name), filepath.Dir(name)
		switch {
		case base == "@latest":
			if _, ok := keep[filepath.Join(at, "@v")]; !ok {
				return os.Remove(name)
			}
		case base == "list":
			if _, ok := keep[at]; !ok {
				return os.Remove(name)
			}
		case strings.HasSuffix(base, ".zip"):
			version, err := module.UnescapeVersion(strings.TrimSuffix(base, ".zip"))
			if err != nil || !slices.Contains(keep[at], version) {
				return os.Remove(name)
			}
		}
		return nil
	})
}
