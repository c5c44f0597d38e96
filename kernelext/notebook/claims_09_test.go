package notebook_test

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart/emulator"
	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
)

// buildEmulator compiles the emulator's library where the ninth tutorial's cells look for it. That takes the compiler half a minute, and
// several on a busy machine, and is not what the tutorial's own time is measured for.
func buildEmulator(t *testing.T) {
	t.Helper()
	l, _ := testenv.Installed(t)
	if _, err := emulator.Build(context.Background(), emulator.Options{Dir: filepath.Join(l.Home, "cache", "emulator")}); err != nil && !errors.Is(err, emulator.ErrUnavailable) {
		t.Fatal(err)
	}
}

// kernelCells are the cells of the ninth tutorial that run kernels.
var kernelCells = []string{"device", "first", "mistakes", "timing", "tensor", "capture", "exercise-code"}

// kernelsRun says whether there was something to run kernels on. Where there was not, every cell has to say so, and nothing else.
func kernelsRun(t *testing.T, nb saved) bool {
	t.Helper()
	const excuse = "This cell needs a GPU, or a C++ compiler for the emulator:"
	silent := 0
	for _, cell := range kernelCells {
		if out := printed(t, nb, cell); strings.HasPrefix(out, excuse) {
			silent++
			if strings.Count(strings.TrimSpace(out), "\n") > 0 {
				t.Errorf("cell %s goes on after it had nothing to run on: %s", cell, out)
			}
		}
	}
	if silent != 0 && silent != len(kernelCells) {
		t.Errorf("%d of %d cells had nothing to run on", silent, len(kernelCells))
	}
	return silent == 0
}

// saysOf checks what cells print by patterns, where kernels run.
func saysOf(patterns map[string]string) func(t *testing.T, nb saved) {
	return func(t *testing.T, nb saved) {
		if !kernelsRun(t, nb) {
			t.Skip("there is neither a GPU nor a C++ compiler, and the cells say so")
		}
		for cell, want := range patterns {
			if out := printed(t, nb, cell); !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("cell %s prints\n%s\nwant %s", cell, out, want)
			}
		}
	}
}

var checkKernel = saysOf(map[string]string{
	"device":        `^kernels run on cuda:0( \(emulated\))?\ncuda:0( \(emulated\))? \[4\] float32\n`,
	"first":         `^0 of 100000 gradients differ from what Go computes; found = 0\nwith one infinity among them found = 1\n`,
	"exercise-code": `^sum 7000\n`,
})

var checkMistakes = saysOf(map[string]string{"mistakes": `(?s)typing error: .*kernel\.cu:5: error: .*invers.*` +
	`float16 for a float \*: .*a tensor of float16; .*an argument too few: .*takes 4 arguments .*, not 3\n.*a tensor of the host: .*argument 1 is on cpu`})

// checkTimes: times are those of a GPU, or none.
var checkTimes = saysOf(map[string]string{"timing": `on the emulator: its times say nothing of a GPU|one pass: .* GB/s\nthree ops: .* times as long`})

var checkTensorCores = saysOf(map[string]string{
	"tensor": `4096 ones: summed in float16 2048, by the tensor core 4096, by amp\.MatMul 4096\n.*\n.*unit of the last digit that float16 has there: true`,
})

var checkCapture = saysOf(map[string]string{"capture": `loss (0\.\d+); 1 step and 49 replays: loss 0\.\d+\nall 321 weights have the same bits: true`})
