package render

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/halftone-ml/halftone/widgets"
)

//go:embed testdata/jupyterlab_sanitizer.json
var sanitizerJSON []byte

// A sanitizer knows what JupyterLab lets through in a notebook that is not trusted.
type sanitizer struct {
	Tags       []string
	Attributes map[string][]string
	Styles     map[string]string // property to a regular expression of its values

	values map[string]*regexp.Regexp
}

func newSanitizer(t *testing.T) *sanitizer {
	t.Helper()
	s := &sanitizer{values: map[string]*regexp.Regexp{}}
	if err := json.Unmarshal(sanitizerJSON, s); err != nil {
		t.Fatal(err)
	}
	for name, expr := range s.Styles {
		s.values[name] = regexp.MustCompile("(?i)" + expr)
	}
	return s
}

// lost lists what the sanitizer would take out of the HTML below n.
func (s *sanitizer) lost(n *html.Node) (out []string) {
	if n.Type == html.ElementNode {
		if !slices.Contains(s.Tags, n.Data) {
			return []string{"<" + n.Data + ">"}
		}
		for _, a := range n.Attr {
			if !slices.Contains(s.Attributes["*"], a.Key) && !slices.Contains(s.Attributes[n.Data], a.Key) {
				out = append(out, n.Data+" "+a.Key)
			}
			if a.Key == "style" {
				out = append(out, s.lostStyles(a.Val)...)
			}
			if (a.Key == "href" || a.Key == "src") && !strings.HasPrefix(a.Val, "data:image/") {
				out = append(out, "address "+a.Val)
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		out = append(out, s.lost(c)...)
	}
	return out
}

func (s *sanitizer) lostStyles(style string) (out []string) {
	for _, d := range strings.Split(style, ";") {
		name, value, _ := strings.Cut(d, ":")
		if v := s.values[strings.TrimSpace(name)]; v == nil || !v.MatchString(strings.TrimSpace(value)) {
			out = append(out, "style "+d)
		}
	}
	return out
}

// parse reads a fragment as the child of an output area.
func parse(t *testing.T, fragment string) *html.Node {
	t.Helper()
	n, err := html.Parse(strings.NewReader("<!doctype html><body>" + fragment))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// find lists the elements with a tag.
func find(n *html.Node, tag string) (out []*html.Node) {
	if n.Type == html.ElementNode && n.Data == tag {
		out = append(out, n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		out = append(out, find(c, tag)...)
	}
	return out
}

// words is the text below n, without the script's.
func words(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if n.Type == html.ElementNode && n.Data == "script" {
		return ""
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(words(c) + " ")
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// TestUntrustedLosesOnlyTheScript: what JupyterLab's sanitizer takes out of any figure is its one script element and nothing else.
func TestUntrustedLosesOnlyTheScript(t *testing.T) {
	s := newSanitizer(t)
	for name, f := range figures() {
		t.Run(name, func(t *testing.T) {
			body := find(parse(t, face(t, f, "text/html")), "body")[0]
			var other []string
			scripts := 0
			for c := body.FirstChild; c != nil; c = c.NextSibling { // the body itself is the page's
				for _, x := range s.lost(c) {
					if x == "<script>" {
						scripts++
					} else {
						other = append(other, x)
					}
				}
			}
			if slices.Sort(other); len(other) > 0 || scripts > 1 {
				other = slices.Compact(other)
				t.Errorf("lost: %q and %d scripts", other, scripts)
			}
		})
	}
}

// TestSanitizerFindsWhatIsLost proves the test above can fail.
func TestSanitizerFindsWhatIsLost(t *testing.T) {
	s := newSanitizer(t)
	for fragment, want := range map[string]string{
		`<svg><path/></svg>`:                            "<svg>",
		`<style>p{}</style>`:                            "<style>",
		`<p onclick="x()">a</p>`:                        "p onclick",
		`<p id="a">a</p>`:                               "p id",
		`<p style="color:var(--jp-x)">a</p>`:            "style color:var(--jp-x)",
		`<p style="color:red;gap:3px">a</p>`:            "style gap:3px",
		`<img src="https://example.org/a.png">`:         "address https://example.org/a.png",
		`<table data-x="1"><tr><td>a</td></tr></table>`: "table data-x",
	} {
		body := find(parse(t, fragment), "body")[0]
		var got []string
		for c := body.FirstChild; c != nil; c = c.NextSibling {
			got = append(got, s.lost(c)...)
		}
		for _, st := range find(parse(t, fragment), "style") {
			got = append(got, s.lost(st)...)
		}
		if !slices.Contains(got, want) {
			t.Errorf("%s: found %q, want %q", fragment, got, want)
		}
	}
}

// TestImagesHaveTheFindingAsAlt: an image that cannot be seen still says its numbers.
func TestImagesHaveTheFindingAsAlt(t *testing.T) {
	for name, number := range map[string]string{"steady": "65,536", "collapsing": "20", "compare": "0.084401", "calibrating": "32,768"} {
		f := figures()[name]
		images := find(parse(t, face(t, f, "text/html")), "img")
		if len(images) != 1 {
			t.Errorf("%s: %d images", name, len(images))
			continue
		}
		alt := attribute(images[0], "alt")
		if alt != f.Alt || !strings.Contains(alt, number) {
			t.Errorf("%s: alt is %q, want the finding with %s", name, alt, number)
		}
	}
}

// TestTablesAreReadable: captions and scoped headers, for those who hear a table.
func TestTablesAreReadable(t *testing.T) {
	for name, f := range figures() {
		for _, table := range find(parse(t, face(t, f, "text/html")), "table") {
			if c := find(table, "caption"); len(c) != 1 || words(c[0]) == "" {
				t.Errorf("%s: a table without a caption", name)
			}
			for _, h := range find(table, "th") {
				if s := attribute(h, "scope"); s != "col" && s != "row" && s != "rowgroup" {
					t.Errorf("%s: header %q has scope %q", name, words(h), s)
				}
			}
		}
	}
}

// TestColorNeverStandsAlone: next to every dtype's color stands its mark and a word.
func TestColorNeverStandsAlone(t *testing.T) {
	for name, f := range figures() {
		for _, span := range find(parse(t, face(t, f, "text/html")), "span") {
			style := attribute(span, "style")
			if !strings.Contains(style, "background-color:"+hex(blue)) && !strings.Contains(style, "background-color:"+hex(orange)) {
				continue
			}
			if text := words(span); text == "" && attribute(span, "title") == "" || text != "" && !strings.ContainsAny(text, "▮▯■▢") {
				t.Errorf("%s: a colored span without mark or words: %q", name, text)
			}
		}
	}
}

// face draws one face of a figure.
func face(t *testing.T, f *widgets.Figure, mime string) string {
	t.Helper()
	faces, err := drawn(f)
	if err != nil {
		t.Fatal(err)
	}
	switch v := faces[mime].(type) {
	case string:
		return v
	case json.RawMessage:
		return string(bytes.TrimSpace(v))
	}
	t.Fatalf("no %s among the faces", mime)
	return ""
}

// bundles keeps what was drawn: most tests look at the same figures.
var bundles sync.Map

func drawn(f *widgets.Figure) (map[string]any, error) {
	if b, ok := bundles.Load(f); ok {
		return b.(map[string]any), nil
	}
	b, err := Bundle(f)
	if err == nil {
		bundles.Store(f, b)
	}
	return b, err
}
