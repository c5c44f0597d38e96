package render

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

// The scripts: each is the body of a function of data. They are built from kernelext/labextension/src/html, with what the notebook extension
// works out in the same way; see build.mjs there.
var (
	//go:embed scripts/charts.js
	chartCode string
	//go:embed scripts/decisions.js
	tableCode string
	//go:embed scripts/exponents.js
	whatIfCode string
	//go:embed scripts/bits.js
	flips string
	//go:embed scripts/policy.js
	searches string
	//go:embed scripts/picture.js
	follows string
)

// whatIfData adds what the slider of the exponents needs: the scales as powers of two, where each format loses numbers, and the
// counts, of all gradients and by module.
func whatIfData(f *widgets.Figure, data map[string]any) {
	type source struct {
		Name   string `json:"name"`
		Low    int    `json:"low"`
		Counts []int  `json:"counts"`
	}
	type format struct {
		Name   string `json:"name"`
		Zero   int    `json:"zero"`
		Normal int    `json:"normal"`
		Top    int    `json:"top"`
		Best   int    `json:"best"`
	}
	d := f.Exponents
	data["alt"], data["now"] = f.Alt, widgets.Power(d.Scale)
	if d.Below > 0 {
		data["below"] = widgets.Power(d.Below)
	}
	sources := []source{{"all gradients", d.Low, d.Counts}}
	for _, m := range d.Modules {
		if len(m.Counts) > 0 && len(m.Counts) < 120 {
			sources = append(sources, source{cmp.Or(m.Module, "(top level)"), m.Low, m.Counts})
		}
	}
	formats := []format{}
	for _, r := range d.Formats {
		formats = append(formats, format{r.Name, r.Zero, r.Normal, r.Top, widgets.Power(r.Best)})
	}
	data["sources"], data["formats"] = sources, formats
}

// interactive returns the script element of a figure: code and, for charts, the ECharts option. It runs only in a trusted
// notebook, adds to what stands in the page once it has built it, and otherwise leaves everything as it is.
func interactive(f *widgets.Figure) (string, error) {
	data, code := map[string]any{"kind": f.Kind}, chartCode
	switch {
	case f.Decisions != nil && len(f.Decisions.Sites) > 0:
		code = tableCode
	case f.Scale != nil && f.Scale.Enabled && len(f.Scale.Points) > 0:
		data["option"] = scaleOption(f)
	case f.Runs != nil && f.Runs.Missing == "":
		data["option"] = compareOption(f)
	case f.Exponents != nil && len(f.Exponents.Counts) > 0 && len(f.Exponents.Formats) > 0:
		code = whatIfCode
		whatIfData(f, data)
	case f.Bits != nil && f.Bits.Missing == "":
		code = flips
		var values []widgets.Exact
		for _, v := range f.Bits.Values {
			values = append(values, v.Value)
		}
		data["values"] = values
	case f.Policy != nil && f.Policy.Missing == "":
		code = searches
	case f.Live != nil && !f.Running() && len(f.Live.Points) > 0:
		code = follows
	default:
		return "", nil
	}
	b, err := json.Marshal(data) // escapes <, > and &, so that no text can end the element
	if err != nil {
		return "", fmt.Errorf("render: chart option: %w", err)
	}
	// Without an empty line: in Markdown, to which notebooks are converted, it would end the HTML inside the script.
	return "<script>(function(data){\n" + strings.TrimSpace(code) + "\n})(" + string(b) + ")</script>", nil
}
