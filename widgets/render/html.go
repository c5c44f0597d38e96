package render

import (
	"encoding/base64"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// JupyterLab shows text/html before any image and, in a notebook it does not trust, drops from it: style and script elements,
// inline SVG, ids, data attributes, and colors that are not literal. So everything a figure says stands here in elements and
// inline styles that pass, text takes its color from the page's theme, and charts are images with their finding as alt text.
// The one script only adds: see interactive.go.

// esc escapes text for HTML.
func esc(s string) string { return html.EscapeString(s) }

// powersHTML escapes text and raises the exponents of powers of two.
func powersHTML(s string) string {
	return powerOfTwo.ReplaceAllStringFunc(esc(s), func(p string) string {
		return `2<sup style="line-height:0;font-size:75%">` + strings.Replace(p[2:], "-", "−", 1) + `</sup>` // a hyphen would let the line break behind it
	})
}

var powerOfTwo = regexp.MustCompile(`\b2\^(-?[0-9]+(?:\.[0-9]+)?)`)

// hex writes a color as a literal.
func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Inline styles that repeat. JupyterLab's own sheet aligns table cells to the right and centers tables; both are undone here.
const (
	stFigure  = `max-width:1000px;font-size:13px;line-height:1.4;margin:4px 0 10px 0`
	stCell    = `text-align:left;vertical-align:top;padding:5px 6px`
	stNumber  = `text-align:right;vertical-align:top;padding:5px 6px;white-space:nowrap`
	stHead    = `text-align:left;vertical-align:bottom;padding:4px 6px`
	stHeadNum = `text-align:right;vertical-align:bottom;padding:4px 6px`
	stRow     = `background-color:transparent;border-top:1px solid rgba(128,128,128,0.35)`
	stSub     = `background-color:transparent`
	stMuted   = `opacity:0.75`
	stScroll  = `overflow-x:auto;margin:8px 0`
	stTable   = `border-collapse:collapse;table-layout:auto;margin:0;font-size:13px`
	stCaption = `caption-side:top;text-align:left;opacity:0.75;padding:2px 0 4px 0`
	stImg     = `display:block;width:100%;max-width:960px;height:auto;margin:8px 0;border-radius:4px`
	stSummary = `cursor:pointer;margin:6px 0`
)

// A page builds HTML.
type page struct{ strings.Builder }

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

// htmlFace draws a figure as HTML; chart is the image in it, "" for none.
func htmlFace(f *widgets.Figure, chart string) (string, error) {
	p := new(page)
	p.printf(`<div class="halftone-figure" style="%s">`, stFigure)
	switch {
	case f.Decisions != nil:
		decisionsHTML(p, f)
	case f.Scale != nil:
		scaleHTML(p, f, chart)
	case f.Runs != nil:
		compareHTML(p, f, chart)
	case f.Live != nil:
		liveHTML(p, f, chart)
	case f.Exponents != nil:
		exponentsHTML(p, f, chart)
	case f.Flow != nil:
		flowHTML(p, f)
	case f.Rounding != nil:
		roundingHTML(p, f)
	case f.Bits != nil:
		bitsHTML(p, f)
	case f.Policy != nil:
		policyHTML(p, f, chart)
	}
	script, err := interactive(f)
	if err != nil {
		return "", err
	}
	if p.Len()+len(script)+len("</div>") <= MaxHTML { // interaction is the first to go where there is too much to show
		p.WriteString(script)
	}
	p.WriteString("</div>")
	return p.String(), nil
}

// heading writes the title and what stands beside it.
func (p *page) heading(title, beside string) {
	p.printf(`<div style="margin:0 0 6px 0"><strong style="font-size:15px">%s</strong> <span style="%s">%s</span></div>`, powersHTML(title), stMuted+";margin-left:6px", esc(beside))
}

// chip is a dtype on its color, with its mark.
func chip(d amp.DType, words string) string {
	return label(dtypeColor(d), widgets.Mark(d)+" "+words)
}

// label is words on a color.
func label(bg color.NRGBA, words string) string {
	return fmt.Sprintf(`<span style="background-color:%s;color:%s;border-radius:3px;padding:0 5px 1px;margin:1px 0;display:inline-block;white-space:nowrap">%s</span>`,
		hex(bg), hex(onColor(bg)), esc(words))
}

// note writes what has to be known of the table below it. It is not the table's caption, which is as wide as the table and would be cut on a
// narrow page, where the table scrolls.
func (p *page) note(words string) {
	p.printf(`<div style="%s;margin:8px 0 0 0">%s</div>`, stMuted, esc(words))
}

// table begins a table that scrolls in itself, up to its first heading. The caption is short: it is no wider than the table.
func (p *page) table(caption string) {
	p.printf(`<div style="%s"><table style="%s"><caption style="%s">%s</caption><thead><tr style="%s">`, stScroll, stTable, stCaption, esc(caption), stSub)
}

// metrics writes numbers with their labels below; the first one, which a reader wants most, is the largest.
func (p *page) metrics(list ...widgets.Metric) {
	p.WriteString(`<div style="margin:4px 0 2px 0">`)
	for i, m := range list {
		size := 17
		if i == 0 {
			size = 24
		}
		width := 145
		if n := utf8.RuneCountInString(m.Value); n > 13 || i == 0 && n > 9 { // it would touch its neighbor
			width = 200
		}
		p.printf(`<div style="display:inline-block;vertical-align:top;margin:2px 14px 4px 0;width:%dpx"><strong style="font-size:%dpx;line-height:32px;white-space:nowrap">%s</strong><br><span style="%s;font-size:12px">%s</span></div>`,
			width, size, powersHTML(m.Value), stMuted, powersHTML(m.Label))
	}
	p.WriteString(`</div>`)
}

// chartImage is a chart as an image. It is the PNG: an SVG in a data URL is sharper but stripped by some viewers (GitHub calls
// it insecure), and the PNG is drawn at twice its size anyway. On a narrow page it shrinks with it.
func chartImage(alt, svg string, img []byte) string {
	mime := "image/png"
	if len(img) > maxInline && len(svg) < len(img) {
		mime, img = "image/svg+xml", []byte(svg)
	}
	return fmt.Sprintf(`<div class="halftone-chart" style="overflow-x:auto"><img alt="%s" width="%d" style="%s" src="data:%s;base64,%s"></div>`,
		esc(alt), chartWidth, stImg, mime, base64.StdEncoding.EncodeToString(img))
}

// maxInline is the size of a PNG beyond which HTML that has to stay within MaxHTML takes the SVG instead.
const maxInline = 25 << 10

// verdictColor is the color beside a verdict's word.
func verdictColor(v string) color.NRGBA {
	switch v {
	case widgets.VerdictSteady:
		return green
	case widgets.VerdictCalibrating:
		return orange
	case widgets.VerdictCollapsing:
		return red
	}
	return gray
}
