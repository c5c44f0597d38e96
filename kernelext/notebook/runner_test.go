package notebook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runnerOf is a Runner whose Python is a shell script, and a notebook for it.
func runnerOf(t *testing.T, script string) (r Runner, path string, out *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	python, path := filepath.Join(dir, "python"), filepath.Join(dir, "a.ipynb")
	for file, text := range map[string]string{python: "#!/bin/sh\ncat > /dev/null\n" + script, path: `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[]}`} {
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out = new(bytes.Buffer)
	return Runner{Python: python, Env: os.Environ(), Kernel: "k", Out: out}, path, out
}

// TestShortTimeouts: a limit below a second is none of "no limit", which is what 0 asks for.
func TestShortTimeouts(t *testing.T) {
	for limit, want := range map[time.Duration]string{0: "0", time.Millisecond: "1", 900 * time.Millisecond: "1", time.Second: "1", 90 * time.Second: "90"} {
		r, path, _ := runnerOf(t, "printf '%s' \"$2\" > \"$(dirname \"$0\")/order\"\necho '{\"event\": \"done\"}'\n")
		if err := r.Run(t.Context(), path, Options{Timeout: limit}); err != nil {
			t.Fatal(err)
		}
		order, err := os.ReadFile(filepath.Join(filepath.Dir(path), "order"))
		if err != nil || !strings.Contains(string(order), fmt.Sprintf(`"timeout":%s}`, want)) {
			t.Errorf("%v: %s %v", limit, order, err)
		}
	}
}

// TestRunnerThatSaysTooMuch: a line that is too long to be read keeps neither side waiting.
func TestRunnerThatSaysTooMuch(t *testing.T) {
	r, path, _ := runnerOf(t, "head -c 18000000 /dev/zero | tr '\\0' 'x'\necho\necho '{\"event\": \"done\"}'\n")
	ended := make(chan error, 1)
	go func() { ended <- r.Run(t.Context(), path, Options{}) }()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "ended without a result") {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the run hangs")
	}
}
