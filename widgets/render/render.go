package render

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/halftone-ml/halftone/widgets"
)

// MaxBundle is the size in bytes that all faces of a figure together do not exceed as JSON.
const MaxBundle = 150 << 10

// The sizes in bytes that single faces do not exceed.
const (
	MaxSVG  = 25 << 10
	MaxPNG  = 50 << 10
	MaxHTML = 60 << 10
)

func init() { widgets.RegisterRenderer(Bundle) }

// Bundle returns all faces of a figure by MIME type, as a Jupyter message stores them: "text/plain", "text/html" and
// "image/svg+xml" as strings, "image/png" as base64, and widgets.MIME as json.RawMessage. An error says which face could
// not be drawn; the faces returned beside it are good. A live figure that runs has no images: they are drawn once it has ended.
func Bundle(f *widgets.Figure) (faces map[string]any, err error) {
	faces = map[string]any{"text/plain": "This figure cannot be drawn."}
	// What draws fonts and paths panics on what it cannot draw. A kernel must outlive that, and the text stands anyway.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("render: drawing failed: %v\n%s", p, debug.Stack())
		}
	}()
	faces["text/plain"] = f.Text()
	raw, err := json.Marshal(f)
	if err != nil {
		return faces, err
	}
	faces[widgets.MIME] = json.RawMessage(raw)
	if f.Running() {
		faces["text/html"], err = htmlFace(f, "")
		return faces, err
	}
	if f.Custom != nil { // it has drawn itself
		for mime, face := range f.Faces() {
			faces[mime] = face
		}
		return faces, nil
	}
	var svg string
	var img []byte
	if f.Decisions == nil { // whose HTML is a table
		if svg, img, err = images(f, MaxBundle); err != nil {
			return faces, err
		}
	}
	chart := ""
	if bare := curves(f); bare != f { // its HTML has the rest as text and in tables
		plain, plainPNG, err := images(bare, MaxBundle)
		if err != nil {
			return faces, err
		}
		chart = chartImage(f.Alt, plain, plainPNG)
	} else if img != nil {
		chart = chartImage(f.Alt, svg, img)
	}
	html, err := htmlFace(f, chart)
	if err != nil {
		return faces, err
	}
	faces["text/html"] = html
	left := MaxBundle - len(raw) - stored(html) - stored(faces["text/plain"].(string)) - 256 // for their names
	if f.Decisions != nil || stored(svg)+base64.StdEncoding.EncodedLen(len(img)) > left {    // the drawing has as many rows as there is room left for
		if svg, img, err = images(f, left); err != nil {
			return faces, err
		}
	}
	faces["image/svg+xml"] = svg
	faces["image/png"] = base64.StdEncoding.EncodeToString(img)
	return faces, nil
}

// curves is a comparison that says nothing but its curves; any other figure as it is.
func curves(f *widgets.Figure) *widgets.Figure {
	if f.Runs == nil || f.Runs.Missing != "" {
		return f
	}
	bare, data := *f, *f.Runs
	bare.Runs, data.Runs, data.Answer = &data, slices.Clone(data.Runs), ""
	for i := range data.Runs {
		data.Runs[i].Ops = nil
	}
	return &bare
}

// BundleJSON is Bundle for a figure's JSON, as a cell emitted it.
func BundleJSON(raw []byte) (map[string]any, error) {
	f, err := widgets.Parse(raw)
	if err != nil {
		return nil, err
	}
	return Bundle(f)
}

// stored is the size of a text in a notebook file.
func stored(s string) int {
	b, err := json.Marshal(s)
	if err != nil {
		return len(s)
	}
	return len(b)
}

// allRows is the detail of a drawing that has room for everything.
const allRows = 20

// images draws a figure as SVG and PNG, both within their bounds and together within what is left of the bundle's: with fewer rows,
// bars and points where it must be, then half as sharp, and as its finding in words where that is still too much.
func images(f *widgets.Figure, left int) (svg string, img []byte, err error) {
	for rows := allRows; ; rows -= 4 {
		d, ok := chart(f, rows)
		if !ok {
			return "", nil, fmt.Errorf("render: a figure of kind %q cannot be drawn", f.Kind)
		}
		last := rows <= 0
		if last {
			d = note(f.Title, f.Alt)
		}
		if svg, err = drawSVG(d, f.Alt); err != nil {
			return "", nil, err
		}
		if len(svg) > MaxSVG && !last {
			continue // no need to see the PNG
		}
		dpi := sharp
		if rows <= 8 && !last {
			dpi = sharp / 2
		}
		if img, err = drawPNG(d, dpi); err != nil {
			return "", nil, err
		}
		if last || len(svg) <= MaxSVG && len(img) <= MaxPNG && stored(svg)+base64.StdEncoding.EncodedLen(len(img)) <= left {
			return svg, img, nil
		}
	}
}

// chart is the drawing of a figure, with at most the given number of rows where it is a list, and bars and points accordingly where it is
// a histogram or a curve; false for an empty figure.
func chart(f *widgets.Figure, rows int) (drawing, bool) {
	rows = max(rows, 4)
	switch {
	case f == nil:
	case f.Decisions != nil:
		return decisionsChart(f, rows), true
	case f.Scale != nil:
		return scaleChart(f, rows), true
	case f.Runs != nil:
		return compareChart(f, rows), true
	case f.Live != nil:
		return liveChart(f, rows), true
	case f.Exponents != nil:
		return exponentsChart(f, 3*rows+4), true
	case f.Flow != nil:
		return flowChart(f, rows), true
	case f.Rounding != nil:
		return roundingChart(f, min(rows, 16)), true
	case f.Bits != nil:
		return bitsChart(f), true
	case f.Policy != nil:
		return policyChart(f), true
	}
	return drawing{}, false
}
