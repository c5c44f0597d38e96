package cudart

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
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

func TestRefusalSaysWhatWasTried(t *testing.T) {
	root := t.TempDir()
	getenv := func(string) string { return "" }
	err := refusal(driver.DiscoverIn(getenv, root))
	if !errors.Is(err, ErrNoCUDA) || !strings.Contains(err.Error(), "libcuda.so.1") || !strings.Contains(err.Error(), PathEnv) {
		t.Error(err)
	}
	found := place(t, root, "usr/lib64/libcuda.so.1")
	if err := refusal(driver.DiscoverIn(getenv, root)); !errors.Is(err, ErrNoCUDA) || !strings.Contains(err.Error(), found) {
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
