package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/cudart/emulator"
)

// onGPU turns the session's cells into such of an (emulated) GPU.
func onGPU(cell string) string {
	return strings.ReplaceAll(cell, "session.NewScope(", `session.NewScope(amp.On("cuda:0"), `)
}

// TestSessionOnGPU trains in cells on the emulated GPU: tensors stay in its memory, which this kernel keeps without a driver; they are
// listed with their place, saved, dropped and loaded, and a killed cell loses no committed step. It also logs what a warm cell takes, of
// which the kernel's and the go command's part are what a real GPU would see.
func TestSessionOnGPU(t *testing.T) {
	if _, err := emulator.Library(); err != nil {
		t.Skip(err)
	}
	t.Setenv("HALFTONE_CUDA", "emulator")
	t.Setenv("HALFTONE_EMULATOR", "quiet=1")
	s := startKernel(t, home(t))
	s.run(onGPU(sessionDecls)).ok(t)
	first := s.run(sessionTrain).ok(t)
	if got := s.run(sessionLook).ok(t); got.stdout != first.stdout || stepsOf(t, got) != 5 {
		t.Errorf("after a cell: %q, it had %q", got.stdout, first.stdout)
	}
	list := s.displayed("%amp session")
	if strings.Count(list, "on cuda:0 (emulated)") != 2 {
		t.Errorf("model and optimizer are on the GPU, not\n%s", list)
	}

	m := s.submit(sessionLoop)
	s.waitOutput(m, "going")
	time.Sleep(200 * time.Millisecond)
	if err := syscall.Kill(s.cell(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.result(m)
	killed := s.run(sessionLook).ok(t)
	if n := stepsOf(t, killed); n < 5 {
		t.Errorf("after a killed cell: %d steps", n)
	}

	file := filepath.Join(t.TempDir(), "all.safetensors")
	s.displayed("%amp session save * " + file)
	if info, err := os.Stat(file); err != nil || info.Size() < 80000*3 {
		t.Fatalf("%v %v", info, err)
	}
	s.run(sessionTrain).ok(t)
	s.displayed("%amp session drop *")
	s.displayed("%amp session load * " + file)
	if list := s.displayed("%amp session"); strings.Contains(list, "on cuda:0") {
		t.Errorf("what was loaded is on the host until a cell has it:\n%s", list)
	}
	if got := s.run(sessionLook).ok(t); got.stdout != killed.stdout {
		t.Errorf("what was saved is %q, it was %q", got.stdout, killed.stdout)
	}
	if list := s.displayed("%amp session"); strings.Count(list, "on cuda:0 (emulated)") != 2 {
		t.Errorf("and then back on the GPU:\n%s", list)
	}

	var took []time.Duration
	for i := range 5 {
		start := time.Now()
		s.run(sessionLook + fmt.Sprintf("fmt.Println(%d)\n", i)).ok(t)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	t.Logf("an edited cell that takes the session up on the emulated GPU: %v (%v to %v)", took[2], took[0], took[4])
}

// displayed runs a line and returns what it showed.
func (s *server) displayed(code string) string {
	s.t.Helper()
	r := s.run(code).ok(s.t)
	out := r.stdout + r.stderr
	for _, d := range r.displays {
		if p, ok := d["text/plain"].(string); ok {
			out += p
		}
	}
	return out
}
