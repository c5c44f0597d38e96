package render

import (
	"encoding/json"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// maxCode is the size in bytes of the script without its data. The largest has the arithmetic of five formats and reads what people type.
const maxCode = 15 << 9

func TestScriptIsSmallAndCarriesItsOption(t *testing.T) {
	for what, js := range map[string]string{"charts": chartCode, "decisions": tableCode, "exponents": whatIfCode, "bits": flips, "policy": searches, "picture": follows} {
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
		js := map[string]string{widgets.KindDecisions: tableCode, widgets.KindExponents: whatIfCode, widgets.KindBits: flips, widgets.KindPolicy: searches, widgets.KindLive: follows}[f.Kind]
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

// TestHTMLHasNoEmptyLine: nbconvert --to markdown puts the HTML of a figure into the text as it is, and Markdown ends it at an empty line: what
// follows becomes a paragraph, here one inside a script.
func TestHTMLHasNoEmptyLine(t *testing.T) {
	for name, f := range everything() {
		faces, err := Bundle(f)
		if err != nil {
			t.Fatal(err)
		}
		page, _ := faces["text/html"].(string)
		if page == "" {
			t.Errorf("%s has no HTML", name)
		}
		for i, line := range strings.Split(page, "\n") {
			if strings.TrimSpace(line) == "" {
				t.Errorf("%s: line %d is empty", name, i+1)
			}
		}
	}
}

// TestScriptNeverParsesHTML: names reach the page as text only.
func TestScriptNeverParsesHTML(t *testing.T) {
	all := strings.ReplaceAll(chartCode+tableCode+whatIfCode+flips+searches+follows, "http://www.w3.org/2000/svg", "") // a name, not an address
	for _, bad := range []string{"</script", "<!--", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "http:", "https:", "//"} {
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
	none := amp.NoDType
	for _, dtypes := range [][]amp.DType{{none, none, none, none}, {amp.Float16, amp.Float16, amp.Float32, amp.Float32}, {amp.Float32, none, none}} {
		var runs []widgets.Run
		for _, d := range dtypes {
			runs = append(runs, widgets.Run{Name: "r", DType: d, Loss: []float64{1}})
		}
		f, seen := widgets.Compare(runs...), map[color.NRGBA]bool{}
		for i := range runs {
			seen[runColor(f.Runs, i)] = true
		}
		if len(seen) != len(runs) {
			t.Errorf("%v are drawn in %d colors", dtypes, len(seen))
		}
		if page := face(t, f, "text/html"); dtypes[0] == none && strings.Contains(page, "■") {
			t.Error("runs of no dtype have the mark of float32")
		}
	}

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

// TestPolicySaysWhatEveryOpComputes: the op table of the HTML has the formula of every op that programs call, also with overrides.
func TestPolicySaysWhatEveryOpComputes(t *testing.T) {
	for _, name := range []string{"policy", "policy_forced"} {
		f := figures()[name]
		page := face(t, f, "text/html")
		for i := range f.Policy.Ops {
			if o := &f.Policy.Ops[i]; !o.Part && (o.Doc == "" || !strings.Contains(page, "<b>"+esc(o.Name)+"</b> "+esc(o.Doc))) {
				t.Errorf("%s: %s without what it computes: %q", name, o.Name, o.Doc)
			}
		}
	}
}

// TestCompareDrawsEveryRun: the error of an op has a bar for each run that was compared, also where there are many.
func TestCompareDrawsEveryRun(t *testing.T) {
	runs := tracedRuns()
	for _, more := range []string{"float16, other lists", "float16, forced"} {
		r := runs[1]
		r.Name = more
		runs = append(runs, r)
	}
	f := widgets.Compare(runs...)
	heads := find(find(parse(t, face(t, f, "text/html")), "details")[0], "th")
	var names []string
	for _, h := range heads {
		if attribute(h, "scope") == "col" {
			names = append(names, words(h))
		}
	}
	for _, r := range runs[1:] {
		if !slices.Contains(names, r.Name) {
			t.Errorf("no column of %q among %q", r.Name, names)
		}
	}
	for _, row := range opRows(f.Runs, []int{1, 2, 3, 4})[:3] {
		if len(row.errors) != 4 || row.errors[2] == nil || row.errors[3] == nil {
			t.Errorf("%s: %v", row.name, row.errors)
		}
		if row.colors[0] == row.colors[2] || row.colors[2] == row.colors[3] {
			t.Errorf("%s: runs of one dtype have bars of one color: %v", row.name, row.colors)
		}
	}
}

// TestModulesFold without a script: each module of the decisions can be folded, says what is in it, and has its rows.
func TestModulesFold(t *testing.T) {
	for name, open := range map[string]bool{"decisions": true, "decisions_large": false} {
		f := figures()[name]
		page := parse(t, face(t, f, "text/html"))
		var folds int
		for _, d := range find(page, "details") {
			if attribute(d, "class") != "halftone-module" {
				continue
			}
			folds++
			if tables := find(d, "table"); len(tables) != 1 || len(find(tables[0], "tr")) < 2 || !strings.Contains(words(find(d, "summary")[0]), " op") && !strings.Contains(words(d), "backward") {
				t.Errorf("%s: a module without its rows: %q", name, words(d))
			}
			isOpen := slices.ContainsFunc(d.Attr, func(a html.Attribute) bool { return a.Key == "open" })
			if open && !isOpen || folds == 1 && !isOpen {
				t.Errorf("%s: module %d is folded", name, folds)
			}
		}
		if want := len(f.Decisions.Modules()); folds != want || folds < 3 {
			t.Errorf("%s: %d modules can be folded of %d", name, folds, want)
		}
	}
}
