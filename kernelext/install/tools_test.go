package install

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

func TestPinnedVersionsComeFromTheCheckout(t *testing.T) {
	root, err := FindCheckout(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range Tools {
		ver, err := tool.Pinned(root)
		if err != nil || !strings.HasPrefix(ver, "v") {
			t.Errorf("%s: %q, %v", tool.Name, ver, err)
		}
	}
	if ver, _ := Tools[0].Pinned(root); ver != "v0.11.4" {
		t.Errorf("GoNB is pinned at %s", ver)
	}
	if _, err := Tools[0].Pinned(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not complete") {
		t.Errorf("a checkout without the file: %v", err)
	}
}

func TestUnreadableToolCountsAsMissing(t *testing.T) {
	l := layout.Layout{Home: t.TempDir()}
	for _, tool := range Tools {
		if ver, by := tool.Installed(l); ver != "" || by != "" {
			t.Errorf("%s: %q by %q in an empty folder", tool.Name, ver, by)
		}
		write(t, tool.Path(l), "cut off in the middle")
		if ver, _ := tool.Installed(l); ver != "" {
			t.Errorf("a damaged %s has version %q", tool.Name, ver)
		}
	}
	// A Go program, but another one.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	write(t, Tools[0].Path(l), string(b))
	if ver, _ := Tools[0].Installed(l); ver != "" {
		t.Errorf("another program passes for %s %s", Tools[0].Name, ver)
	}
}

func TestFailedBuildLeavesTheOldBinary(t *testing.T) {
	isolate(t)
	in, _ := newInstaller(t)
	goCmd, ver, err := FindGo(context.Background(), mustCheckout(t))
	if err != nil {
		t.Fatal(err)
	}
	in.goCmd, in.goVersion, in.source = goCmd, ver, "new"
	write(t, in.Layout.Halftone(), "the old binary")
	write(t, builtFile(in.Layout), "old "+ver+"\n")
	write(t, filepath.Join(in.Checkout, "kernelext", "cmd", "halftone", "main.go"), "package main\n\nfunc main() { undefined() }\n")
	err = in.Report.Phase("halftone", func(p *Progress) (string, error) { return in.buildBinary(context.Background(), p) })
	if err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Fatalf("error %v", err)
	}
	if b, _ := os.ReadFile(in.Layout.Halftone()); string(b) != "the old binary" {
		t.Error("the old binary is gone")
	}
	if builtFrom(in.Layout) != "" {
		t.Error("the old binary passes for one of the new sources")
	}

	// Repaired, it is built, and not again.
	write(t, filepath.Join(in.Checkout, "kernelext", "cmd", "halftone", "main.go"), "package main\n\nfunc main() {}\n")
	for i, want := range []string{"built", "sources new"} {
		err := in.Report.Phase("halftone", func(p *Progress) (string, error) {
			detail, err := in.buildBinary(context.Background(), p)
			if err == nil && (!strings.Contains(detail, want) || i == 1 && strings.Contains(detail, "built")) {
				t.Errorf("time %d: %s", i+1, detail)
			}
			return detail, err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func mustCheckout(t *testing.T) string {
	t.Helper()
	root, err := FindCheckout(".")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestWarmUpCompilesWhatTheCheckoutHas(t *testing.T) {
	dir := t.TempDir()
	checkout := t.TempDir()
	write(t, filepath.Join(checkout, "amp", "a.go"), "package amp")
	if err := writeWarm(dir, checkout, "go1.26.3 X:nodwarf5"); err != nil {
		t.Fatal(err)
	}
	main, _ := os.ReadFile(filepath.Join(dir, "main.go"))
	if !strings.Contains(string(main), `"`+Module+`/amp"`) || strings.Contains(string(main), "/amp/nn") || !strings.Contains(string(main), `"fmt"`) {
		t.Errorf("%s", main)
	}
	mod, _ := os.ReadFile(filepath.Join(dir, "go.mod"))
	if !strings.Contains(string(mod), "\ngo 1.26.3\n") {
		t.Errorf("%s", mod)
	}
}
