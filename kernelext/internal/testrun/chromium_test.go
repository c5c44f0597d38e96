package main

import "testing"

func TestLastLines(t *testing.T) {
	for in, want := range map[string]string{"": "", "a\nb\nc\nd\n": "c\nd\n", "a\nb": "a\nb", "a": "a"} {
		if got := lastLines([]byte(in), 2); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
