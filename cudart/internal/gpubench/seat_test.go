//go:build linux

package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// dies is a program like player's that ends in the second round of a name, or before it, as a crash does, unless another had come to that.
func dies(name string, s side, at, end string, names ...string) stage {
	st := player(name, s, "1", names...)
	var script strings.Builder
	script.WriteString("read -r told <&3\n")
	behind := func(n string) string { return `printf '%s' "$HALFTONE_TURNS_BEHIND" | grep -qx '` + n + "' || " }
	if s == peer {
		for _, n := range names {
			script.WriteString(behind(n) + "echo 'has " + n + "' >&4\n")
		}
	}
	for _, n := range names {
		if before, ok := strings.CutPrefix(end, "before: "); ok && n == at {
			script.WriteString(behind(n) + "{ echo it breaks >&2; " + before + "; }\n")
		}
		script.WriteString(behind(n) + "{\necho 'at " + n + "' >&4; i=0\nwhile read -r told <&3 && test \"$told\" = round; do\ni=$((i+1))\n")
		if n == at {
			script.WriteString("test $i = 2 && { echo it breaks >&2; " + end + "; }\n")
		}
		script.WriteString("echo 'took 1' >&4; done\n" + `echo '{"name":"` + n + `","value":1,"unit":"us"}'` + "\n}\n")
	}
	script.WriteString("true\n")
	st.argv = []string{"/bin/sh", "-c", script.String()}
	return st
}

// TestGoesOn: a program that crashes, on either side, costs the name that it was at: another goes on behind it.
func TestGoesOn(t *testing.T) {
	needsShell(t)
	within(t, 5*time.Second, time.Second)
	t.Setenv("ROUNDS", t.TempDir()+"/rounds")
	names := []string{"w", "x", "y", "z"}
	whole, other := player("one", ours, "2", names...), player("PyTorch", peer, "3", names...)
	for _, c := range []struct {
		list   []stage
		status status
	}{
		{[]stage{dies("one", ours, "x", "kill -9 $$", names...), other}, failed},
		{[]stage{dies("one", ours, "x", "exit 3", names...), other}, failed},
		{[]stage{dies("one", ours, "x", "exec sleep 60", names...), other}, tooLong},
		{[]stage{dies("PyTorch", peer, "x", "kill -9 $$", names...), whole}, failed},
		{[]stage{dies("PyTorch", peer, "x", "exec sleep 60", names...), whole}, tooLong},
		{[]stage{dies("PyTorch", peer, "x", "before: kill -9 $$", names...), whole}, failed},
	} {
		st := call(t, t.Context(), t.TempDir(), time.Hour, c.list...)
		e := st.of(t, c.list[0].name, c.status)
		if why := strings.Join(e.Why, "; "); !strings.Contains(why, "another program went on behind it") {
			t.Error(why)
		}
		if got := st.ratios(t); !reflect.DeepEqual(got, []string{"one w", "one y", "one z"}) {
			t.Errorf("%v: %q", c, got)
		}
		if log, err := os.ReadFile(st.path("log.txt")); err != nil || !strings.Contains(string(log), "it breaks") {
			t.Errorf("%v\n%s", err, log)
		}
	}
	// One that says what it lacks and ends has said all, and one that always dies does so a few times.
	st := call(t, t.Context(), t.TempDir(), time.Hour, dies("one", ours, "x", "exit 1", names...), other)
	if got := st.ratios(t); !reflect.DeepEqual(got, []string{"one w"}) || len(st.of(t, "one", failed).Why) != 2 {
		t.Errorf("%q, %q", got, st.entryOf("one").Why)
	}
	always := player("one", ours, "1", "x")
	always.argv = []string{"/bin/sh", "-c", "read -r told <&3; echo 'at x' >&4; echo began >>$ROUNDS; kill -9 $$"}
	call(t, t.Context(), t.TempDir(), time.Hour, always, other).of(t, "PyTorch", done)
	if text, err := os.ReadFile(os.Getenv("ROUNDS")); err != nil || strings.Count(string(text), "began\n") != mostTaken {
		t.Errorf("%v\n%s", err, text)
	}
}
