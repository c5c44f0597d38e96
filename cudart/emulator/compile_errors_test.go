//go:build linux && (amd64 || arm64)

package emulator

import (
	"errors"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// TestErrorsAreTheProgramsOwn: what a compiler says is told of lines of the program alone, each mistake once: nothing of the table of kernels that
// the emulator puts behind it, nor of the emulator's headers.
func TestErrorsAreTheProgramsOwn(t *testing.T) {
	useEmulator(t)
	for _, c := range []struct {
		source string
		line   int
		want   string
		errors int // 0: whatever the compiler makes of one mistake
	}{
		{"extern \"C\" __global__ void f(float *x) {\n\tx[0] = y;\n}\nextern \"C\" __global__ void g(float *x, int x) { }", 2, "'y'", 2},
		{"\nextern \"C\" __global__ void f(undefined *x) { x[0] = 1; }", 2, "undefined", 0},
		{"// f\nextern \"C\" __global__ void g(float *x) { }\nextern \"C\" __global__ void f(float &x) { x = 1; }", 3, `kernel "f" can't be launched`, 1},
		{"__global__ void f(float *x) { }\n__global__ void f(int *x) { }", 1, `kernel "f" can't be launched`, 1},
		{"extern \"C\" __global__ void f(float *x, ...) { }", 1, `kernel "f" can't be launched`, 1},
		{"extern \"C\" __global__ void f(float *x) {\n\tx[0] = 1;\n", 2, "'}'", 0},
	} {
		_, err := cudart.Compile(c.source)
		var ce *driver.CompileError
		if !errors.As(err, &ce) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.source, err)
			continue
		}
		if ce.Diagnostics[0].Line != c.line || c.errors > 0 && len(ce.Diagnostics) != c.errors {
			t.Errorf("%q: %v", c.source, err)
		}
		for _, d := range ce.Diagnostics {
			if d.File != "kernel.cu" {
				t.Errorf("%q: a message about %s", c.source, d.File)
			}
		}
		for _, ours := range []string{"emu::", "csrc", "unit.cpp", "template argument"} {
			if strings.Contains(err.Error(), ours) {
				t.Errorf("%q: says %q: %v", c.source, ours, err)
			}
		}
	}
}
