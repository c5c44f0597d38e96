package notebook

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/halftone-ml/halftone/internal/bidi"
)

// escapes are what terminals obey: colors and moves (CSI), titles and links (OSC and the like, to their end), and the short ones.
var escapes = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]")

// plain is a text of a notebook, or of the program in a cell, for a terminal: without what would move its cursor, color or hide what follows,
// rename its window, or turn the text around.
func plain(s string) string {
	s = escapes.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case bidi.Mark(r):
			return -1
		case r == '\r' || r == '\u2028' || r == '\u2029':
			return '\n'
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
}
