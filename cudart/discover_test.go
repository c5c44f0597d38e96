package cudart

import (
	"errors"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestAutoFallsBackAndSaysSo goes through amp as a program does.
func TestAutoFallsBackAndSaysSo(t *testing.T) {
	s := amp.NewScope(amp.On("auto"))
	defer s.Close()
	if s.Device() == "cuda:0" {
		return // the machine has a GPU
	}
	if strings.Contains(s.Trace().Note, "emulated") { // by a test that ran before this one: with -count or -shuffle
		t.Skip(s.Trace().Note)
	}
	if s.Device() != "cpu" || !strings.Contains(s.Trace().Note, "cuda: no CUDA device") {
		t.Errorf("%s: %s", s.Device(), s.Trace().Note)
	}
	if err := amp.Maybe(func() { amp.NewScope(amp.On("cuda:0")) }); !errors.Is(err, amp.ErrDevice) || !strings.Contains(err.Error(), "no CUDA device") {
		t.Error(err)
	}
}

// TestModesHaveOneFix: an emulator that was not imported, and a mode that is none, are errors with one thing to do, and not amp's as well.
func TestModesHaveOneFix(t *testing.T) {
	before := emulated
	defer func() { emulated = before }()
	emulated = nil
	amp.RegisterDevice("unimported", open)
	for mode, want := range map[string]string{
		ModeEmulator: `the program does not import the emulator; fix: import _ "github.com/halftone-ml/halftone/cudart/emulator"`,
		"emulated":   `HALFTONE_CUDA is "emulated"; fix: leave it empty, or use "emulator"`,
	} {
		t.Setenv(ModeEnv, mode)
		err := amp.Maybe(func() { amp.NewScope(amp.On("unimported:0")) })
		if !errors.Is(err, amp.ErrDevice) || !strings.HasSuffix(err.Error(), want) || strings.Count(err.Error(), want[strings.Index(want, "fix: ")+5:]) != 1 {
			t.Errorf("%s: %v", mode, err)
		}
		if _, _, err := amp.OpenDevice("unimported:0"); !errors.Is(err, ErrNoCUDA) || !strings.HasSuffix(err.Error(), want[strings.Index(want, "fix: ")+5:]) {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
