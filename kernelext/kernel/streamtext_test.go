package kernel

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPiece: what is read without decoding is what decoding gives, whoever wrote the JSON.
func TestPiece(t *testing.T) {
	text := func(content string) *message { return &message{kind: "stream", content: []byte(content)} }
	for _, s := range []string{
		"", "a", "line\n", "\t\r\b\f", `"quoted" \ and / back`, "<b>&amp;</b>", "ü€𝄞", "\x00\x1f\x7f\u2028\u2029\ufffd", strings.Repeat("x\n\"", 1000), `","text":"`, `"}`, `\`,
	} {
		for _, name := range []string{"stdout", "stderr", `"odd"`, ""} {
			written := mustJSON(streamContent{name, s})
			python := `{"text": ` + string(mustJSON(s)) + `, "name": ` + string(mustJSON(name)) + `}`
			for _, content := range []string{string(written), python, `{"name":` + string(mustJSON(name)) + `,"text":` + string(mustJSON(s)) + `,"more":"x"}`} {
				p, ok := readPiece(text(content))
				if !ok {
					t.Fatalf("%s is no piece", content)
				}
				var c streamContent
				if err := json.Unmarshal(p.content(), &c); err != nil || c.Name != name || c.Text != s || p.size != len(s) || p.name != name {
					t.Errorf("%s is read as %s %q of %d bytes, %v", content, p.name, c.Text, p.size, err)
				}
			}
		}
	}
	for escaped, size := range map[string]int{`\u0041`: 1, `\u00fc\u20AC`: 5, `\ud834\udd1e`: 4, `\/`: 1} {
		if p, ok := readPiece(text(`{"name":"stdout","text":"` + escaped + `"}`)); !ok || p.size != size {
			t.Errorf("%s has %d bytes, not %d", escaped, p.size, size)
		}
	}
	for _, damaged := range []string{``, `{"name":"stdout","text":"`, `{"name":"stdout","text":"a\"}`, `{"name":"stdout","text":"\x"}`, `{"name":"stdout","text":"\u12"}`, `{"name":"stdout","text":"\u12g4"}`,
		"{\"name\":\"stdout\",\"text\":\"\n\"}", `{"name":"stdout","text":"a"b"}`, `{"name":"stdout","text":1}`} {
		if p, ok := readPiece(text(damaged)); ok {
			t.Errorf("%s is read as %+v", damaged, p)
		}
	}
	// What is no UTF-8 is replaced, as it is when it is decoded.
	if p, ok := readPiece(text("{\"name\":\"stdout\",\"text\":\"a\xff\"}")); !ok || string(p.text) != "a\ufffd" || p.size != 4 {
		t.Errorf("%q, %d", p.text, p.size)
	}
	if _, ok := readPiece(&message{kind: "display_data", content: mustJSON(streamContent{"stdout", "a"})}); ok {
		t.Error("a figure is read as text")
	}
}
