// Package testenv gives tests an installation of their own. It lies in the checkout's ignored folder .halftone, so that
// tests never touch what the user has installed, and is kept between runs.
package testenv

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

// Checkout returns the module root around the current folder.
func Checkout(t testing.TB) string {
	t.Helper()
	dir, err := install.FindCheckout(".")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Home is the folder of the tests' installation within a checkout.
func Home(checkout string) string { return filepath.Join(checkout, ".halftone", "home") }

// Vars are the environment variables that keep Jupyter and Halftone out of the user's folders.
func Vars(checkout string) map[string]string {
	dir := filepath.Join(checkout, ".halftone", "jupyter")
	return map[string]string{
		layout.HomeEnv:        Home(checkout),
		"JUPYTER_DATA_DIR":    filepath.Join(dir, "data"),
		"JUPYTER_CONFIG_DIR":  filepath.Join(dir, "config"),
		"JUPYTER_RUNTIME_DIR": filepath.Join(dir, "runtime"),
		"JUPYTER_PATH":        "",
		"IPYTHONDIR":          filepath.Join(dir, "ipython"),
	}
}

// Set sets Vars for this process.
func Set(checkout string) error {
	for name, value := range Vars(checkout) {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// New returns an installer into the tests' home. It makes a private JupyterLab, so that what is tested does not depend on the
// machine's.
func New(checkout string, report *install.Reporter) *install.Installer {
	return &install.Installer{Layout: layout.Layout{Home: Home(checkout)}, Checkout: checkout, Report: report, Private: true}
}

var once struct {
	sync.Mutex
	done bool
	err  error
}

// Installed returns the tests' installation, brought up to date, with this process's environment set to it. It needs a network
// the first time; where there is none the test is skipped and says so.
func Installed(t testing.TB) (layout.Layout, layout.State) {
	t.Helper()
	checkout := Checkout(t)
	for name, value := range Vars(checkout) {
		t.Setenv(name, value)
	}
	once.Lock()
	defer once.Unlock()
	if !once.done {
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
		defer cancel()
		in := New(checkout, install.NewReporter(os.Stderr))
		if once.err = in.Install(ctx); once.err == nil {
			once.err = in.Completion(ctx)
		}
		once.done = true
	}
	if once.err != nil {
		if install.IsOffline(once.err) {
			t.Skipf("needs an installation, and this machine cannot download one: %v", once.err)
		}
		t.Fatalf("installing for the tests: %v", once.err)
	}
	l := layout.Layout{Home: Home(checkout)}
	state, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	return l, state
}
