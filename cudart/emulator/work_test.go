//go:build linux && (amd64 || arm64)

package emulator

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestPruneBuilds: what a killed build has left goes with the next one, and what is being built stays.
func TestPruneBuilds(t *testing.T) {
	cache := t.TempDir()
	running, done, err := workFolder(cache)
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour)
	for name, locked := range map[string]bool{"build-killed": true, "build-older": false, "build-begins": false, "0123456789": false} {
		dir := filepath.Join(cache, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if locked {
			unlock, err := lock(filepath.Join(dir, inUse))
			if err != nil {
				t.Fatal(err)
			}
			unlock() // as the system does for a process that is killed
		}
		if name == "build-older" || name == "0123456789" {
			if err := os.Chtimes(dir, long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	pruneBuilds(cache)
	for path, want := range map[string]bool{running: true, filepath.Join(cache, "build-killed"): false, filepath.Join(cache, "build-older"): false,
		filepath.Join(cache, "build-begins"): true, filepath.Join(cache, "0123456789"): true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: is there %v, want %v", filepath.Base(path), err == nil, want)
		}
	}
	done()
	if _, err := os.Stat(running); err == nil {
		t.Error("a finished build leaves its folder")
	}
}

// TestQuiet: who asks for quiet is not told that a library is compiled.
func TestQuiet(t *testing.T) {
	for settings, want := range map[string]bool{"": false, "quiet=1": true, "seed=7,quiet=1": true, "seed=7 quiet=1": true, "quiet=0": false, "seed=7": false} {
		if got := quiet(settings); got != want {
			t.Errorf("%q: %v", settings, got)
		}
	}
}
