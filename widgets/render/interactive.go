package render

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

//go:embed interactive.js
var interactiveJS string

// code is the script without its comments and indentation.
var code = func() string {
	var out []string
	for _, l := range strings.Split(interactiveJS, "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "//") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}()

// interactive returns the script element of a figure: code and, for charts, the ECharts option. It runs only in a trusted
// notebook, adds to what stands in the page once it has built it, and otherwise leaves everything as it is.
func interactive(f *widgets.Figure) (string, error) {
	data := map[string]any{"kind": f.Kind}
	switch {
	case f.Decisions != nil && len(f.Decisions.Sites) > 0:
	case f.Scale != nil && f.Scale.Enabled && len(f.Scale.Points) > 0:
		data["option"] = scaleOption(f)
	case f.Runs != nil && f.Runs.Missing == "":
		data["option"] = compareOption(f)
	default:
		return "", nil
	}
	b, err := json.Marshal(data) // escapes <, > and &, so that no text can end the element
	if err != nil {
		return "", fmt.Errorf("render: chart option: %w", err)
	}
	return "<script>(function(data){\n" + code + "\n})(" + string(b) + ")</script>", nil
}
