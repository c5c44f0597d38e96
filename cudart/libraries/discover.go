// Package libraries looks for NVIDIA's shared libraries and says where they are and where it looked. It loads none of them.
package libraries

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Errors of a library that is not there, to match with errors.Is.
var (
	ErrNoCUDA      = errors.New("no CUDA device")
	ErrUnsupported = errors.New("not supported")
)

// PathEnv names the variable that lists folders to look into first.
const PathEnv = "HALFTONE_CUDA_PATH"

// ModeEnv names the variable that chooses another driver than the machine's; with ModeEmulator the kernels run on the CPU, for tests.
const (
	ModeEnv      = "HALFTONE_CUDA"
	ModeEmulator = "emulator"
)

// A Library is one shared library of NVIDIA's, and where it was found.
type Library struct {
	Name     string   // "libcuda", "libcublas" …
	Use      string   // what it is for
	Required bool     // a CUDA device needs it
	Fix      string   // what to do when it is missing
	Path     string   // absolute; "" if it was not found
	Also     []string // further copies, in the order they would be used
	Tried    []string // files that were looked for and are not there or can't be used
}

// libraries are those of a CUDA device, with the versions of their file names, newest first.
var libraries = []struct {
	name, use string
	required  bool
	versions  []string
	toolkit   bool   // the version is the toolkit's, and needs a driver that is as new
	wheel     string // the Python wheel that has it
}{
	{"libcuda", "the driver", true, []string{"1"}, false, ""},
	{"libcublas", "matrix products", false, []string{"13", "12", "11"}, true, "nvidia-cublas"},
	{"libcublasLt", "matrix products with an epilogue; libcublas needs it", false, []string{"13", "12", "11"}, true, "nvidia-cublas"},
	{"libnvrtc", "kernels compiled at run time", false, []string{"13", "12", "11.2"}, true, "nvidia-cuda-nvrtc"},
	{"libcudnn", "convolutions", false, []string{"9", "8"}, false, "nvidia-cudnn-cu13 or -cu12"},
}

// Discover looks for the libraries: in the folders of HALFTONE_CUDA_PATH, where the system's loader looks, under CUDA_HOME and
// CUDA_PATH, in Python environments (NVIDIA's wheels; the active one, conda's and those of every python3 on PATH), and under
// /usr/local/cuda and /opt/cuda.
func Discover() []Library { return DiscoverIn(os.Getenv, "/") }

// Find looks for one library by name, such as "libcublas".
func Find(name string) Library { return find(Discover(), name) }

func find(libs []Library, name string) Library {
	for _, l := range libs {
		if l.Name == name {
			return l
		}
	}
	return Library{Name: name}
}

// For returns l without those copies that need a newer driver than one of version v (1000·major + 10·minor of the CUDA that it supports).
func (l Library) For(v int) Library {
	for _, known := range libraries {
		if known.name != l.Name || !known.toolkit || l.Path == "" {
			continue
		}
		var kept []string
		for _, path := range append([]string{l.Path}, l.Also...) {
			if m := Major(path); 1000*m > v {
				l.Tried = append(l.Tried, fmt.Sprintf("%s (which needs a driver for CUDA %d)", path, m))
			} else {
				kept = append(kept, path)
			}
		}
		if l.Path, l.Also = "", nil; len(kept) > 0 {
			l.Path, l.Also = kept[0], kept[1:]
		}
	}
	return l
}

// Version returns what is known of a library's version without loading it: "9.28.0.42" by its wheel, or "9.5.1" by the file that its name
// links to, else the "9" of its name; "" if it was not found.
func (l Library) Version() string {
	_, version, _ := strings.Cut(filepath.Base(l.Path), ".so.")
	if file, err := filepath.EvalSymlinks(l.Path); err == nil {
		if _, more, ok := strings.Cut(filepath.Base(file), ".so."); ok && len(more) > len(version) && strings.HasPrefix(more, version) {
			return more
		}
	}
	packages, _, ok := strings.Cut(l.Path, string(filepath.Separator)+"nvidia"+string(filepath.Separator))
	if name := packageOf[l.Name]; ok && name != "" {
		found, _ := filepath.Glob(filepath.Join(packages, name+"*-"+version+".*.dist-info"))
		if len(found) == 1 { // otherwise there are several, for different drivers
			_, v, _ := strings.Cut(strings.TrimSuffix(filepath.Base(found[0]), ".dist-info"), "-")
			return v
		}
	}
	return version
}

// packageOf are the Python packages that the wheels install, without what follows for a version of CUDA.
var packageOf = map[string]string{"libcublas": "nvidia_cublas", "libcublasLt": "nvidia_cublas", "libnvrtc": "nvidia_cuda_nvrtc", "libcudnn": "nvidia_cudnn"}

// Major returns 12 for a file such as libcublas.so.12.
func Major(path string) int {
	_, v, _ := strings.Cut(filepath.Base(path), ".so.")
	v, _, _ = strings.Cut(v, ".")
	n, _ := strconv.Atoi(v)
	return n
}

