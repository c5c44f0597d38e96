package main

import (
	"fmt"
	"testing"
)

func TestLongest(t *testing.T) {
	var l longest
	for i := range 3 * longestKept {
		l.add(event{Package: "p", Test: fmt.Sprintf("Test%d", i), Elapsed: float64(2 + i*7%(3*longestKept))})
		l.add(event{Package: "p", Test: fmt.Sprintf("Test%d/sub", i), Elapsed: 1e6})
	}
	l.add(event{Package: "p", Test: "TestQuick", Elapsed: 0.5})
	if len(l) != longestKept || l[0].Elapsed != 61 || l[longestKept-1].Elapsed != 42 {
		t.Errorf("%v", l)
	}
	if want := "    61.0 s  p Test17\n"; l[:1].String() != want {
		t.Errorf("%q, want %q", l[:1].String(), want)
	}
}
