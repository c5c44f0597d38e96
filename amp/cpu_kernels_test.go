package amp_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestCPUKernelsFollowTheEnvironment asks a process of its own: the environment is read once.
func TestCPUKernelsFollowTheEnvironment(t *testing.T) {
	if os.Getenv("HALFTONE_TEST_KERNELS") != "" {
		os.Stdout.WriteString("kernels:" + amp.CPUKernels() + "\n")
		return
	}
	for setting, want := range map[string]string{"reproducible": "reproducible", "generic": "/generic", "generic,reproducible": "reproducible"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCPUKernelsFollowTheEnvironment$")
		cmd.Env = append(os.Environ(), "HALFTONE_TEST_KERNELS=1", "HALFTONE_CPU="+setting)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(string(out), "kernels:")
		if name, _, _ = strings.Cut(name, "\n"); !strings.HasSuffix(name, want) {
			t.Errorf("HALFTONE_CPU=%s: %q, want …%s", setting, name, want)
		}
	}
}
