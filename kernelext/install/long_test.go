//go:build long

package install

import (
	"context"
	"testing"
	"time"
)

// TestLockInstallsOnEveryPython makes the private environment with every supported Python of this machine.
func TestLockInstallsOnEveryPython(t *testing.T) {
	isolate(t)
	tried := map[string]bool{}
	for _, path := range pythonCandidates() {
		base, err := probePython(context.Background(), path)
		if err != nil || !base.Recent() || !base.Venv || tried[base.Version] {
			continue
		}
		tried[base.Version] = true
		t.Run(base.Version, func(t *testing.T) {
			in, _ := newInstaller(t)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			var py Python
			err := in.Report.Phase("venv", func(p *Progress) (string, error) {
				var err error
				py, err = makeVenv(ctx, t.TempDir()+"/venv", []Python{base}, "", p)
				return "", err
			})
			if IsOffline(err) {
				t.Skipf("needs a network: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !py.HasLab() || py.Broken != "" {
				t.Errorf("%+v", py)
			}
		})
	}
	if len(tried) == 0 {
		t.Skip("no Python 3.10 or newer with venv on this machine")
	}
}
