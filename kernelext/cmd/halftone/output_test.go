package main

import (
	"os"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/widgets"
)

// dispatchTo runs a command whose standard output is a file.
func dispatchTo(f *os.File, t *testing.T, args []string) int {
	old := os.Stdout
	os.Stdout = f
	defer func() { os.Stdout = old }()
	return dispatch(t.Context(), args)
}

// TestFullOutput: what could not be printed is an error, whatever the command.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("needs /dev/full")
	}
	defer full.Close()
	t.Setenv("HALFTONE_HOME", t.TempDir())
	book := notebookOf(t)
	for _, args := range [][]string{{"help"}, {"help", "run"}, {"run", "--help"}, {"version"}, {"show", book}, {"show", "--json", notebookOf(t, widgets.Bits(1))}, {"doctor"}, {"doctor", "--json"}} {
		code := 0
		_, stderr := captured(t, func() { code = dispatchTo(full, t, args) })
		if code != 1 || args[0] != "doctor" && !strings.Contains(stderr, "no space left") {
			t.Errorf("halftone %q: exit code %d\n%s", args, code, stderr)
		}
	}
	if r := dispatched(t, "version"); r.code != 0 {
		t.Errorf("an error of another command: %d %s", r.code, r.stderr)
	}
}
