package notebook

import (
	"strings"
	"testing"
)

// TestPlain: nothing that a terminal obeys is left, and all that it shows is.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc":               "a\tb\nc",
		"\x1b[31mred\x1b[0m":    "red",
		"\x1b]0;owned\x07title": "title",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1b]0;never ended":                       "",
		"\x1b[2J\x1b[1;1Hgone\x1b7":                "gone",
		"over\rwritten":                            "over\nwritten",
		"a\u202eb\u009b31mc":                       "abc",
		"bad\xffbyte, bell\a":                      "bad\uFFFDbyte, bell",
		"größer ≥ ½":                               "größer ≥ ½",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestCellErrorIsPlain wherever its words come from.
func TestCellErrorIsPlain(t *testing.T) {
	const evil = "\x1b]0;owned\x07\x1b[8mx"
	e := &CellError{Notebook: "a.ipynb", Cell: 1, Of: 2, Text: evil, Source: evil + "\n" + evil, Traceback: evil, Stderr: evil + "!"}
	if s := e.Error(); strings.ContainsAny(s, "\x1b\x07") || !strings.Contains(s, "  2  x") {
		t.Errorf("%q", s)
	}
}
