package install

import (
	"os/exec"
	"strings"
	"testing"
)

// TestGoSetup: the doctor names the variable that keeps Go from working.
func TestGoSetup(t *testing.T) {
	goCmd, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"GOFLAGS": "-bogus", "GOROOT": t.TempDir(), "GOARCH": "riscv64", "": ""} {
		t.Run(name, func(t *testing.T) {
			if name != "" {
				t.Setenv(name, value)
			}
			p := goSetup(t.Context(), Part{Status: OK}, goCmd, t.TempDir())
			if (p.Status == Broken) != (name != "") || !strings.Contains(p.Fix, name) {
				t.Errorf("%+v", p)
			}
		})
	}
}
