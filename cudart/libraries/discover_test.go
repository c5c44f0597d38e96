package libraries

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func place(t *testing.T, root, file string) string {
	t.Helper()
	path := filepath.Join(root, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDiscoverOrder(t *testing.T) {
	root := t.TempDir()
	env := map[string]string{}
	getenv := func(k string) string { return env[k] }
	if libs := DiscoverIn(getenv, root); libs[0].Path != "" || len(libs[0].Tried) < 5 || libs[0].Name != "libcuda" {
		t.Fatalf("an empty machine: %+v", libs[0])
	}
	place(t, root, "base/bin/python3")
	// Later steps are preferred over earlier ones.
	for _, step := range []struct{ variable, value, file, lib string }{
		{"", "", "opt/cuda/lib64/libcublas.so.12", "libcublas"},
		{"", "", "usr/local/cuda-12.9/lib64/libcublas.so.12", "libcublas"},
		{"", "", "usr/local/cuda-12.10/lib64/libcublas.so.12", "libcublas"},
		{"PATH", "base/bin", "base/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12", "libcublas"},
		{"", "", "base/lib/python3.11/site-packages/nvidia/cu13/lib/libcublas.so.13", "libcublas"},
		{"VIRTUAL_ENV", "venv", "venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12", "libcublas"},
		{"CUDA_HOME", "toolkit", "toolkit/lib64/libcublas.so.13", "libcublas"},
		{"", "", "usr/lib64/libcublas.so.11", "libcublas"},
		{PathEnv, "mine", "mine/libcublas.so.12", "libcublas"},
	} {
		if step.variable != "" {
			env[step.variable] = filepath.Join(root, step.value)
		}
		want := place(t, root, step.file)
		found := ""
		for _, l := range DiscoverIn(getenv, root) {
			if l.Name == step.lib {
				found = l.Path
			}
		}
		if found != want {
			t.Errorf("found %q, want %q", found, want)
		}
	}
}

// TestCopiesForADriver: a copy that needs a newer driver is passed over.
func TestCopiesForADriver(t *testing.T) {
	root := t.TempDir()
	thirteen, twelve := place(t, root, "usr/lib64/libcublas.so.13"), place(t, root, "opt/cuda/lib64/libcublas.so.12")
	lib := find(DiscoverIn(func(string) string { return "" }, root), "libcublas")
	if lib.Path != thirteen || len(lib.Also) != 1 || lib.Also[0] != twelve {
		t.Fatalf("%+v", lib)
	}
	for version, want := range map[int]string{13000: thirteen, 12080: twelve, 11080: ""} {
		if got := lib.For(version); got.Path != want {
			t.Errorf("driver %d: %q, want %q", version, got.Path, want)
		}
	}
	if err := lib.For(11080).Missing(); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "libcublas.so.12 (which needs a driver for CUDA 12)") {
		t.Error(err)
	}
}

func TestLoaderFolders(t *testing.T) {
	root := t.TempDir()
	conf := place(t, root, "etc/ld.so.conf.d/nvidia.conf")
	if err := os.WriteFile(conf, []byte("# the driver\n/usr/local/driver/lib\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := place(t, root, "usr/local/driver/lib/libcuda.so.1")
	if lib := find(DiscoverIn(func(string) string { return "" }, root), "libcuda"); lib.Path != want {
		t.Errorf("%+v", lib)
	}
}

// TestVersion: what doctor shows of a library that it does not load.
func TestVersion(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	wheel := write("site-packages/nvidia/cudnn/lib/libcudnn.so.9")
	write("site-packages/nvidia_cudnn_cu12-9.28.0.42.dist-info/RECORD")
	write("site-packages/nvidia_cudnn_frontend-1.32.0.dist-info/RECORD")
	write("lib/libcudnn.so.9.5.1")
	linked := filepath.Join(dir, "lib/libcudnn.so.9")
	if err := os.Symlink("libcudnn.so.9.5.1", linked); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{wheel: "9.28.0.42", linked: "9.5.1", write("other/libcudnn.so.9"): "9", "": ""} {
		if got := (Library{Name: "libcudnn", Path: path}).Version(); got != want {
			t.Errorf("%s: version %q, want %q", path, got, want)
		}
	}
}

// TestForeignLibraries: where the libraries of 32-bit programs are installed too, which the loader's folders name first, they are passed over.
func TestForeignLibraries(t *testing.T) {
	root := t.TempDir()
	write := func(file string, class, machine byte) string {
		path, head := place(t, root, file), make([]byte, 64)
		copy(head, "\x7fELF")
		head[4], head[5], head[18] = class, 1, machine
		if err := os.WriteFile(path, head, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	own := byte(machines[runtime.GOARCH])
	conf := place(t, root, "etc/ld.so.conf.d/lib32.conf")
	if err := os.WriteFile(conf, []byte("/usr/lib32\n/opt/other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	narrow := write("usr/lib32/libcuda.so.1", 1, 3)
	other := write("opt/other/libcuda.so.1", 2, own^1)
	look := func() Library { return find(DiscoverIn(func(string) string { return "" }, root), "libcuda") }
	if lib := look(); lib.Path != "" || !strings.Contains(lib.Missing().Error(), narrow+" (which is for another machine than "+runtime.GOARCH+")") {
		t.Errorf("%+v", lib)
	}
	want := write("usr/lib/libcuda.so.1", 2, own)
	if lib := look(); lib.Path != want || len(lib.Also) != 0 {
		t.Errorf("%+v, and not %s", lib, other)
	}
}

// TestRelativeFolders: the path that is found is whole, so that the loader opens that file and no other.
func TestRelativeFolders(t *testing.T) {
	root := t.TempDir()
	want := place(t, root, "here/libcuda.so.1")
	t.Chdir(filepath.Dir(want))
	for _, v := range []string{".", "../here"} {
		lib := find(DiscoverIn(func(k string) string { return map[string]string{PathEnv: v}[k] }, root), "libcuda")
		if lib.Path != want {
			t.Errorf("%q: %q, want %q", v, lib.Path, want)
		}
	}
}
