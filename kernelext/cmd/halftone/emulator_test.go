package main

import (
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/libraries"
)

// TestTrainOnTheEmulator: the command is built without it, and says how to have one with it.
func TestTrainOnTheEmulator(t *testing.T) {
	t.Setenv(libraries.ModeEnv, libraries.ModeEmulator)
	err := deviceError(&amp.Error{Op: "NewScope", Kind: amp.ErrDevice, Detail: "the program does not import the emulator"}, "cuda:0")
	if says := strings.Contains(err.Error(), "-tags halftone_emulator"); says == withEmulator {
		t.Error(err)
	}
}
