package widgets

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// A Texter is a figure of the user's own: what it says in a terminal. It may bring more faces; each is one of the interfaces below.
type Texter interface {
	// Text is the figure for a terminal, in lines.
	Text() string
}

// An SVGer also draws itself as a picture.
type SVGer interface {
	// SVG is a picture as one <svg> element that needs nothing from elsewhere.
	SVG() string
}

// An HTMLer also writes itself as HTML. In a notebook that is not trusted JupyterLab takes scripts, styles and inline SVG out of it.
type HTMLer interface {
	// HTML is a fragment, without html and body.
	HTML() string
}

// A Dataer also gives its data, to be stored as JSON and read back by Load.
type Dataer interface {
	// Data is anything that encoding/json can write.
	Data() any
}

// An Alter says what there is to see, for people who cannot see it. Without it the first line of the text stands for the figure.
type Alter interface {
	// Alt is the finding in one or two sentences, with its numbers.
	Alt() string
}

// CustomData is a figure of the user's own: what [Own] shows.
type CustomData struct {
	Text string          `json:"text"`           // lines
	SVG  string          `json:"svg,omitempty"`  // a picture
	HTML string          `json:"html,omitempty"` // a fragment; readers take what is active out of it, or show the picture
	Data json.RawMessage `json:"data,omitempty"` // whatever the figure gave
	Note string          `json:"note,omitempty"` // what was left out, and why
}

// The sizes in bytes, as JSON stores them, that the faces of a user's own figure do not exceed: a notebook keeps each of them twice.
// What is larger is left out, and a note says so.
const (
	MaxOwnText = 12 << 10
	MaxOwnSVG  = 24 << 10
	MaxOwnHTML = 24 << 10
	MaxOwnData = 12 << 10
)

// Own makes a figure of the user's own from what it can draw of itself: its text, and a picture, HTML and data where it has methods
// for them. It is shown as any other, in Halftone's kernel and in stock GoNB.
func Own(title string, t Texter) *Figure {
	d := &CustomData{}
	f := &Figure{Schema: Schema, Kind: KindCustom, Title: title, Custom: d}
	if t == nil {
		d.Text, d.Note = "Nothing to show.", "widgets.Own was given nil."
	} else {
		d.Text = t.Text()
		d.ask(t)
	}
	if a, ok := t.(Alter); ok {
		f.Alt = a.Alt()
	}
	f.normalize()
	return f
}

// ask takes the faces that t has.
func (d *CustomData) ask(t any) {
	if s, ok := t.(SVGer); ok {
		d.SVG = s.SVG()
	}
	if h, ok := t.(HTMLer); ok {
		d.HTML = h.HTML()
	}
	if x, ok := t.(Dataer); ok {
		if b, err := json.Marshal(x.Data()); err != nil {
			d.left("its data: " + err.Error())
		} else {
			d.Data = b
		}
	}
}

// left notes what was left out.
func (d *CustomData) left(what string) {
	if d.Note == "" {
		d.Note = "Left out: "
	} else {
		d.Note += "; "
	}
	d.Note += what
}

// normalize bounds the faces and repairs the text.
func (d *CustomData) normalize(f *Figure) {
	var lines []string
	room := MaxOwnText
	for l := range strings.SplitSeq(strings.Trim(d.Text, "\n"), "\n") {
		l = strings.TrimRight(clip(l, 4*maxRule), " ")
		if room -= stored(l); room < 0 {
			d.left("text beyond " + Bytes(MaxOwnText))
			break
		}
		lines = append(lines, l)
	}
	if d.Text = strings.Join(lines, "\n"); strings.TrimSpace(d.Text) == "" {
		d.Text = "(no text)"
	}
	for _, face := range []struct {
		name string
		of   *string
		most int
	}{{"picture", &d.SVG, MaxOwnSVG}, {"HTML", &d.HTML, MaxOwnHTML}} {
		*face.of = strings.ToValidUTF8(strings.TrimSpace(*face.of), "\uFFFD")
		if n := stored(*face.of); n > face.most {
			d.left(fmt.Sprintf("its %s of %s, at most %s are stored", face.name, Bytes(int64(n)), Bytes(int64(face.most))))
			*face.of = ""
		}
	}
	if d.SVG != "" && !strings.HasPrefix(d.SVG, "<svg") && !strings.HasPrefix(d.SVG, "<?xml") {
		d.left("a picture that does not begin with <svg")
		d.SVG = ""
	}
	if len(d.Data) > MaxOwnData {
		d.left(fmt.Sprintf("its data of %s, at most %s are stored", Bytes(int64(len(d.Data))), Bytes(MaxOwnData)))
		d.Data = nil
	}
	d.Note = clip(d.Note, maxAlt)
	if f.Title == "" {
		f.Title = "Figure"
	}
	if f.Alt == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(d.Text), "\n")
		f.Alt = clip(f.Title+": "+strings.TrimSpace(first), maxAlt)
	}
}

// stored is the size of a text as JSON, quotes aside.
func stored(s string) int {
	b, _ := json.Marshal(s) // of a string: no error
	return len(b) - 2
}

// customText is the figure's own text below its title.
func (f *Figure) customText() string {
	s := f.Title + "\n"
	for l := range strings.SplitSeq(f.Custom.Text, "\n") {
		s += strings.TrimRight("  "+l, " ") + "\n"
	}
	if f.Custom.Note != "" {
		s += "  (" + f.Custom.Note + ")\n"
	}
	return s
}

// escapeHTML escapes text for HTML.
func escapeHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(s)
}

// Faces returns what a figure of the user's own brought: "text/html" and "image/svg+xml"; nil for other kinds. Where it has no HTML,
// that shows the picture, or else the text.
func (f *Figure) Faces() map[string]string {
	if f == nil || f.Custom == nil {
		return nil
	}
	d, out := f.Custom, map[string]string{}
	body := d.HTML
	if d.SVG != "" {
		out["image/svg+xml"] = d.SVG
		if body == "" {
			body = fmt.Sprintf(`<img alt="%s" style="display:block;max-width:100%%;height:auto;background-color:#ffffff;border-radius:4px" src="data:image/svg+xml;base64,%s">`,
				escapeHTML(f.Alt), base64.StdEncoding.EncodeToString([]byte(d.SVG))) +
				"<details><summary>Text</summary><pre>" + escapeHTML(d.Text) + "</pre></details>"
		}
	}
	if body == "" {
		body = "<pre>" + escapeHTML(d.Text) + "</pre>"
	}
	note := ""
	if d.Note != "" {
		note = `<div style="opacity:0.75">` + escapeHTML(d.Note) + "</div>"
	}
	out["text/html"] = `<div class="halftone-figure" style="max-width:1000px;font-size:13px;line-height:1.4;margin:4px 0 10px 0"><div style="margin:0 0 6px 0"><strong style="font-size:15px">` +
		escapeHTML(f.Title) + "</strong></div>" + body + note + "</div>"
	return out
}
