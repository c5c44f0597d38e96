package kernel

import (
	"unicode"
	"unicode/utf16"
)

// inspectable returns the cursor of the identifier that a question at a cursor is about: the one it is on, else the function
// whose arguments it is in, else the one before it on the line. GoNB searches, too, but never comes back when there is none:
// it is only asked where there is one.
func inspectable(text []rune, at int) (cursor int, ok bool) {
	found := identifierAt(text, at)
	if found < 0 {
		found = functionAround(text, at)
	}
	for i := at - 1; found < 0 && i >= 0 && text[i] != '\n'; i-- {
		if isIdentifier(text[i]) {
			found = i
		}
	}
	return found, found >= 0
}

func isIdentifier(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// identifierAt returns the index of the identifier's rune at a cursor, or just before it: a cursor stands between runes.
func identifierAt(text []rune, at int) int {
	if at < len(text) && isIdentifier(text[at]) {
		return at
	}
	if at > 0 && isIdentifier(text[at-1]) {
		return at - 1
	}
	return -1
}

// functionAround returns the index of the last rune of the function whose call encloses the cursor, -1 if none. Text that is
// not code, such as a bracket in a string, can only make it miss.
func functionAround(text []rune, at int) int {
	depth := 0
	for i := min(at, len(text)) - 1; i >= 0; i-- {
		switch text[i] {
		case ')', ']', '}':
			depth++
		case '[':
			depth = max(depth-1, 0)
		case '{':
			if depth--; depth < 0 {
				return -1 // the cursor is in a block
			}
		case '(':
			if depth--; depth >= 0 {
				continue
			}
			for i--; i >= 0 && text[i] == ' '; i-- {
			}
			if i >= 0 && isIdentifier(text[i]) {
				return i
			}
			return -1
		}
	}
	return -1
}

// utf16Pos and runePos translate a cursor: the protocol counts characters, GoNB UTF-16 units.
func utf16Pos(text []rune, at int) int { return len(utf16.Encode(text[:at])) }

func runePos(text []rune, units int) int {
	at := 0
	for n := 0; at < len(text) && n < units; at++ {
		n += utf16.RuneLen(text[at])
	}
	return at
}
