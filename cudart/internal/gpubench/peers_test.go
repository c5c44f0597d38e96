//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/cudart/internal/turns"
)

// rehearse runs one of PyTorch's scripts with what stands in for PyTorch, as a run does, and returns what it says beforehand that it has, and
// its figures.
func rehearse(t *testing.T, inTurn bool, script string, args ...string) (has []string, figures []figure) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(python, append([]string{"-u", script}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=testdata:../turns"), &out, &errs
	var p *turns.Player
	if inTurn {
		if p, err = turns.NewPlayer(); err != nil {
			t.Fatal(err)
		}
	}
	p.Join(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if p.Started(); inTurn {
		m := &turns.Match{Peer: p, Rounds: 1, First: time.Minute, Most: time.Minute}
		m.Referee()
		has = p.Has()
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, errs.String())
	}
	for line := range strings.Lines(out.String()) {
		var f figure
		if json.Unmarshal([]byte(line), &f) == nil && f.Name != "" {
			figures = append(figures, f)
		}
	}
	return has, figures
}

// sources is whether a name stands in the program that measures the same with Halftone, but for those of products, which are put together.
func sources(t *testing.T, script, name string) bool {
	t.Helper()
	if strings.Contains(name, "gemm ") || strings.Contains(name, "cublasLt ") {
		return true
	}
	files := map[string]string{"../kernelpeer.py": "../../kernels_bench_test.go", "peer.py": "calls.go"}
	text, err := os.ReadFile(files[script])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(text), `"`+strings.TrimPrefix(name, "cuDNN ")+`"`)
}

// TestPeers: PyTorch's scripts have the names that they say, in their order, and those that bars ask for.
func TestPeers(t *testing.T) {
	f := &figures{map[string]float64{}, map[string]float64{}, map[string]float64{}}
	for _, script := range [][]string{{"../kernelpeer.py", "-"}, {"peer.py"}, {"steps.py"}} {
		inTurn := script[0] != "steps.py"
		has, list := rehearse(t, inTurn, script[0], script[1:]...)
		var names []string
		for _, fig := range list {
			f.ours[fig.Name], f.peer[fig.Name] = 1, 1
			if fig.Unit != "ns" { // on the host's clock, not in turn
				names = append(names, fig.Name)
			}
		}
		if inTurn && (len(has) < 10 || !reflect.DeepEqual(names, has)) {
			t.Errorf("%s says that it has\n%q, and had\n%q", script[0], has, names)
		}
		for _, n := range names {
			if inTurn && !sources(t, script[0], n) {
				t.Errorf("%s: %s has no name of Halftone's beside it", script[0], n)
			}
		}
		if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) {
			t.Errorf("%s has a name twice", script[0])
		}
	}
	for _, b := range bars() {
		if v, ok := b.value(f); !ok && (strings.Contains(b.unit, "PyTorch") || strings.Contains(b.unit, "torch.mm")) {
			t.Errorf("%s, %s: %v: PyTorch's scripts do not have it", b.work, b.unit, v)
		}
	}
}
