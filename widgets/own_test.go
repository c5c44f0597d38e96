package widgets

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// A histogram is a user's own figure: it brings its text, and a picture.
type histogram []int

func (h histogram) Text() string {
	var b strings.Builder
	for i, n := range h {
		fmt.Fprintf(&b, "%d %s %d\n", i, strings.Repeat("▇", n), n)
	}
	return b.String()
}

func (h histogram) Alt() string { return fmt.Sprintf("A histogram of %d bins.", len(h)) }

func (h histogram) SVG() string {
	s := `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100">`
	for i, n := range h {
		s += fmt.Sprintf(`<rect x="%d" y="%d" width="18" height="%d" fill="#0072b2"/>`, 20*i, 100-10*n, 10*n)
	}
	return s + "</svg>"
}

// A figure of one's own needs a method Text; SVG, HTML, Data and Alt are taken where they are there.
func ExampleOwn() {
	f := Own("Counts", histogram{1, 3, 2})
	fmt.Print(f.Text())
	fmt.Println(f.Alt)
	// Output:
	// Counts
	//   0 ▇ 1
	//   1 ▇▇▇ 3
	//   2 ▇▇ 2
	// A histogram of 3 bins.
}

// TestOwnIsBounded: what is too large, wrong or not writable is left out, and the figure says so.
func TestOwnIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		f    *Figure
		want string
	}{
		"large":        {Own("x", dots{50_000}), "picture of"},
		"not SVG":      {Own("x", notSVG{}), "does not begin with <svg"},
		"not writable": {Own("x", notSVG{}), "unsupported value"},
		"nil":          {Own("x", nil), "given nil"},
	} {
		b, err := json.Marshal(c.f)
		if err != nil || len(b) > MaxOwnText+MaxOwnSVG+MaxOwnHTML+MaxOwnData+4096 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
		if !strings.Contains(c.f.Text(), c.want) || !strings.Contains(c.f.Faces()["text/html"], escapeHTML(c.want)) {
			t.Errorf("%s: %.300s", name, c.f.Text())
		}
		if g, err := Parse(b); err != nil || g.Text() != c.f.Text() {
			t.Errorf("%s: read back as %v, %v", name, g, err)
		}
	}
	if Bits(1).Faces() != nil || (*Figure)(nil).Faces() != nil {
		t.Error("only a figure of one's own brings faces")
	}
}

// notSVG is a figure whose picture is none and whose data JSON cannot hold.
type notSVG struct{}

func (notSVG) Text() string { return "text\x00\x1b[31m \u202e" }
func (notSVG) SVG() string  { return "<script>alert(1)</script>" }
func (notSVG) Data() any    { return math.NaN() }

// TestOwnShownInNotebook: in stock GoNB the faces go along without a renderer; a text without markup stays text.
func TestOwnShownInNotebook(t *testing.T) {
	_, errs, outputs := shown(t, "own", true)
	if len(outputs) != 1 || errs != "" {
		t.Fatal(outputs, errs)
	}
	d := outputs[0].Data
	html, _ := d["text/html"].(string)
	if d["image/svg+xml"] != (histogram{1, 2}).SVG() || !strings.Contains(html, `alt="A histogram of 2 bins."`) || strings.Contains(html, "<svg") {
		t.Errorf("%v", d)
	}
	if f, err := Parse([]byte(d[MIME].(string))); err != nil || f.Kind != KindCustom {
		t.Errorf("%v, %v", f, err)
	}
}
