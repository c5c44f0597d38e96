package cudart

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
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
	if libs := discover(getenv, root); libs[0].Path != "" || len(libs[0].Tried) < 5 || libs[0].Name != "libcuda" {
		t.Fatalf("an empty machine: %+v", libs[0])
	}
	// Later steps are preferred over earlier ones.
	for _, step := range []struct{ variable, value, file, lib string }{
		{"", "", "usr/local/cuda-12.4/lib64/libcublas.so.12", "libcublas"},
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
		for _, l := range discover(getenv, root) {
			if l.Name == step.lib {
				found = l.Path
			}
		}
		if found != want {
			t.Errorf("found %q, want %q", found, want)
		}
	}
}

func TestRefusalSaysWhatWasTried(t *testing.T) {
	root := t.TempDir()
	getenv := func(string) string { return "" }
	err := refusal(1, discover(getenv, root))
	if !errors.Is(err, ErrNoCUDA) || !strings.Contains(err.Error(), "libcuda.so.1") || !strings.Contains(err.Error(), PathEnv) {
		t.Error(err)
	}
	driver := place(t, root, "usr/lib64/libcuda.so.1")
	if err := refusal(0, discover(getenv, root)); !errors.Is(err, ErrNoCUDA) || !strings.Contains(err.Error(), driver) {
		t.Error(err)
	}
}

// TestAutoFallsBackAndSaysSo goes through amp as a program does.
func TestAutoFallsBackAndSaysSo(t *testing.T) {
	s := amp.NewScope(amp.On("auto"))
	defer s.Close()
	if s.Device() != "cpu" || !strings.Contains(s.Trace().Note, "cuda: no CUDA device") {
		t.Errorf("%s: %s", s.Device(), s.Trace().Note)
	}
	if err := amp.Maybe(func() { amp.NewScope(amp.On("cuda:0")) }); !errors.Is(err, amp.ErrDevice) || !strings.Contains(err.Error(), "no CUDA device") {
		t.Error(err)
	}
}
