package install

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLabArguments(t *testing.T) {
	root := t.TempDir()
	display := func(string) string { return ":0" }
	none := func(string) string { return "" }
	lab := Python{Lab: "4.6.6"}

	args := labArgs(lab, root, LabOptions{Args: []string{"--port", "9999"}}, display)
	if !slices.Equal(args[:2], []string{"-m", "jupyterlab"}) || !slices.Contains(args, "--ServerApp.ip=127.0.0.1") || !slices.Contains(args, "--ServerApp.root_dir="+root) {
		t.Errorf("%v", args)
	}
	if !slices.Equal(args[len(args)-2:], []string{"--port", "9999"}) {
		t.Errorf("the user's options do not come last: %v", args)
	}
	if slices.Contains(args, "--no-browser") {
		t.Error("no browser although there is a display")
	}
	if !slices.Contains(labArgs(lab, root, LabOptions{}, none), "--no-browser") {
		t.Error("a browser without a display")
	}
	if !slices.Contains(labArgs(lab, root, LabOptions{NoBrowser: true}, display), "--no-browser") {
		t.Error("--no-browser is ignored")
	}
	for _, a := range args {
		if strings.Contains(a, "token") {
			t.Errorf("everyone on the machine can read %s", a)
		}
	}
}

func TestStartPageIsTheFirstTutorial(t *testing.T) {
	root := t.TempDir()
	if got := startPage(root, nil); got != "/lab" {
		t.Error(got)
	}
	write(t, filepath.Join(root, "02 second.ipynb"), "{}")
	if got := startPage(root, []string{"--ServerApp.root_dir=/elsewhere"}); got != "/lab" {
		t.Error(got)
	}
	if got := startPage(root, nil); got != "/lab/tree/02%20second.ipynb" {
		t.Error(got)
	}
	write(t, filepath.Join(root, "01-first.ipynb"), "{}")
	if got := startPage(root, nil); got != "/lab/tree/01-first.ipynb" {
		t.Error(got)
	}
}

func TestTokenIsNewUnlessChosen(t *testing.T) {
	token := func() (last string) {
		for _, e := range labEnv("/py/bin/python3", "/home") {
			if v, ok := strings.CutPrefix(e, "JUPYTER_TOKEN="); ok {
				last = v // as the last one does for a started program
			}
		}
		return last
	}
	t.Setenv("JUPYTER_TOKEN", "")
	if a, b := token(), token(); len(a) < 20 || a == b {
		t.Errorf("tokens %q and %q", a, b)
	}
	t.Setenv("JUPYTER_TOKEN", "chosen")
	if got := token(); got != "chosen" {
		t.Errorf("the user's token became %q", got)
	}
}
