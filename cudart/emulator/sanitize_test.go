//go:build linux && (amd64 || arm64)

package emulator

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// childEnv names the mistake that TestMistakes makes in a process of its own: the device, or the process, does not survive it.
const childEnv = "HALFTONE_EMULATOR_TEST_MISTAKE"

// sanitized returns the environment of a program on the library with sanitizers, for a value of SanitizeEnv, or skips the test.
func sanitized(t *testing.T, how string) []string {
	t.Helper()
	env, err := SanitizerEnv(t.Context())
	if err != nil {
		t.Skip(err)
	}
	return append(env, SanitizeEnv+"="+how)
}

// mistakes are made by TestMistake; each ends with what it wants to be told.
var mistakes = []struct {
	name     string
	sanitize bool
	run      func(t *testing.T)
	words    []string
}{
	{"a kernel writes past a tensor", false, pastTensor, []string{"something wrote 4 bytes past the end of the 400 bytes", "a tensor's memory"}},
	{"a kernel writes past an allocation", true, kernelMistake("off_by_one"), []string{"AddressSanitizer: use-after-poison", "WRITE of size 4", "in off_by_one"}},
	{"a kernel reads beside an allocation", true, kernelMistake("reads_beside"), []string{"AddressSanitizer: use-after-poison", "READ of size 4", "in reads_beside"}},
	{"a vector lies oddly", true, kernelMistake("odd_vector"), []string{"runtime error:", "misaligned address", "float4", "in odd_vector"}},
	{"a number is too large for int", true, kernelMistake("too_large"), []string{"runtime error:", "outside the range of representable values of type 'int'", "in too_large"}},
	{"a sum overflows", true, kernelMistake("overflows"), []string{"runtime error: signed integer overflow", "in overflows"}},
}

// TestMistakes: what a kernel does beside its memory is found, in the plain library by what lies between tensors, and by sanitizers.
func TestMistakes(t *testing.T) {
	opened(t)
	if _, err := Library(); err != nil { // not within the time of a program that makes a mistake
		t.Fatal(err)
	}
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMistake$", "-test.v", "-test.timeout=5m")
			cmd.Env = append(os.Environ(), childEnv+"="+m.name)
			if m.sanitize {
				if _, err := Build(t.Context(), sanitizedTests()); err != nil { // before the sanitizer slows the compiler down
					t.Fatal(err)
				}
				cmd.Env = append(cmd.Env, sanitized(t, "1")...)
			}
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("nothing was found")
			}
			for _, w := range m.words {
				if !strings.Contains(string(out), w) {
					t.Errorf("it does not say %q:\n%s", w, out)
				}
			}
		})
	}
}

// TestMistake makes one of them: it is started by TestMistakes.
func TestMistake(t *testing.T) {
	for _, m := range mistakes {
		if m.name == os.Getenv(childEnv) {
			m.run(t)
			return
		}
	}
	t.Skip("TestMistakes starts it")
}

// pastTensor writes one element too many with a kernel of the program's own, among tensors that lie in one piece of memory.
func pastTensor(t *testing.T) {
	useEmulator(t)
	s := amp.NewScope(amp.On("cuda:0"))
	p, err := cudart.Compile(`extern "C" __global__ void count(float *x, int n) { for (int i = 0; i <= n; i++) x[i] = i; }`)
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Kernel("count")
	if err != nil {
		t.Fatal(err)
	}
	step := s.Child()
	x := amp.Zeros(step, amp.Float32, 100)
	y := amp.Zeros(s, amp.Float32, 100)
	if err := k.Launch(cudart.For(1), x, 100); err != nil {
		t.Fatal(err)
	}
	step.Close()
	t.Error(amp.Maybe(func() { fmt.Println(amp.Values[float32](y)[0]) }))
}

func sanitizedTests() Options { return Options{Sanitize: true, Kernels: testKernels()} }

// kernelMistake runs a kernel of testdata on 100 numbers.
func kernelMistake(name string) func(t *testing.T) {
	return func(t *testing.T) {
		path, err := Build(t.Context(), sanitizedTests())
		if err != nil {
			t.Fatal(err)
		}
		d, err := driver.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t, d, "")
		args := driver.GetArgs("").Ptr(upload(b, iota32(100)))
		if name == "off_by_one" || name == "reads_beside" {
			args.Int32(100)
		}
		b.launch(name, 1, 128, 0, args)
		b.check(d.SyncStream(b.stream))
	}
}
