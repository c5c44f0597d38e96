package browser

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestCompareLooks: a run is drawn alike in both charts and beside its name, whatever other runs there are of its dtype.
func TestCompareLooks(t *testing.T) {
	ready(t)
	p := openPage(t, strict)
	p.figure("five runs", samples(t)["compare_alike"])
	p.snapPage("charts-looks")
	var seen struct{ Legend, Upper, Lower, Colors []string }
	p.eval("reading how runs are drawn", `(() => {
		const dash = (e) => { const s = getComputedStyle(e); return s.stroke + ' ' + s.strokeDasharray + ' ' + s.strokeWidth; };
		const of = (e) => [...e.querySelectorAll('.ht-line')].map(dash), plots = document.querySelectorAll('.ht-plot');
		return { legend: of(document.querySelector('.ht-legend')), upper: of(plots[0]), lower: of(plots[1]), colors: [...plots[0].querySelectorAll('.ht-line')].map((e) => getComputedStyle(e).stroke) };
	})()`, &seen)
	if slices.Sort(seen.Colors); len(slices.Compact(seen.Colors)) != 5 {
		t.Errorf("five runs have the colors %q", seen.Colors)
	}
	if len(seen.Upper) != 5 || !slices.Equal(seen.Upper, seen.Legend) || !slices.Equal(seen.Upper[1:], seen.Lower) {
		t.Errorf("the legend has %q, the losses %q, the differences %q", seen.Legend, seen.Upper, seen.Lower)
	}
	p.quiet()
}

// TestSmallLosses: the labels of an axis are whole and written alike, and so is a column of losses.
func TestSmallLosses(t *testing.T) {
	ready(t)
	p := openPage(t, strict)
	p.figure("small losses", samples(t)["compare_small"])
	p.snapPage("charts-small")
	var seen struct {
		Cut, Ticks, Losses []string
		Left               []float64
	}
	p.eval("reading axes and table", `(() => {
		const plots = [...document.querySelectorAll('.ht-plot')], first = (e) => [...e.querySelectorAll('.ht-axes text')].filter((x) => x.getAttribute('dominant-baseline'));
		return {
			cut: plots.flatMap((q) => [...q.querySelectorAll('.ht-axes text')].filter((x) => x.getBoundingClientRect().left < q.querySelector('svg').getBoundingClientRect().left).map((x) => x.textContent)),
			ticks: first(plots[0]).map((x) => x.textContent), left: plots.map((q) => Number(q.querySelector('.ht-axis').getAttribute('x1'))),
			losses: [...document.querySelectorAll('.ht-table tbody tr')].flatMap((r) => [r.cells[1].textContent, r.cells[2].textContent, r.cells[5].textContent]),
		};
	})()`, &seen)
	if len(seen.Cut) > 0 || len(seen.Left) != 2 || seen.Left[0] != seen.Left[1] {
		t.Errorf("cut off: %q; the charts begin at %v", seen.Cut, seen.Left)
	}
	for what, texts := range map[string][]string{"ticks": seen.Ticks, "losses": seen.Losses} {
		if len(texts) < 2 || slices.ContainsFunc(texts, func(s string) bool { return !strings.Contains(s, "e−") }) {
			t.Errorf("%s are not written alike: %q", what, texts)
		}
	}
	// Labels that are wide whatever they are written like.
	p.figure("wide labels", samples(t)["compare_wide"])
	var ticks []string
	p.eval("reading the ticks", `[...document.querySelectorAll('.ht-axes text')].filter((x) => x.getAttribute('dominant-baseline')).map((x) => x.textContent)`, &ticks)
	if slices.Sort(ticks); len(ticks) < 3 || len(slices.Compact(slices.Clone(ticks))) != len(ticks) {
		t.Errorf("ticks %q, want several, and each once", ticks)
	}
	p.wait("they are whole", `[...document.querySelectorAll('.ht-axes text')].every((x) => x.getBoundingClientRect().left >= x.closest('svg').getBoundingClientRect().left)`)
	p.quiet()
}

// TestScaleCharts: both charts of a scale show the same steps, and no limit is drawn that the scaler does not have.
func TestScaleCharts(t *testing.T) {
	ready(t)
	p := openPage(t, strict)
	read := func(name string) (ends []float64, rules []string) {
		p.figure(name, samples(t)[name])
		p.snapPage("charts-" + name)
		p.eval("reading where the curves end", `[...document.querySelectorAll('.ht-line')].map((l) => l.getBBox()).flatMap((b) => [b.x, b.x + b.width])`, &ends)
		p.eval("reading the rules", `[...document.querySelectorAll('.ht-rule + text')].map((e) => e.textContent)`, &rules)
		return ends, rules
	}
	ends, rules := read("scale_grown")
	if len(ends) != 4 || math.Abs(ends[0]-ends[2]) > .5 || math.Abs(ends[1]-ends[3]) > .5 {
		t.Errorf("the curves reach from and to %v", ends)
	}
	if len(rules) > 0 {
		t.Errorf("limits %q of a scaler that has none", rules)
	}
	if _, rules = read("scale_floor"); len(rules) != 1 || rules[0] != "4,194,304, the floor that was set" {
		t.Errorf("of a scaler with a floor: %q", rules)
	}
	p.quiet()
}

// TestBitsFit: no column of the bits is out of sight, beside a file browser or in a narrow window.
func TestBitsFit(t *testing.T) {
	ready(t)
	p := openPage(t, strict)
	for _, width := range []int64{940, 700, 440} {
		p.pageTheme("light", width)
		p.figure("bits", samples(t)["bits_many"])
		p.snapPage(fmt.Sprint("bits-", width))
		var over []string
		p.eval("looking for what scrolls", `[...document.querySelectorAll('.ht-bits .ht-scroll')].filter((e) => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1).map((e) => e.scrollWidth + ' × ' + e.scrollHeight + ' > ' + e.clientWidth + ' × ' + e.clientHeight)`, &over)
		if len(over) > 0 {
			t.Errorf("in %d pixels tables scroll: %q", width, over)
		}
	}
	p.quiet()
}

// TestHeadlineSign: the sign of a headline is that of the precision that it names.
func TestHeadlineSign(t *testing.T) {
	ready(t)
	p := openPage(t, strict)
	for name, want := range map[string]string{"decisions": "▮", "decisions_full": "■"} {
		p.figure(name, samples(t)[name])
		var sign string
		p.eval("reading the sign", `document.querySelector('.ht-finding .ht-mark').textContent`, &sign)
		if sign != want {
			t.Errorf("%s begins with %q, want %q", name, sign, want)
		}
	}
	p.snapPage("headline-full")
	p.quiet()
}
