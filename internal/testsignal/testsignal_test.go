package testsignal

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"testing"
)

const childEnv = "HALFTONE_TEST_SIGNAL"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "": // this test
		os.Exit(m.Run())
	case "as it is":
	case "restored": // what a test is that was started in the background, and a program that it starts
		Restore()
	}
	if os.Getenv(childEnv) == "program" {
		os.Stdout.WriteString(map[bool]string{false: "default", true: "ignored"}[signal.Ignored(os.Interrupt)])
		return
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=program")
	out, _ := cmd.Output()
	os.Stdout.Write(out)
}

// TestRestore: a program that a test in the background starts can be interrupted, and only because of Restore.
func TestRestore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs inherit no signals there")
	}
	signal.Ignore(os.Interrupt)
	defer signal.Reset(os.Interrupt)
	for what, want := range map[string]string{"as it is": "ignored", "restored": "default"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+what)
		if out, err := cmd.Output(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %q, %v; want %q", what, out, err, want)
		}
	}
}
