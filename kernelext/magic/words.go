package magic

import (
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/internal/spelling"
)

// A Word is one word of a line and where it stands there, in bytes. Quotes that were around it are not in Text.
type Word struct {
	Text       string
	Start, End int
}

// split takes a line apart at spaces. Double quotes keep spaces within a word; a backslash before a quote or a backslash in them
// stands for that character, as in GoNB's own commands. What follows // is a comment.
func split(line string, from int) ([]Word, error) {
	var words []Word
	var text strings.Builder
	start, quoted := -1, false
	for i := from; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '"':
			quoted = !quoted
			if start < 0 {
				start = i
			}
		case quoted && c == '\\' && i+1 < len(line) && (line[i+1] == '"' || line[i+1] == '\\'):
			i++
			text.WriteByte(line[i])
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			if start >= 0 {
				words = append(words, Word{text.String(), start, i})
				text.Reset()
				start = -1
			}
		default:
			if start < 0 {
				start = i
			}
			text.WriteByte(c)
		}
	}
	if quoted {
		return nil, fmt.Errorf("the quote at %s is not closed", line[start:])
	}
	if start >= 0 {
		words = append(words, Word{text.String(), start, len(line)})
	}
	for i, w := range words {
		if strings.HasPrefix(line[w.Start:], "//") { // a comment, as behind any other row
			return words[:i], nil
		}
	}
	return words, nil
}

// texts returns the words without their places.
func texts(words []Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

// An Error is a line that cannot be answered: which word of it was wrong, and the right one where one is near.
type Error struct {
	Line   int    // of the cell, from 1; 0 when not known
	Source string // the line as it was written
	Word   string // the word that was wrong, "" when one is missing
	Detail string // what is wrong
	Near   string // what was probably meant
	Fix    string // what to do
}

// Error returns one line: `%amp trase health: "trase" is no command; did you mean "trace"?`.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Source != "" {
		b.WriteString(e.Source + ": ")
	}
	b.WriteString(e.Detail)
	if e.Near != "" {
		fmt.Fprintf(&b, "; did you mean %q?", e.Near)
	} else if e.Fix != "" {
		b.WriteString("; " + e.Fix)
	}
	return b.String()
}

// wrong returns an error over a word for which only known ones can stand.
func wrong(word, what string, known []string) *Error {
	e := &Error{Word: word, Detail: fmt.Sprintf("%q is no %s", word, what), Near: spelling.Nearest(word, known)}
	if len(known) > 0 && len(known) <= 16 {
		e.Fix = "use " + either(known)
	}
	return e
}

// either lists alternatives: "a, b or c".
func either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
