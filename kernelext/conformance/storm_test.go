package conformance

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

// A storm is a scenario of storm.py and its size in every test run.
type storm struct {
	name string
	size int
}

var storms = []storm{
	{"rapid", 100}, {"small", 1000}, {"huge", 8}, {"slow", 1000}, {"garbage", 60}, {"vanish", 1}, {"pair", 2}, {"restart", 3}, {"ipc", 2},
	{"interrupts", 12},
}

// brew runs a scenario with Jupyter's client and returns what it saw.
func brew(t *testing.T, name string, seed, size int, limit time.Duration) map[string]any {
	t.Helper()
	python, env := testenv.Python(t)
	cmd := exec.Command(python, "storm.py", layout.KernelName, name, strconv.Itoa(seed), strconv.Itoa(size))
	mark := "HALFTONE_STORM=" + rand.Text()
	cmd.Env = append(env, mark)
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	began := time.Now()
	out, err := cmd.Output()
	if err != nil {
		text := ""
		if exit, ok := err.(*exec.ExitError); ok {
			text = string(exit.Stderr)
		}
		t.Fatalf("%s, seed %d, after %v: %v\n%s", name, seed, time.Since(began), err, text)
	}
	var seen map[string]any
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	l, _ := testenv.Installed(t)
	nothingLeft(t, l.Tmp(), mark)
	t.Logf("%s, seed %d: %v in %.1f s", name, seed, seen, time.Since(began).Seconds())
	return seen
}

// nothingLeft checks that kernels, however they ended, have left no process, of which each has mark in its environment, and no
// folder: one whose lock nobody holds. Other tests' kernels may be running.
func nothingLeft(t *testing.T, tmp, mark string) {
	t.Helper()
	var left []string
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(50 * time.Millisecond) {
		left = nil
		procs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, p := range procs {
			if b, err := os.ReadFile(p); err == nil && strings.Contains(string(b), mark) {
				name, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "comm"))
				left = append(left, fmt.Sprintf("%s %s", p, name))
			}
		}
		folders, _ := filepath.Glob(filepath.Join(tmp, "*"))
		for _, dir := range folders {
			f, err := os.Open(filepath.Join(dir, "lock"))
			if err != nil {
				continue // it is being made, or removed
			}
			if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
				left = append(left, dir)
			}
			f.Close()
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("left behind: %q", left)
}

// TestStorms does to the installed kernel what front ends and machines do on bad days.
func TestStorms(t *testing.T) {
	for _, s := range storms {
		t.Run(s.name, func(t *testing.T) {
			seen := brew(t, s.name, 1, s.size, 8*time.Minute)
			if len(seen) == 0 {
				t.Error("nothing was seen")
			}
		})
	}
}
