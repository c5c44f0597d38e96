//go:build linux

package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOnlyOne: on a device that has one program at a time none runs beside another, all that ran in turn still runs, and the report says why.
func TestOnlyOne(t *testing.T) {
	if _, err := onlyOne(prohibited); !errors.Is(err, errProhibited) {
		t.Error(err)
	}
	if why, err := onlyOne(0); why != "" || err != nil {
		t.Errorf("%q, %v", why, err)
	}
	why, err := onlyOne(exclusiveProcess)
	if err != nil || !strings.Contains(why, "EXCLUSIVE_PROCESS") {
		t.Errorf("%q, %v", why, err)
	}
	usual := (&plan{home: "/home", exe: "/home/run", python: "python3", sanitizer: "compute-sanitizer", rounds: 2}).stages()
	alone := (&plan{home: "/home", exe: "/home/run", python: "python3", sanitizer: "compute-sanitizer", rounds: 2, onlyOne: why}).stages()
	if len(alone) != len(usual) {
		t.Errorf("%d stages, and %d one by one", len(usual), len(alone))
	}
	all := func(stage) bool { return true }
	for _, list := range [][]stage{usual, alone} {
		i := slices.IndexFunc(list, func(s stage) bool { return s.name == "kernels 1, elementwise" })
		st := &state{planned: list}
		want := 5
		if &list[0] == &alone[0] {
			want = 1
		}
		if group := st.group(list[i:], all); len(group) != want {
			t.Errorf("%d run at once, not %d", len(group), want)
		}
	}
	needsShell(t)
	st := call(t, t.Context(), t.TempDir(), time.Hour, sh("a", ours, "true"))
	if st.OnlyOne = why; !strings.Contains(string(st.report()), "- "+why) {
		t.Errorf("%s", st.report())
	}
}
