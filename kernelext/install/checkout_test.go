package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

func TestFingerprintFollowsContent(t *testing.T) {
	isolate(t)
	in, _ := newInstaller(t)
	print := func() string {
		t.Helper()
		s, err := Fingerprint(in.Checkout)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	file := filepath.Join(in.Checkout, "amp", "a.go")
	write(t, file, "package amp")
	first := print()
	if err := os.Chtimes(file, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(in.Checkout, "amp", "a_test.go"), "package amp")
	write(t, filepath.Join(in.Checkout, "amp", "testdata", "x"), "1")
	write(t, filepath.Join(in.Checkout, "notebooks", "a.ipynb"), "{}")
	if print() != first {
		t.Error("times, tests or notebooks change the fingerprint")
	}
	write(t, file, "package amp // edited")
	if print() == first {
		t.Error("an edited source does not change the fingerprint")
	}
	write(t, file, "package amp")
	write(t, filepath.Join(in.Checkout, "kernelext", "notebook", "run.py"), "embedded")
	if print() == first {
		t.Error("an embedded file does not change the fingerprint")
	}
}

func TestFindCheckout(t *testing.T) {
	isolate(t)
	in, _ := newInstaller(t)
	deep := filepath.Join(in.Checkout, "notebooks", "drafts")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if dir, err := FindCheckout(deep); err != nil || dir != in.Checkout {
		t.Errorf("from a folder within: %s, %v", dir, err)
	}
	if _, err := FindCheckout(t.TempDir()); err == nil || !strings.Contains(err.Error(), "--checkout") {
		t.Errorf("outside: %v", err)
	}
	// A nested module of ours is not the checkout.
	write(t, filepath.Join(deep, "go.mod"), "module "+Module+"/kernelext/tools\n")
	if dir, err := FindCheckout(deep); err != nil || dir != in.Checkout {
		t.Errorf("from a nested module: %s, %v", dir, err)
	}
}

func TestMovedCheckoutSaysWhatToDo(t *testing.T) {
	isolate(t)
	in, _ := newInstaller(t)
	state := layout.State{Checkout: in.Checkout}
	if _, err := InstalledCheckout(state); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(in.Checkout, in.Checkout+"-moved"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(in.Checkout + "-moved") })
	_, err := InstalledCheckout(state)
	if err == nil || !strings.Contains(err.Error(), in.Checkout) || !strings.Contains(err.Error(), "make lab") {
		t.Errorf("error %v", err)
	}
}
