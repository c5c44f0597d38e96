package emulator

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/cudart/kernels"
)

//go:embed csrc/*.cpp csrc/*.h
var runtimeSources embed.FS

// ErrUnavailable is wrapped by errors of machines that the library can't be built on.
var ErrUnavailable = errors.New("the CUDA emulator is not available")

// Options say what to build.
type Options struct {
	// Checked builds the library that looks at each access of a kernel.
	Checked bool
	// Sanitize builds it with the compiler's address and undefined-behavior sanitizers, for a program started with SanitizerEnv.
	Sanitize bool
	// Unsanitized are units, .cu files without the ending, that Sanitize leaves as they are, since the program launches none of their kernels:
	// sanitizers make the compiling several times as long.
	Unsanitized []string
	// PTX builds it from the modules that a GPU's driver is given, in place of the .cu files that they were made of: each instruction does
	// what the PTX ISA says. It is slower, and takes minutes to compile.
	PTX bool
	// Kernels are the .cu files, and the headers they include, all in one folder; nil are Halftone's own.
	Kernels fs.FS
	// Dir is the cache folder; "" is CacheDir().
	Dir string
	// Compiling is called before a library is compiled, nil for nothing.
	Compiling func()
}

// CacheDir returns where libraries are kept: under HALFTONE_HOME, else in the user's cache folder.
func CacheDir() (string, error) {
	if home := os.Getenv("HALFTONE_HOME"); home != "" {
		return filepath.Join(home, "cache", "emulator"), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: no folder to build in: %w; set HALFTONE_HOME", ErrUnavailable, err)
	}
	return filepath.Join(dir, "halftone", "emulator"), nil
}

// Build returns the path of the library for o, libcuda.so.1. It compiles it if no library of the same sources, options and
// compiler is in the cache: a minute or two on two cores. libcublas and libnvrtc lie beside it. Several processes may call it at once.
func Build(ctx context.Context, o Options) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return "", fmt.Errorf("%w: it needs Linux on amd64 or arm64, and this is %s/%s", ErrUnavailable, runtime.GOOS, runtime.GOARCH)
	}
	c, err := findCompiler(ctx, o)
	if err != nil {
		return "", err
	}
	if o.Kernels == nil {
		o.Kernels = kernels.Sources
	}
	if o.Dir == "" {
		if o.Dir, err = CacheDir(); err != nil {
			return "", err
		}
	}
	files, err := sources(o)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(o.Dir, key(c, o, files))
	library := filepath.Join(dir, "libcuda.so.1")
	if _, err := os.Stat(library); err == nil {
		now := time.Now()
		_ = os.Chtimes(dir, now, now) // still in use
		return library, nil
	}
	objects := filepath.Join(o.Dir, "objects")
	if err := os.MkdirAll(objects, 0o755); err != nil {
		return "", fmt.Errorf("%w: %w; set HALFTONE_HOME to a folder you can write", ErrUnavailable, err)
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(library); err == nil { // another process built it meanwhile
		return library, nil
	}
	if o.Compiling != nil {
		o.Compiling()
	}
	pruneBuilds(o.Dir)
	work, done, err := workFolder(o.Dir)
	if err != nil {
		return "", err
	}
	defer done()
	if err := (&build{compiler: c, options: o, dir: work, objects: objects}).run(ctx, files); err != nil {
		return "", err
	}
	_ = os.Remove(filepath.Join(work, inUse))
	if err := os.Rename(work, dir); err != nil {
		return "", err
	}
	prune(o.Dir, filepath.Base(dir))
	return library, nil
}

// A source is one file to build from, by its path in the build folder.
type source struct {
	path string
	data []byte
}

// sources lists the runtime's files and the kernels', sorted.
func sources(o Options) ([]source, error) {
	var out []source
	if o.PTX {
		modules, err := ptxSources()
		if err != nil {
			return nil, err
		}
		writer, err := translatorSources()
		if err != nil {
			return nil, err
		}
		out = append(modules, writer...)
	}
	for _, from := range []struct {
		files  fs.FS
		prefix string
	}{{runtimeSources, ""}, {o.Kernels, "kernels/"}} {
		err := fs.WalkDir(from.files, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if ext := filepath.Ext(path); !slices.Contains([]string{".cpp", ".h", ".cu"}, ext) || o.PTX && ext == ".cu" {
				return nil
			}
			data, err := fs.ReadFile(from.files, path)
			out = append(out, source{from.prefix + path, data})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b source) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// key names a build: a hash of all that goes into it.
func key(c compiler, o Options, files []source) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%q %q\n%v %v %q %v\n", runtime.GOARCH, c.path, c.version, flags(o), kernelFlags(o), o.Checked, o.Sanitize, o.Unsanitized, o.PTX)
	for _, f := range files {
		fmt.Fprintf(h, "%s %d\n", f.path, len(f.data))
		h.Write(f.data)
	}
	return hex.EncodeToString(h.Sum(nil))[:20]
}

// keepBuilds is how long a build stays in the cache after its last use or making; sources change often where kernels are written.
const keepBuilds = 14 * 24 * time.Hour

// prune removes builds and objects that are old.
func prune(cache, current string) {
	for _, pattern := range []string{"*", "objects/*.o"} {
		found, _ := filepath.Glob(filepath.Join(cache, pattern))
		for _, path := range found {
			info, err := os.Stat(path)
			name := filepath.Base(path)
			if err != nil || name == "objects" || strings.HasPrefix(name, current) || time.Since(info.ModTime()) < keepBuilds {
				continue
			}
			_ = os.RemoveAll(path)
		}
	}
}
