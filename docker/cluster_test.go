package docker_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// points are the lines of a grid.
func points(t *testing.T) [][]string {
	t.Helper()
	var all [][]string
	for line := range strings.Lines(read(t, "cluster/grid.txt")) {
		if words := strings.Fields(line); len(words) > 0 && words[0][0] != '#' {
			all = append(all, words)
		}
	}
	return all
}

func TestJobsHaveThePointsOfTheGrid(t *testing.T) {
	n := len(points(t))
	if got := find(t, "cluster/kubernetes.yaml", `^  completions: (\d+)$`); got != fmt.Sprint(n) {
		t.Errorf("kubernetes.yaml has %s completions, the grid has %d points", got, n)
	}
	if got := find(t, "cluster/slurm.sh", `^#SBATCH --array=(\S+)$`); got != fmt.Sprintf("0-%d", n-1) {
		t.Errorf("slurm.sh has the array %s, the grid has %d points", got, n)
	}
}

// script runs a script of cluster/ with a stand-in for halftone that writes down what it is given.
func script(t *testing.T, env []string, name string, args ...string) (string, error) {
	t.Helper()
	fake := filepath.Join(t.TempDir(), "halftone")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\necho \"$DTYPE $LR: $*\"\nwhile [ $# -gt 1 ]; do [ \"$1\" != --output ] || touch \"$2\"; shift; done\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join("cluster", name), args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HALFTONE=" + fake}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestGridRuns starts every point as Slurm and as Kubernetes do, and then collects.
func TestGridRuns(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	if text, err := script(t, []string{"OUT=" + out}, "collect.sh"); err == nil || !strings.Contains(text, "is missing") {
		t.Errorf("collected what did not run: %v %s", err, text)
	}
	for i, words := range points(t) {
		name, env := "slurm.sh", []string{"CLUSTER=cluster", "SLURM_ARRAY_TASK_ID=" + fmt.Sprint(i)}
		if i%2 == 1 {
			name, env = "point.sh", []string{"JOB_COMPLETION_INDEX=" + fmt.Sprint(i)}
		}
		text, err := script(t, append(env, "OUT="+out), name)
		want := fmt.Sprintf("%s %s: run --output %s", strings.TrimPrefix(words[1], "DTYPE="), strings.TrimPrefix(words[2], "LR="), filepath.Join(out, words[0]+".ipynb"))
		if err != nil || !strings.HasPrefix(text, want) {
			t.Errorf("point %d: %v: %q, want %q", i, err, text, want)
		}
	}
	text, err := script(t, []string{"OUT=" + out}, "collect.sh")
	if err != nil || !strings.Contains(text, "compare --output "+filepath.Join(out, "grid.html")+" "+filepath.Join(out, points(t)[0][0]+".ipynb")) {
		t.Errorf("%v: %s", err, text)
	}
	if text, err := script(t, []string{"OUT=" + out}, "point.sh", "0"); err != nil || !strings.Contains(text, "there already") {
		t.Errorf("a point that was finished: %v %s", err, text)
	}
	for _, name := range []string{"point.sh", "collect.sh"} {
		if text, err := script(t, []string{"OUT=" + out, "HALFTONE=nowhere/halftone run"}, name, "0"); err == nil || !strings.Contains(text, "there is no nowhere/halftone on ") {
			t.Errorf("%s without Halftone: %v %s", name, err, text)
		}
	}
	for number, says := range map[string]string{"99": "has no point 99", "": "start it with sbatch", "x": "start it with sbatch"} {
		if text, err := script(t, []string{"OUT=" + out}, "point.sh", number); err == nil || !strings.Contains(text, says) {
			t.Errorf("point %q: %v %s", number, err, text)
		}
	}
}
