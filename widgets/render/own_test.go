package render

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/widgets"
)

// dots is a figure of a user's own with a picture, saying a text of its own.
type dots struct{ n int }

func (d dots) Text() string { return strings.Repeat("● ", d.n) + "\n" + strconv.Itoa(d.n) + " dots" }
func (d dots) Alt() string  { return "There are " + strconv.Itoa(d.n) + " dots." }
func (d dots) SVG() string {
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="360" height="120" viewBox="0 0 360 120">`)
	for i, c := range []string{"#0072b2", "#009e73", "#e69f00", "#d55e00", "#cc79a7"} {
		if i < d.n {
			b.WriteString(`<circle cx="` + strconv.Itoa(60+80*i) + `" cy="60" r="30" fill="` + c + `"/>`)
		}
	}
	return b.String() + `<text x="10" y="20">dots</text></svg>`
}

// saying is a figure of a user's own that says something.
type saying struct{}

func (saying) Text() string { return "1 word\n<script>alert(1)</script>" }

// TestOwnFaces: a figure of a user's own is shown by the faces that it brought, bounded; what it did not bring is made of what it did.
func TestOwnFaces(t *testing.T) {
	faces, err := Bundle(widgets.Own("Dots", dots{3}))
	if err != nil {
		t.Fatal(err)
	}
	html := faces["text/html"].(string)
	if faces["image/svg+xml"] != (dots{3}).SVG() || !strings.Contains(html, `alt="There are 3 dots."`) || !strings.Contains(html, "data:image/svg+xml;base64,") {
		t.Errorf("%v", faces)
	}
	if lost := newSanitizer(t).lost(find(parse(t, html), "body")[0].FirstChild); len(lost) > 0 {
		t.Errorf("not trusted, it loses %v", lost)
	}
	faces, err = Bundle(widgets.Own("Words", saying{}))
	if err != nil {
		t.Fatal(err)
	}
	if html := faces["text/html"].(string); len(find(parse(t, html), "script")) > 0 || !strings.Contains(html, "&lt;script&gt;") || faces["image/svg+xml"] != nil {
		t.Errorf("%v", faces)
	}
	all, err := json.Marshal(mustBundle(t, widgets.Own("Large", dots{4000})))
	if err != nil || len(all) > MaxBundle {
		t.Errorf("%v, %d bytes", err, len(all))
	}
}

func mustBundle(t *testing.T, f *widgets.Figure) map[string]any {
	t.Helper()
	faces, err := Bundle(f)
	if err != nil {
		t.Fatal(err)
	}
	return faces
}
