package cellsource

import (
	"slices"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	cells := []Cell{{1, ""}, {2, "%%\nfmt.Println(\"π\\n\", `\t`)\r\n"}, {2, "not UTF-8: \xff\x00"}, {90, "x := 1 // é\u2028"}}
	for n := range len(cells) + 1 {
		got, err := Decode(Encode(cells[:n]))
		if err != nil || !slices.Equal(got, cells[:n]) {
			t.Errorf("%+v, %v; want %+v", got, err, cells[:n])
		}
	}
	for file, want := range map[string]string{
		"":                               "begins with",
		"cells 2\n":                      "begins with",
		"cells 1\n1 \"a\"\nx \"b\"\n":    "count of cell 2",
		"cells 1\n1\n":                   "text of cell 1",
		"cells 1\n1 \"a\"\n2 \"cut off ": "text of cell 2",
	} {
		if got, err := Decode([]byte(file)); got != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", file, got, err)
		}
	}
}
