package kernel

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A piece is what a stream message says, as it stands between the quotes of its JSON: to join pieces and to count them nothing has to be
// decoded, and a cell that prints much passes here in every byte.
type piece struct {
	name string
	text []byte // JSON, without quotes
	size int    // of the text in bytes
}

// pieceHeads is how Go's encoder begins a streamContent.
var pieceHeads = map[string][]byte{
	"stdout": []byte(`{"name":"stdout","text":"`),
	"stderr": []byte(`{"name":"stderr","text":"`),
}

var pieceTail = []byte(`"}`)

// readPiece returns what m says if it is text of a stream.
func readPiece(m *message) (piece, bool) {
	if m.kind != "stream" || len(m.buffers) > 0 {
		return piece{}, false
	}
	for name, head := range pieceHeads {
		if bytes.HasPrefix(m.content, head) && bytes.HasSuffix(m.content[len(head):], pieceTail) {
			text := m.content[len(head) : len(m.content)-len(pieceTail)]
			if size := quotedSize(text); size >= 0 {
				return piece{name, text, size}, true
			}
		}
	}
	var c streamContent
	if json.Unmarshal(m.content, &c) != nil {
		return piece{}, false
	}
	text := mustJSON(c.Text)
	return piece{c.Name, text[1 : len(text)-1], len(c.Text)}, true
}

// content returns the content of a stream message.
func (p piece) content() []byte {
	if head := pieceHeads[p.name]; head != nil {
		return bytes.Join([][]byte{head, p.text, pieceTail}, nil)
	}
	return bytes.Join([][]byte{[]byte(`{"name":`), mustJSON(p.name), []byte(`,"text":"`), p.text, pieceTail}, nil)
}

// quotedSize returns how many bytes of text stand between the quotes of a JSON string, or -1 if they are not the inside of one string.
func quotedSize(text []byte) int {
	if !utf8.Valid(text) {
		return -1
	}
	size := 0
	for i := 0; i < len(text); i, size = i+1, size+1 {
		switch c := text[i]; {
		case c == '"' || c < ' ':
			return -1
		case c != '\\':
			continue
		}
		if i++; i == len(text) {
			return -1
		}
		switch text[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			n := escapedSize(text[i+1:])
			if n < 0 {
				return -1
			}
			i, size = i+4, size+n-1
		default:
			return -1
		}
	}
	return size
}

// escapedSize returns the size in UTF-8 of four hexadecimal digits: half of a pair that stands for one character of four bytes has two.
func escapedSize(digits []byte) int {
	if len(digits) < 4 {
		return -1
	}
	n := rune(0)
	for _, c := range digits[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		n = n<<4 | rune(c)
	}
	if 0xd800 <= n && n < 0xe000 {
		return 2
	}
	return utf8.RuneLen(n)
}
