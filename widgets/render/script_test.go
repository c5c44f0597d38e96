package render

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// maxCode is the size in bytes of the script without its data.
const maxCode = 6 << 10

func TestScriptIsSmallAndCarriesItsOption(t *testing.T) {
	for what, js := range map[string]string{"charts": chartCode, "decisions": tableCode, "exponents": whatIfCode, "bits": flips, "policy": searches} {
		if len(js) > maxCode {
			t.Errorf("the script of the %s has %d bytes, at most %d are allowed", what, len(js), maxCode)
		}
	}
	for name, f := range everything() {
		s, err := interactive(f)
		if err != nil {
			t.Fatal(err)
		}
		if s == "" {
			continue
		}
		_, data, ok := strings.Cut(s, "\n})(")
		data, ok2 := strings.CutSuffix(data, ")</script>")
		var v struct {
			Kind   string
			Option map[string]any
		}
		if err := json.Unmarshal([]byte(data), &v); err != nil || !ok || !ok2 || v.Kind != f.Kind {
			t.Errorf("%s: %v, kind %q", name, err, v.Kind)
		}
		js := map[string]string{widgets.KindDecisions: tableCode, widgets.KindExponents: whatIfCode, widgets.KindBits: flips, widgets.KindPolicy: searches}[f.Kind]
		if js == "" {
			js = chartCode
		}
		if strings.Count(s, "<") != 2+strings.Count(js, "<") {
			t.Errorf("%s: data with < in it could end the script", name)
		}
		if js == chartCode && (v.Option["series"] == nil || v.Option["xAxis"] == nil) {
			t.Errorf("%s: no chart in the option", name)
		}
	}
}

// TestScriptNeverParsesHTML: names reach the page as text only.
func TestScriptNeverParsesHTML(t *testing.T) {
	all := strings.ReplaceAll(chartCode+tableCode+whatIfCode+flips+searches, "http://www.w3.org/2000/svg", "") // a name, not an address
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "http:", "https:", "//"} {
		if strings.Contains(all, bad) {
			t.Errorf("the script contains %q", bad)
		}
	}
}

// TestContrast: text on the card and on every dtype's color is readable for everyone (WCAG AA, 4.5:1).
func TestContrast(t *testing.T) {
	for _, c := range []struct {
		what   string
		ratio  float64
		atMost float64
	}{
		{"float16", contrast(t, hex(onColor(blue)), hex(blue)), 4.5},
		{"bfloat16", contrast(t, hex(onColor(green)), hex(green)), 4.5},
		{"float32", contrast(t, hex(onColor(orange)), hex(orange)), 4.5},
		{"other", contrast(t, hex(onColor(gray)), hex(gray)), 4.5},
		{"faint text", contrast(t, hex(faint), hex(card)), 4.5},
		{"text", contrast(t, hex(ink), hex(card)), 7},
		{"culprit", contrast(t, "#b04a00", hex(card)), 4.5},
		{"calibrating", contrast(t, "#7a5c00", "#fbf5e3"), 4.5},
		{"curve float16", contrast(t, hex(blue), hex(card)), 3},
		{"curve bfloat16", contrast(t, hex(green), hex(card)), 3},
		{"cross", contrast(t, hex(red), hex(card)), 3},
	} {
		if c.ratio < c.atMost {
			t.Errorf("%s: contrast %.2f, want at least %v", c.what, c.ratio, c.atMost)
		}
	}
}

// contrast is WCAG's ratio of two colors.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	lum := func(s string) float64 {
		if !regexp.MustCompile(`^#[0-9a-f]{6}$`).MatchString(s) {
			t.Fatalf("color %q", s)
		}
		var v [3]float64
		for i := range v {
			for _, r := range s[1+2*i : 3+2*i] {
				v[i] = v[i]*16 + float64(strings.IndexRune("0123456789abcdef", r))
			}
			if v[i] /= 255; v[i] <= .04045 {
				v[i] /= 12.92
			} else {
				v[i] = math.Pow((v[i]+.055)/1.055, 2.4)
			}
		}
		return .2126*v[0] + .7152*v[1] + .0722*v[2]
	}
	x, y := lum(a), lum(b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

func TestRunsOfOneDTypeDifferInColor(t *testing.T) {
	f := widgets.Compare(widgets.Run{DType: amp.Float16, Loss: []float64{1}}, widgets.Run{DType: amp.Float16, Loss: []float64{2}}, widgets.Run{DType: amp.Float32, Loss: []float64{2}})
	a, b, c := runColor(f.Runs, 0), runColor(f.Runs, 1), runColor(f.Runs, 2)
	if a != blue || b == a || c != orange {
		t.Errorf("colors %v, %v, %v", a, b, c)
	}
}

// TestUsualFiguresAreInteractive: what people compare is never so large that its script has to go.
func TestUsualFiguresAreInteractive(t *testing.T) {
	for _, name := range []string{"decisions", "decisions_large", "steady", "calibrating", "collapsing", "compare", "compare_long", "compare_ops", "bits", "bits_many", "policy", "policy_forced"} {
		if !strings.Contains(face(t, figures()[name], "text/html"), "<script>") {
			t.Errorf("%s has no script", name)
		}
	}
}