// DiscoverIn is Discover on another environment and file system root, for tests and for looking into an image.
func DiscoverIn(getenv func(string) string, root string) []Library {
	dirs := folders(getenv, root)
	var out []Library
	for _, l := range libraries {
		lib := Library{Name: l.name, Use: l.use, Required: l.required, Fix: "install NVIDIA's driver, or name its folder in " + PathEnv}
		if l.wheel != "" {
			lib.Fix = "pip install " + l.wheel + ", or install the CUDA toolkit, or name its folder in " + PathEnv
		}
		for _, dir := range dirs {
			for _, v := range l.versions {
				file := filepath.Join(dir, l.name+".so."+v)
				if info, err := os.Stat(file); err != nil || info.IsDir() {
					lib.Tried = append(lib.Tried, file)
				} else if foreign(file) {
					lib.Tried = append(lib.Tried, file+" (which is for another machine than "+runtime.GOARCH+")")
				} else if lib.Path == "" {
					lib.Path = file
				} else {
					lib.Also = append(lib.Also, file)
				}
			}
		}
		if lib.Path != "" {
			lib.Tried = nil
		}
		out = append(out, lib)
	}
	return out
}

// Missing is the error of a library that was not found. It wraps ErrNoCUDA if the library is required, else ErrUnsupported.
func (l Library) Missing() error {
	kind := ErrUnsupported
	if l.Required {
		kind = ErrNoCUDA
	}
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w: Halftone drives CUDA on Linux only, and this is %s; on Windows, run it in WSL2", kind, runtime.GOOS)
	}
	return fmt.Errorf("%w: there is no %s (%s); looked for %s; %s", kind, l.Name, l.Use, some(l.Tried), l.Fix)
}

// some shortens a list of files for a sentence.
func some(files []string) string {
	if len(files) <= 4 {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(files[:4], ", "), len(files)-4)
}

// folders lists where to look, in order, each once.
func folders(getenv func(string) string, root string) []string {
	var dirs []string
	add := func(list ...string) {
		for _, d := range list {
			if d != "" && !filepath.IsAbs(d) { // without a slash the loader would look elsewhere
				if whole, err := filepath.Abs(d); err == nil {
					d = whole
				}
			}
			if d != "" && !slices.Contains(dirs, d) {
				dirs = append(dirs, d)
			}
		}
	}
	wheels := func(env string) {
		for _, wheel := range []string{"cu[0-9]*", "*"} { // CUDA 13's wheels share one folder, older ones have one each
			found, _ := filepath.Glob(filepath.Join(env, "lib", "python3*", "site-packages", "nvidia", wheel, "lib"))
			add(newest(found)...)
		}
	}
	add(filepath.SplitList(getenv(PathEnv))...)
	add(filepath.SplitList(getenv("LD_LIBRARY_PATH"))...)
	add(loaderFolders(root)...)
	gnu := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	for _, d := range []string{"usr/lib/" + gnu, "lib/" + gnu, "usr/lib64", "lib64", "usr/lib", "usr/lib/wsl/lib", "usr/local/nvidia/lib64",
		"usr/local/nvidia/lib", "run/opengl-driver/lib"} {
		add(filepath.Join(root, d))
	}
	target := map[string]string{"amd64": "x86_64-linux", "arm64": "sbsa-linux"}[runtime.GOARCH]
	for _, v := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := getenv(v); home != "" {
			add(filepath.Join(home, "lib64"), filepath.Join(home, "lib"), filepath.Join(home, "targets", target, "lib"))
		}
	}
	for _, v := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if env := getenv(v); env != "" {
			add(filepath.Join(env, "lib"), filepath.Join(env, "targets", target, "lib"))
			wheels(env)
		}
	}
	for _, bin := range filepath.SplitList(getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(bin, "python3")); err == nil {
			wheels(filepath.Dir(bin))
		}
	}
	if home := getenv("HOME"); home != "" {
		wheels(filepath.Join(home, ".local"))
	}
	toolkits, _ := filepath.Glob(filepath.Join(root, "usr/local/cuda*/lib64"))
	add(newest(toolkits)...)
	add(filepath.Join(root, "opt/cuda/lib64"))
	return dirs
}

// newest sorts folders whose names hold versions, the newest first: "cuda-12.10" before "cuda-12.9".
func newest(dirs []string) []string {
	slices.SortStableFunc(dirs, func(a, b string) int { return compareVersions(b, a) })
	return dirs
}

func compareVersions(a, b string) int {
	for a != "" && b != "" {
		x, restA := leading(a)
		y, restB := leading(b)
		if x >= 0 && y >= 0 {
			if x != y {
				return x - y
			}
			a, b = restA, restB
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// leading splits off the number that s begins with, -1 if it does not.
func leading(s string) (n int, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, err := strconv.Atoi(s[:i])
	if err != nil {
		return -1, s
	}
	return n, s[i:]
}

// loaderFolders are those that the system's loader is configured with.
func loaderFolders(root string) []string {
	files := []string{filepath.Join(root, "etc/ld.so.conf")}
	more, _ := filepath.Glob(filepath.Join(root, "etc/ld.so.conf.d/*.conf"))
	var dirs []string
	for _, file := range append(files, more...) {
		content, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
				dirs = append(dirs, filepath.Join(root, line))
			}
		}
	}
	return dirs
}
