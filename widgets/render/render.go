package render

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime/debug"

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
// not be drawn; the faces returned beside it are good.
func Bundle(f *widgets.Figure) (faces map[string]any, err error) {
	faces = map[string]any{"text/plain": f.Text()}
	// What draws fonts and paths panics on what it cannot draw. A kernel must outlive that, and the text stands anyway.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("render: drawing failed: %v\n%s", p, debug.Stack())
		}
	}()
	raw, err := json.Marshal(f)
	if err != nil {
		return faces, err
	}
	faces[widgets.MIME] = json.RawMessage(raw)
	d, ok := chart(f)
	if !ok {
		return faces, fmt.Errorf("render: a figure of kind %q cannot be drawn", f.Kind)
	}
	html, err := htmlFace(f)
	if err != nil {
		return faces, err
	}
	faces["text/html"] = html
	if svg, err := drawSVG(d, f.Alt); err != nil {
		return faces, err
	} else if len(svg) <= MaxSVG {
		faces["image/svg+xml"] = svg
	}
	img, err := drawPNG(d)
	if err != nil {
		return faces, err
	}
	if len(img) <= MaxPNG {
		faces["image/png"] = base64.StdEncoding.EncodeToString(img)
	}
	return faces, nil
}

// BundleJSON is Bundle for a figure's JSON, as a cell emitted it.
func BundleJSON(raw []byte) (map[string]any, error) {
	f, err := widgets.Parse(raw)
	if err != nil {
		return nil, err
	}
	return Bundle(f)
}

// chart is the drawing of a figure; false for kinds without one.
func chart(f *widgets.Figure) (drawing, bool) {
	switch {
	case f == nil:
	case f.Decisions != nil:
		return decisionsChart(f), true
	case f.Scale != nil:
		return scaleChart(f), true
	case f.Runs != nil:
		return compareChart(f), true
	}
	return drawing{}, false
}
