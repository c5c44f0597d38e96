package kernel

import (
	"strings"
	"testing"
)

// TestUnbalanced: a bracket too many is named with its line of the cell, and what is Go, or another language, is left alone.
func TestUnbalanced(t *testing.T) {
	for _, c := range []struct {
		code string
		line int
		says string
	}{
		{"%%\nfmt.Println(1)", 0, ""},
		{"%%amp float16\nx := 1\n}", 3, "unexpected }, which closes nothing"},
		{"%%\n}\nfmt.Println(1)", 2, "unexpected }"},
		{"func f() {}\n%%\nif true {\n\tf()\n}}", 5, "unexpected }"},
		{"%%\nf(a[1)]", 2, "where the [ of line 1 is open"},
		{"%%\n}\n`", 2, "unexpected }"},
		{"%%\nif true {", 0, ""},
		{"%%\nx := `\n}\n`", 0, ""},
		{"%%\nx := `\n%d}`", 0, ""},
		{"%%\n!echo '}'\nf()", 0, ""},
		{"%%\n// }\ns := \"}\" + '}'", 0, ""},
		{"%%bash\n}", 0, ""},
		{"}", 0, ""},
		{"%%script python3\n}", 0, ""},
	} {
		if line, fault := unbalanced(c.code); line != c.line || !strings.Contains(fault, c.says) || (fault == "") != (c.says == "") {
			t.Errorf("%q: line %d: %s", c.code, line, fault)
		}
	}
}
