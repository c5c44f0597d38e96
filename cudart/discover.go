package cudart

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// PathEnv names the variable that lists folders to look into first.
const PathEnv = "HALFTONE_CUDA_PATH"

// ErrNoCUDA is wrapped by every error of opening a CUDA device.
var ErrNoCUDA = errors.New("no CUDA device")

// A Library is one shared library of NVIDIA's, and where it was found.
type Library struct {
	Name     string   // "libcuda", "libcublas" …
	Use      string   // what it is for
	Required bool     // a CUDA device needs it
	Path     string   // "" if it was not found
	Tried    []string // files that were looked for, when it was not found
}

// libraries are those of a CUDA device, with the versions of their file names, newest first.
var libraries = []struct {
	name, use string
	required  bool
	versions  []string
}{
	{"libcuda", "the driver", true, []string{"1"}},
	{"libcublas", "matrix products", false, []string{"13", "12", "11"}},
	{"libnvrtc", "kernels compiled at run time", false, []string{"13", "12", "11.2"}},
	{"libcudnn", "convolutions", false, []string{"9", "8"}},
}

// Discover looks for the libraries: in the folders of HALFTONE_CUDA_PATH, where the system's loader looks, under CUDA_HOME and
// CUDA_PATH, in Python environments (NVIDIA's wheels), and under /usr/local/cuda.
func Discover() []Library { return discover(os.Getenv, "/") }

func discover(getenv func(string) string, root string) []Library {
	dirs := folders(getenv, root)
	var out []Library
	for _, l := range libraries {
		lib := Library{Name: l.name, Use: l.use, Required: l.required}
		for _, dir := range dirs {
			for _, v := range l.versions {
				file := filepath.Join(dir, l.name+".so."+v)
				if info, err := os.Stat(file); err == nil && !info.IsDir() {
					lib.Path = file
					break
				}
				lib.Tried = append(lib.Tried, file)
			}
			if lib.Path != "" {
				lib.Tried = nil
				break
			}
		}
		out = append(out, lib)
	}
	return out
}

// folders lists where to look, in order, each once.
func folders(getenv func(string) string, root string) []string {
	var dirs []string
	add := func(list ...string) {
		for _, d := range list {
			if d != "" && !slices.Contains(dirs, d) {
				dirs = append(dirs, d)
			}
		}
	}
	add(filepath.SplitList(getenv(PathEnv))...)
	add(filepath.SplitList(getenv("LD_LIBRARY_PATH"))...)
	arch := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	for _, d := range []string{"usr/lib/" + arch, "lib/" + arch, "usr/lib64", "lib64", "usr/lib", "usr/lib/wsl/lib", "usr/local/nvidia/lib64"} {
		add(filepath.Join(root, d))
	}
	for _, v := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := getenv(v); home != "" {
			add(filepath.Join(home, "lib64"), filepath.Join(home, "lib"))
		}
	}
	for _, v := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if env := getenv(v); env != "" {
			add(filepath.Join(env, "lib"))
			wheels, _ := filepath.Glob(filepath.Join(env, "lib", "python3*", "site-packages", "nvidia", "*", "lib"))
			add(wheels...)
		}
	}
	toolkits, _ := filepath.Glob(filepath.Join(root, "usr/local/cuda*/lib64"))
	slices.Reverse(toolkits) // the newest version first
	add(toolkits...)
	return dirs
}

func init() { amp.RegisterDevice("cuda", open) }

// open says why there is no device.
func open(index int) (amp.Device, error) { return nil, refusal(index, Discover()) }

func refusal(index int, libs []Library) error {
	for _, l := range libs {
		if l.Required && l.Path == "" {
			return fmt.Errorf("%w: cuda:%d needs %s (%s); looked for %s; install NVIDIA's driver, or name its folder in %s",
				ErrNoCUDA, index, l.Name, l.Use, some(l.Tried), PathEnv)
		}
	}
	return fmt.Errorf("%w: the driver is there (%s), but this version of Halftone has no CUDA kernels yet; use amp.On(\"cpu\")", ErrNoCUDA, libs[0].Path)
}

// some shortens a list of files for a sentence.
func some(files []string) string {
	if len(files) <= 4 {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(files[:4], ", "), len(files)-4)
}
