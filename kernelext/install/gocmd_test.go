package install

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStableGoPrefersTheLink(t *testing.T) {
	dir := t.TempDir()
	cellar := filepath.Join(dir, "Cellar", "go", "1.26.3", "libexec", "bin", "go")
	script(t, cellar, "#!/bin/sh\n")
	link := filepath.Join(dir, "bin", "go")
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(cellar, link); err != nil {
		t.Fatal(err)
	}
	// go run puts GOROOT's own folder in front.
	path := filepath.Dir(cellar) + string(os.PathListSeparator) + filepath.Dir(link)
	if got := stableGo(cellar, path); got != link {
		t.Errorf("chose %s", got)
	}
	other := filepath.Join(dir, "other", "go")
	script(t, other, "#!/bin/sh\n")
	if got := stableGo(cellar, filepath.Dir(other)); got != cellar {
		t.Errorf("chose another Go: %s", got)
	}
}

func TestMissingOrOldGo(t *testing.T) {
	isolate(t)
	in, _ := newInstaller(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	if _, _, err := FindGo(context.Background(), in.Checkout); err == nil || !strings.Contains(err.Error(), "install Go 1.26") {
		t.Errorf("without Go: %v", err)
	}
	script(t, filepath.Join(bin, "go"), "#!/bin/sh\necho 'go: go.mod requires go >= 1.26 (running go 1.22.1; GOTOOLCHAIN=local)' >&2\nexit 1\n")
	if _, _, err := FindGo(context.Background(), in.Checkout); err == nil || !strings.Contains(err.Error(), "running go 1.22.1") || !strings.Contains(err.Error(), "GOTOOLCHAIN=auto") {
		t.Errorf("with an old Go: %v", err)
	}
	script(t, filepath.Join(bin, "go"), "#!/bin/sh\necho go1.25.3\necho /usr/lib/go\n")
	if _, _, err := FindGo(context.Background(), in.Checkout); err == nil || !strings.Contains(err.Error(), "is go1.25.3") {
		t.Errorf("with Go 1.25: %v", err)
	}
}
