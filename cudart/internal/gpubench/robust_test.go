//go:build linux

package main

import (
	"context"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// ratios are the names that have one, and of which stage.
func (st *state) ratios(t *testing.T) (names []string) {
	t.Helper()
	if err := st.save(); err != nil {
		t.Fatal(err)
	}
	for _, f := range st.figures {
		if f.Side == paired {
			names = append(names, f.Stage+" "+f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// within sets what a program may take until its first turn, and then.
func within(t *testing.T, first, turn time.Duration) {
	f, m := mostFirst, mostTurn
	t.Cleanup(func() { mostFirst, mostTurn = f, m })
	mostFirst, mostTurn = first, turn
}

// TestHangs: a program that hangs at its start, or in its turn, is ended, and the others have their turns and figures.
func TestHangs(t *testing.T) {
	needsShell(t)
	t.Setenv("ROUNDS", t.TempDir()+"/rounds")
	within(t, 5*time.Second, 500*time.Millisecond)
	a, b, theirs := player("one", ours, "2", "x"), player("two", ours, "4", "y"), player("PyTorch", peer, "3", "x", "y")
	hangs := a
	hangs.argv = []string{"/bin/sh", "-c", "read -r told <&3; echo 'at x' >&4; read -r told <&3; exec sleep 60"}
	st := call(t, t.Context(), t.TempDir(), time.Hour, hangs, b, theirs)
	if e := st.of(t, "one", tooLong); !strings.Contains(strings.Join(e.Why, " "), "turn for more than 500ms") {
		t.Error(e.Why)
	}
	st.of(t, "two", done)
	st.of(t, "PyTorch", done)
	if names := st.ratios(t); !reflect.DeepEqual(names, []string{"two y"}) || len(st.figures) != 4 {
		t.Errorf("%q, %v", names, st.figures)
	}
	within(t, 500*time.Millisecond, 5*time.Second)
	theirs.argv = []string{"/bin/sh", "-c", "read -r told <&3; exec sleep 60"}
	st = call(t, t.Context(), t.TempDir(), time.Hour, a, b, theirs)
	st.of(t, "PyTorch", tooLong)
	st.of(t, "one", done)
	st.of(t, "two", done)
}

// TestUnchecked: what was measured in turn and then found to be wrong meets no bar.
func TestUnchecked(t *testing.T) {
	needsShell(t)
	t.Setenv("ROUNDS", t.TempDir()+"/rounds")
	const name = "fp16 gemm 4096"
	wrong := player("driver 1", ours, "1", name)
	wrong.argv[2] = strings.Replace(wrong.argv[2], "\necho '{", "\necho 'element 3,4 is 9, want 2' >&2; exit 1; echo '{", 1)
	st := call(t, t.Context(), t.TempDir(), time.Hour, wrong, player("PyTorch", peer, "2", name))
	st.of(t, "driver 1", failed)
	if names := st.ratios(t); names != nil {
		t.Errorf("%q", names)
	}
	if err := st.save(); err != nil || !strings.Contains(string(st.report()), "| fp16 gemm 4096³ | not measured |") {
		t.Errorf("%v\n%s", err, st.report())
	}
	// Another round may have its figure: the ratio of the one that was wrong does not join it.
	of := func(stage string, s side) figureOf { return figureOf{stage, s, 1, figure{Name: name, Value: 1}} }
	if left := unchecked([]figureOf{of("driver 1", paired), of("driver 1", ours), of("driver 2", paired)}); len(left) != 2 || left[0].Stage+left[1].Stage != "driver 1driver 1" {
		t.Errorf("%v", left)
	}
	// PyTorch's figure may be what is missing.
	f := &figures{map[string]float64{name: 1}, map[string]float64{}, map[string]float64{name: 1}}
	if v, ok := speed(name)(f); ok {
		t.Errorf("%v without PyTorch's figure", v)
	}
}

// TestResumed: what was done before the run was cut off keeps its ratios, and the rest has its own though PyTorch begins at its first name.
func TestResumed(t *testing.T) {
	needsShell(t)
	t.Setenv("ROUNDS", t.TempDir()+"/rounds")
	dir := t.TempDir()
	a, b, theirs := player("one", ours, "0.01", "x"), player("two", ours, "0.02", "y"), player("PyTorch", peer, "0.03", "x", "y")
	cutOff := b
	cutOff.argv = []string{"/bin/sh", "-c", "read -r told <&3; exec sleep 60"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil { // until the first has come to its end
			if text, _ := os.ReadFile(dir + "/figures.jsonl"); strings.Contains(string(text), `"value":0.01,`) {
				time.Sleep(200 * time.Millisecond)
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	st := call(t, ctx, dir, time.Hour, a, cutOff, theirs)
	st.of(t, "one", done)
	st.of(t, "two", cut)
	st.of(t, "PyTorch", cut)
	st = call(t, t.Context(), dir, time.Hour, a, b, theirs)
	st.of(t, "PyTorch", done)
	if names := st.ratios(t); !reflect.DeepEqual(names, []string{"one x", "two y"}) {
		t.Errorf("%q", names)
	}
	if apart := st.apart(); apart != nil {
		t.Error(apart)
	}
}

// TestAgain: what is run again takes the place of all that its stage had measured, however often that was begun, and has ratios as before.
func TestAgain(t *testing.T) {
	needsShell(t)
	t.Setenv("ROUNDS", t.TempDir()+"/rounds")
	dir := t.TempDir()
	list := []stage{player("kernels, one", ours, "1", "x"), player("kernels, two", ours, "1", "y"), player("kernels, PyTorch", peer, "1", "x", "y")}
	st := call(t, t.Context(), dir, time.Hour, list...)
	for _, e := range st.Entries {
		e.Status = cut // as if the run had ended before
	}
	if err := st.save(); err != nil {
		t.Fatal(err)
	}
	for i, part := range []string{"", "two", "PyTorch"} {
		st, err := load(dir)
		if err != nil {
			t.Fatal(err)
		}
		st.planned = list
		st.reopen(part)
		if err := st.save(); err != nil {
			t.Fatal(err)
		}
		want := []int{3, 2, 3}[i] // PyTorch's part takes turns with both
		if n, _ := st.open(list); n != want {
			t.Errorf("%d are run again for %q, not %d", n, part, want)
		}
		st = call(t, t.Context(), dir, time.Hour, list...)
		names := st.ratios(t)
		if !reflect.DeepEqual(names, []string{"kernels, one x", "kernels, two y"}) || len(st.figures) != 6 {
			t.Errorf("%q: %q, %v", part, names, st.figures)
		}
		if e := st.entryOf("kernels, two"); part != "" && (e.Attempts != 1 || e.Number != i+2) {
			t.Errorf("%+v", e)
		}
	}
}

// TestPeerRunsAgain: where ours were cut off, PyTorch's program runs again though it had come to its end.
func TestPeerRunsAgain(t *testing.T) {
	a, p := player("one", ours, "1", "x"), player("PyTorch", peer, "1", "x")
	st := &state{planned: []stage{a, p}, Entries: []*entry{{Stage: "one", Status: cut, Attempts: 1}, {Stage: "PyTorch", Status: done, Attempts: 1}}}
	if st.reopen(""); st.entryOf("PyTorch") != nil || st.entryOf("one") == nil {
		t.Errorf("%v", st.Entries)
	}
	st.Entries = []*entry{{Stage: "one", Status: cut, Attempts: attempts}, {Stage: "PyTorch", Status: done, Attempts: 1}}
	if st.reopen(""); st.entryOf("PyTorch") == nil {
		t.Error("what is given up has PyTorch's run again")
	}
}

// TestNoRatio: seconds that give no ratio, and a file that takes none, end no run, and are told.
func TestNoRatio(t *testing.T) {
	needsShell(t)
	t.Setenv("ROUNDS", t.TempDir()+"/rounds")
	dir := t.TempDir()
	st := call(t, t.Context(), dir, time.Hour, player("one", ours, "0", "x"), player("two", ours, "1", "y"), player("PyTorch", peer, "1", "x", "y"), sh("behind", ours, "true"))
	st.of(t, "behind", done)
	if names := st.ratios(t); !reflect.DeepEqual(names, []string{"two y"}) {
		t.Errorf("%q", names)
	}
	if log, err := os.ReadFile(st.path("log.txt")); err != nil || !strings.Contains(string(log), "no ratio of x is kept: the seconds of ours were") {
		t.Errorf("%v\n%s", err, log)
	}
	if lost := (&state{dir: dir + "/absent"}).pair(&entry{}, "x", []float64{1}, []float64{1}); lost == nil {
		t.Error("a folder that is not there")
	}
}
