// Package bidi knows the characters that change the direction of the text around them.
package bidi

// Mark says whether r is a mark, an embedding, an override or an isolate of Unicode's bidirectional algorithm (UAX #9), or ends one: in a
// name such a character could reorder the text that it stands in.
func Mark(r rune) bool {
	return r == '\u200e' || r == '\u200f' || r == '\u061c' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}
