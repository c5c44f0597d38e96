package render

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// TestPicturesFollowThePage: a picture of a chart comes with what turns it over on a dark page; what a script draws instead needs none.
func TestPicturesFollowThePage(t *testing.T) {
	n := 0
	for name, f := range figures() {
		html := face(t, f, "text/html")
		if f.Exponents != nil || !strings.Contains(html, `class="halftone-chart"`) || f.Scale != nil && !f.Scale.Enabled {
			continue
		}
		if n++; !strings.Contains(html, `.halftone-chart img{filter:`) {
			t.Errorf("%s stays light on a dark page", name)
		}
	}
	if n < 10 {
		t.Errorf("%d pictures", n)
	}
}

// TestHeadingsRaisePowers: a title has powers as people write them, with a sign behind which no line breaks.
func TestHeadingsRaisePowers(t *testing.T) {
	p := new(page)
	p.heading("scaled by 2^-44, and <unscaled>", "")
	if got := p.String(); !strings.Contains(got, `scaled by 2<sup style="line-height:0;font-size:75%">−44</sup>, and &lt;unscaled&gt;`) {
		t.Error(got)
	}
}

// TestDrawnPowersAreRaised: no picture has the character that stands for a power in text, and its texts have no spaces that a viewer drops.
func TestDrawnPowersAreRaised(t *testing.T) {
	words := regexp.MustCompile(`<text [^>]*>([^<]*)</text>`)
	beside := map[string]bool{} // words
	for name, f := range chartFigures() {
		for _, m := range words.FindAllStringSubmatch(face(t, f, "image/svg+xml"), -1) {
			if strings.Contains(m[1], "^") || strings.TrimSpace(m[1]) != m[1] {
				t.Errorf("%s: %q", name, m[1])
			}
			beside[m[1]] = true
		}
	}
	for _, w := range []string{"Scaled by", "not safe above", "now", "floor (MinScale)"} {
		if !beside[w] {
			t.Errorf("no picture says %q beside a power", w)
		}
	}
}

// TestCaptionsAreShort: a caption is as narrow as its table, so what takes a sentence stands above it.
func TestCaptionsAreShort(t *testing.T) {
	caption := regexp.MustCompile(`<caption[^>]*>(.*?)</caption>`)
	tags := regexp.MustCompile(`<[^>]*>`)
	for name, f := range figures() {
		if f.Decisions != nil { // theirs are only heard, and their tables as wide as the figure
			continue
		}
		for _, m := range caption.FindAllStringSubmatch(face(t, f, "text/html"), -1) {
			if words := tags.ReplaceAllString(m[1], ""); words == "" || len(words) > 60 {
				t.Errorf("%s: the caption %q", name, words)
			}
		}
	}
}

// TestLeadHasRoom: the largest number of a figure keeps off the one beside it.
func TestLeadHasRoom(t *testing.T) {
	width := regexp.MustCompile(`width:(\d+)px"><strong`)
	for value, want := range map[string]string{"91%": "145", "262,144": "145", "under 0.1%": "200", "153 steps/s": "200"} {
		p := new(page)
		p.metrics(widgets.Metric{Value: value}, widgets.Metric{Value: value})
		if got := width.FindAllStringSubmatch(p.String(), -1); len(got) != 2 || got[0][1] != want || got[1][1] != "145" {
			t.Errorf("%s: widths %q, want %s and 145", value, got, want)
		}
	}
}

// TestCulpritsHaveRoom: above the highest scale a name fits, over however many octaves the scale has fallen.
func TestCulpritsHaveRoom(t *testing.T) {
	for _, steps := range []int{3, 40, 120} {
		f := widgets.ScaleHistory(sample.Scaler{Steps: steps, Init: 65536, Interval: 2000, Overflow: func(int, float64) (string, string) { return "2.weight", "NaN" }}.History())
		_, _, y0, y1 := scaleRange(f.Scale)
		const area = 190 // points that the curve has at least
		if room := area * (y1 - 16) / (y1 - y0); room < 12 {
			t.Errorf("%d steps: %.1f points above the first scale", steps, room)
		}
	}
}

// TestDifferencesAreNotCutOff: a run that ends at a thousand times the reference is drawn there.
func TestDifferencesAreNotCutOff(t *testing.T) {
	for _, v := range []float64{812, 1180, 2e4} {
		if e, ok := exponent(widgets.Number(v)); !ok || math.Abs(e-math.Log10(v)) > 1e-12 {
			t.Errorf("%g is drawn at 10^%g", v, e)
		}
	}
}

// TestSeriesAreSeenOnTheCard: every color that tells runs apart stands out from the card as graphics have to (WCAG, 3:1), or nearly, and from
// the pale reference below it.
func TestSeriesAreSeenOnTheCard(t *testing.T) {
	runs := []widgets.Run{}
	for i := range len(seriesColors) + 1 {
		runs = append(runs, widgets.Run{Name: fmt.Sprint(i), DType: amp.Float16, Loss: []float64{1, 2}})
	}
	f := widgets.Compare(runs...)
	for i := range f.Runs.Runs {
		if c := contrast(t, hex(runColor(f.Runs, i)), hex(card)); c < 2.2 {
			t.Errorf("run %d: contrast %.1f", i, c)
		}
	}
	if a, b := pale(runColor(f.Runs, 0)), runColor(f.Runs, 2); math.Hypot(float64(a.R)-float64(b.R), float64(a.B)-float64(b.B)) < 80 {
		t.Errorf("the third run %v looks like the reference %v", b, a)
	}
}
