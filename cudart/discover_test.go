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
