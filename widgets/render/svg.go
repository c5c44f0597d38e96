package render

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

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
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="%s" role="img" font-family="Liberation Sans,Arial,Helvetica,sans-serif"><title>%s</title>`,
		size[1], size[2], size[3], esc(title))
	body := svgFont.ReplaceAllStringFunc(s[len(prolog):], func(m string) string {
		if strings.Contains(m, "bold") {
			return "font-weight:bold"
		}
		return ""
	})
	body = strings.ReplaceAll(body, `style=";`, `style="`)
	return head + svgSpace.ReplaceAllString(body, " ")
}
