//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/cudart/internal/turns"
)

// player is a stage of a program that measures some names, each round in so many seconds, and reports some figure of each.
func player(name string, s side, seconds string, names ...string) stage {
	script := "read -r told <&3\n"
	if s == peer {
		for _, n := range names {
			script += "echo 'has " + n + "' >&4\n"
		}
	}
	for _, n := range names {
		script += "echo 'at " + n + "' >&4\n" +
			"while read -r told <&3 && test \"$told\" = round; do echo '" + n + "' >>$ROUNDS; echo 'took " + seconds + "' >&4; done\n" +
			`echo '{"name":"` + n + `","value":` + seconds + `,"unit":"us"}'` + "\n"
	}
	stage := sh(name, s, script)
	stage.turns = "k"
	return stage
}

// TestPairs: what both sides have is measured in turn, and its ratio is that of the rounds; who ends or is missing keeps nobody from the rest.
func TestPairs(t *testing.T) {
	needsShell(t)
	t.Setenv("ROUNDS", t.TempDir()+"/rounds")
	dir := t.TempDir()
	const layer = "layer_norm fp16 8192×4096"
	first, second := player("one", ours, "2", "a", layer), player("two", ours, "4", "b")
	theirs := player("PyTorch", peer, "3", layer, "b")
	breaks := sh("breaks", ours, "read -r told <&3; exit 3")
	breaks.turns = "k"
	st := call(t, t.Context(), dir, time.Hour, first, breaks, second, theirs, sh("behind", ours, `echo '{"name":"c","value":1}'`))
	st.of(t, "breaks", failed)
	for _, name := range []string{"one", "two", "PyTorch", "behind"} {
		st.of(t, name, done)
	}
	rounds, _ := os.ReadFile(os.Getenv("ROUNDS"))
	if want := strings.Repeat("a\n", turns.Usual) + strings.Repeat(layer+"\n", 2*turns.Usual) + strings.Repeat("b\n", 2*turns.Usual); string(rounds) != want {
		t.Errorf("%s", rounds)
	}
	if err := st.save(); err != nil {
		t.Fatal(err)
	}
	text := string(st.report())
	for _, want := range []string{"| a | 2 |  |  | us |", "| " + layer + " | 2 | 3 | 0.667 | us |", "| b | 4 | 3 | 1.333 | us |", "| " + layer + " | 1.5 | ≥ 1 × PyTorch's speed | met |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}

	if strings.Contains(text, "not in turn") {
		t.Error(text)
	}
	st = call(t, t.Context(), t.TempDir(), time.Hour, player("ours", ours, "1", "x", "y"), player("PyTorch", peer, "1", "y", "x"))
	if err := st.save(); err != nil || !strings.Contains(string(st.report()), "- not in turn, though both have it: y\n") {
		t.Errorf("%v\n%s", err, st.report())
	}

	// Without the peer, and with one that hangs until its time is over, ours are measured alone.
	lacks, hangs := player("lacks", peer, "3", "b"), player("hangs", peer, "3", "b")
	lacks.lacks = "it is not there"
	hangs.argv, hangs.limit = []string{"/bin/sh", "-c", "read -r told <&3; exec sleep 60"}, 300*time.Millisecond
	for _, other := range []stage{lacks, hangs} {
		st := call(t, t.Context(), t.TempDir(), time.Hour, second, other)
		st.of(t, "two", done)
		if err := st.save(); err != nil || len(st.figures) != 1 || st.figures[0].Side != ours {
			t.Errorf("%v, %v", st.figures, err)
		}
	}
	// They are begun only if there is time for all of them.
	st = call(t, t.Context(), t.TempDir(), 2500*time.Millisecond, sh("before", ours, "true"), first, second, theirs, sh("behind", ours, "true"))
	st.of(t, "behind", done)
	if st.entryOf("one") != nil {
		t.Error("three seconds were begun with less left")
	}
}
