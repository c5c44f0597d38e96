package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestCachedValuesOutliveTheKernel keeps a value with gonb/cache in one kernel and finds it in the folder that stock GoNB, and
// the next kernel in the same working directory, look into.
func TestCachedValuesOutliveTheKernel(t *testing.T) {
	system := t.TempDir()
	s := startKernel(t, home(t), "TMPDIR="+system)
	r := s.run("import \"github.com/janpfeifer/gonb/cache\"\n%%\nfmt.Println(cache.Cache(\"answer\", func() int { return 42 }))").ok(t)
	if !strings.Contains(r.stdout, "42") {
		t.Fatalf("%q", r.stdout)
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	s.waitExit()
	found, err := filepath.Glob(filepath.Join(system, "gonb_cache_*", "answer*"))
	if err != nil || len(found) != 1 {
		t.Errorf("kept after the kernel's end: %v %v", found, err)
	}
}

func TestCacheFolder(t *testing.T) {
	tmp, system := t.TempDir(), t.TempDir()
	tidy := keepCache(tmp, system, "/some/where")
	links, _ := filepath.Glob(filepath.Join(tmp, "gonb_cache_*"))
	if len(links) != 1 {
		t.Fatalf("links: %v", links)
	}
	kept := filepath.Join(system, filepath.Base(links[0]))
	tidy()
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("an unused folder stays: %v", err)
	}
	// Of two kernels in one working directory, the first to end leaves the folder to the other.
	first, second := keepCache(t.TempDir(), system, "/some/where"), keepCache(t.TempDir(), system, "/some/where")
	first()
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("the folder of a kernel that runs was removed: %v", err)
	}
	second()
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("an unused folder stays: %v", err)
	}
	tidy = keepCache(t.TempDir(), system, "/some/where")
	if err := os.WriteFile(filepath.Join(kept, "value.bin"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tidy()
	if _, err := os.Stat(filepath.Join(kept, "value.bin")); err != nil {
		t.Errorf("a value was lost: %v", err)
	}
	// What lies under the name but is no folder is left alone.
	other := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	foreign := t.TempDir()
	if err := os.Symlink(other, filepath.Join(foreign, filepath.Base(kept))); err != nil {
		t.Fatal(err)
	}
	keepCache(tmp, foreign, "/some/where")()
	if _, err := os.Lstat(filepath.Join(foreign, filepath.Base(kept))); err != nil {
		t.Error("someone's link was removed")
	}
}
