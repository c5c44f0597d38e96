//go:build linux && (amd64 || arm64)

package emulator

import (
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// useEmulator makes On("cuda:0") the emulated device, with Halftone's own kernels, or skips the test.
func useEmulator(t *testing.T) {
	t.Helper()
	opened(t)
	t.Setenv(cudart.ModeEnv, cudart.ModeEmulator)
}

func TestScopeOnTheEmulator(t *testing.T) {
	useEmulator(t)
	s := amp.NewScope(amp.On("cuda:0"))
	defer s.Close()
	if !strings.Contains(s.Device(), "emulated") {
		t.Errorf("the device calls itself %q", s.Device())
	}
	x := amp.From([]float32{1, 2, 3}, 3).To(s)
	if got := amp.Values[float32](amp.Add(s, x, x)); got[0] != 2 || got[1] != 4 || got[2] != 6 {
		t.Errorf("x + x is %v", got)
	}
}

// TestAutoIsNeverTheEmulator: it is for tests alone.
func TestAutoIsNeverTheEmulator(t *testing.T) {
	useEmulator(t)
	s := amp.NewScope(amp.On("auto"))
	defer s.Close()
	if s.Device() != "cpu" {
		t.Errorf("auto chose %q", s.Device())
	}
}
