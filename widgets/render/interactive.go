package render

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

//go:embed interactive.js
var interactiveJS string

//go:embed exponents.js
var exponentsJS string

// code is the script of most figures, whatIf that of the exponents, without comments and indentation.
var code, whatIf = squeeze(interactiveJS), squeeze(exponentsJS)

func squeeze(js string) string {
	var out []string
	for _, l := range strings.Split(js, "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "//") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// whatIfData adds what the slider of the exponents needs: counts, scales as powers of two, and of each format where numbers cease
// to round to zero, where they are normal, and where they overflow.
func whatIfData(d *widgets.ExponentsData, data map[string]any) {
	power := func(s widgets.Number) int { return int(math.Round(math.Log2(float64(s)))) }
	data["low"], data["counts"] = d.Low, d.Counts
	data["now"], data["best"] = power(d.Scale), power(d.Best)
	formats := map[string][3]int{}
	for dt, f := range map[amp.DType]amp.Format{amp.Float16: amp.FormatFP16, amp.BFloat16: amp.FormatBF16} {
		_, top := math.Frexp(f.Max())
		formats[dt.String()] = [3]int{int(math.Log2(f.MinSubnormal())) - 1, int(math.Log2(f.MinNormal())), top}
	}
	data["formats"] = formats
}

// interactive returns the script element of a figure: code and, for charts, the ECharts option. It runs only in a trusted
// notebook, adds to what stands in the page once it has built it, and otherwise leaves everything as it is.
func interactive(f *widgets.Figure) (string, error) {
	data, code := map[string]any{"kind": f.Kind}, code
	switch {
	case f.Decisions != nil && len(f.Decisions.Sites) > 0:
	case f.Scale != nil && f.Scale.Enabled && len(f.Scale.Points) > 0:
		data["option"] = scaleOption(f)
	case f.Runs != nil && f.Runs.Missing == "":
		data["option"] = compareOption(f)
	case f.Exponents != nil && len(f.Exponents.Counts) > 0:
		code = whatIf
		whatIfData(f.Exponents, data)
	default:
		return "", nil
	}
	b, err := json.Marshal(data) // escapes <, > and &, so that no text can end the element
	if err != nil {
		return "", fmt.Errorf("render: chart option: %w", err)
	}
	return "<script>(function(data){\n" + code + "\n})(" + string(b) + ")</script>", nil
}
