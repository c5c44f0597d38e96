package emulator_test

import (
	"context"
	"testing"

	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/emulator"
)

// TestWarm: every common kernel is a module that loads, and an end that is asked for comes at once.
func TestWarm(t *testing.T) {
	if _, err := emulator.Library(); err != nil {
		t.Skip(err)
	}
	t.Setenv(cudart.ModeEnv, cudart.ModeEmulator)
	n, err := cudart.Warm(t.Context(), 0)
	if err != nil || n < 300 {
		t.Errorf("%d kernels, %v", n, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := cudart.Warm(ended, 0); n != 0 || err != nil {
		t.Errorf("%d kernels after the end, %v", n, err)
	}
}
