package render

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// drawSVG draws with text as text: no fonts inside, so that the file stays small and its words can be found and read aloud.
func drawSVG(d drawing, title string) (string, error) {
	c := vgsvg.NewWith(vgsvg.UseWH(d.width, d.height), vgsvg.EmbedFonts(false))
	d.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", fmt.Errorf("render: svg: %w", err)
	}
	return tidySVG(b.String(), title), nil
}

var (
	svgProlog = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
	svgFont   = regexp.MustCompile(`font-family:Liberation Sans;font-variant:[a-z-]+;font-weight:(normal|bold);font-style:normal`)
	svgSpace  = regexp.MustCompile(`\n\s*`)
	svgText   = regexp.MustCompile(`<text (x="[^"]*" y="[^"]*" transform="[^"]*") style="(font-weight:bold;)?font-size:([0-9.]+)px;([^"]*)">([^<]*)</text>`)
	svgSize   = regexp.MustCompile(`width="([0-9.]+)pt" height="([0-9.]+)pt"\s*viewBox="([^"]*)"`)
)

// tidySVG names fallback fonts once for the whole picture, leaves out what repeats on every text, and gives the picture a
// title for screen readers. Sizes become pixels, so that it is as large as the PNG beside it.
func tidySVG(s, title string) string {
	prolog := svgProlog.FindString(s)
	size := svgSize.FindStringSubmatch(prolog)
	if size == nil {
		return s
	}
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="%s" role="img" font-family="Liberation Sans,Arial,Helvetica,sans-serif" font-size="9" fill="%s"><title>%s</title>`,
		size[1], size[2], size[3], usualFill, esc(title))
	body := svgFont.ReplaceAllStringFunc(s[len(prolog):], func(m string) string {
		if strings.Contains(m, "bold") {
			return "font-weight:bold"
		}
		return ""
	})
	body = strings.ReplaceAll(body, `style=";`, `style="`)
	body = svgSpace.ReplaceAllString(body, " ")
	return head + svgText.ReplaceAllStringFunc(body, fixWidth)
}

// usualFill is the color of most texts, as the SVG writes it: that of labels on axes.
var usualFill = strings.ToUpper(hex(faint))

// fixWidth tells the width that a text was laid out with: where none of our fonts is installed the viewer takes a wider one
// and would run texts into each other.
func fixWidth(element string) string {
	m := svgText.FindStringSubmatch(element)
	size, err := strconv.ParseFloat(m[3], 64)
	if err != nil || m[5] == "" {
		return element
	}
	style := textStyle(vg.Length(size), ink)
	if m[2] != "" {
		style = boldStyle(vg.Length(size), ink)
	}
	if m[2] == "" && m[3] == "9" && m[4] == "fill:"+usualFill { // as the whole picture says
		return fmt.Sprintf(`<text %s textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>`, m[1], style.Width(html.UnescapeString(m[5])).Points(), m[5])
	}
	return fmt.Sprintf(`<text %s textLength="%.1f" lengthAdjust="spacingAndGlyphs" style="%sfont-size:%spx;%s">%s</text>`,
		m[1], style.Width(html.UnescapeString(m[5])).Points(), m[2], m[3], m[4], m[5])
}
