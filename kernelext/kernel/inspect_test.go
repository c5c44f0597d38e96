package kernel

import (
	"strings"
	"testing"
)

// TestInspectable marks the cursor with | and the place that is to be asked for with ^ after the rune.
func TestInspectable(t *testing.T) {
	for code, want := range map[string]string{
		"fmt.Pr|int":                "fmt.Pri^nt",
		"fmt.Print|":                "fmt.Print^",
		"fmt.Print|(x)":             "fmt.Print^(x)",
		"fmt.Print(|)":              "fmt.Print^()",
		"fmt.Print(x, |)":           "fmt.Print^(x, )",
		"fmt.Print(f(x), |)":        "fmt.Print^(f(x), )",
		"fmt.Print([]int{1, 2}, |)": "fmt.Print^([]int{1, 2}, )",
		"a, b :=|":                  "a, b^ :=",
		"|":                         "",
		"  |":                       "",
		"%%\n|":                     "",
		"%%\na,| b := 1, 2":         "%%\na^, b := 1, 2",
		"%%\n, | ":                  "",
		"func f() {\n\t|\n}":        "",
		"x := func() {\n\tg(|":      "x := func() {\n\tg^(",
		"é😀 := größe|":              "é😀 := größe^",
		"(|":                        "",
		"if (|) ":                   "if^ () ",
		"x[|":                       "x^[",
		"f(\n\ta,\n\t|)":            "f^(\n\ta,\n\t)",
	} {
		text := []rune(strings.Replace(code, "|", "", 1))
		at, ok := inspectable(text, len([]rune(code[:strings.Index(code, "|")])))
		got := ""
		if ok {
			got = string(text[:at+1]) + "^" + string(text[at+1:])
		}
		if got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
	text := []rune("é😀x")
	for at, units := range []int{0, 1, 3, 4} {
		if utf16Pos(text, at) != units || runePos(text, units) != at {
			t.Errorf("character %d is unit %d and back %d", at, utf16Pos(text, at), runePos(text, units))
		}
	}
	if runePos(text, 100) != 3 {
		t.Error("a cursor beyond the end")
	}
}
