package browser

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestNarrowAndPrinted: a page made of a notebook fits on a window of 600 pixels and on a sheet of A4, where nothing can be tried any more; so do
// figures that the extension draws.
func TestNarrowAndPrinted(t *testing.T) {
	ready(t)
	_, html := gallery(t)
	p := newTab(t, suite.browser, "file://"+html)
	p.run("opening the page", chromedp.Navigate((&url.URL{Scheme: "file", Path: html}).String()))
	p.probe()
	p.gallery(len(galleryKinds))
	p.run("a narrow window", emulation.SetDeviceMetricsOverride(600, 900, 1, false))
	for i, kind := range galleryKinds {
		var wide []string
		p.eval("measuring what must not be cut", fmt.Sprintf(`visual.show(%d).then(() => { const f = visual.figures()[%[1]d], right = visual.output(f).getBoundingClientRect().right + 1.5;
			return [...f.querySelectorAll('img, div'), ...f.querySelectorAll('caption')].filter((e) => (e.matches('img') || !e.closest('table div, td') && e.children.length === 0 || e.matches('caption') && !e.querySelector('*')) && !e.closest('td') && (() => { const r = document.createRange(); r.selectNodeContents(e); return Math.max(r.getBoundingClientRect().right, e.matches('img') ? e.getBoundingClientRect().right : 0) > right; })()).map((e) => e.tagName + ' ' + e.textContent.slice(0, 50)); })`, i), &wide)
		if p.snapElement(fmt.Sprintf("narrow-%d-%s", i, kind), fmt.Sprintf(`visual.output(visual.figures()[%d])`, i)); len(wide) > 0 {
			t.Errorf("in 600 pixels a figure of %s has parts that are wider: %q", kind, wide)
		}
	}
	p.run("a sheet", emulation.SetDeviceMetricsOverride(718, 1000, 1, false), emulation.SetEmulatedMedia().WithMedia("print"))
	for i, kind := range galleryKinds {
		p.onPaper(kind, fmt.Sprintf(`visual.figures()[%d]`, i), fmt.Sprintf(`visual.output(visual.figures()[%d])`, i))
		p.snapElement(fmt.Sprintf("paper-%d-%s", i, kind), fmt.Sprintf(`visual.output(visual.figures()[%d])`, i))
	}
	var cut []string
	p.eval("looking at the code", `[...document.querySelectorAll('.highlight pre')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent.slice(0, 40))`, &cut)
	if len(cut) > 0 {
		t.Errorf("code that is cut off on paper: %q", cut)
	}
	p.quiet()
	t.Run("extension", func(t *testing.T) {
		p := openPage(t, strict)
		p.run("a sheet", emulation.SetDeviceMetricsOverride(718, 1000, 1, false), emulation.SetEmulatedMedia().WithMedia("print"))
		for _, name := range []string{"bits_many", "exponents", "decisions", "compare_ops", "policy", "live_done"} {
			p.figure(name, samples(t)[name])
			p.onPaper(name, `document.querySelector('.ht-card')`, `document.querySelector('main')`)
			p.snapPage("paper-extension-" + name)
		}
		p.quiet()
	})
}

// onPaper fails where a printed figure is wider than its place, or has what can only be used on a screen.
func (p *tab) onPaper(name, figure, place string) {
	p.t.Helper()
	var bad []string
	p.eval("looking at what is printed", `(async () => { await probe.frames(3); const f = `+figure+`, right = `+place+`.getBoundingClientRect().right + 1.5, seen = (e) => e.getClientRects().length > 0;
		const cut = [...f.querySelectorAll('table, img, svg')].filter((e) => seen(e) && e.getBoundingClientRect().right > right).map((e) => e.tagName + ' ' + Math.round(e.getBoundingClientRect().right - right) + ' too wide');
		const used = [...f.querySelectorAll('input, select, button:not(.ht-bit)')].filter(seen).map((e) => e.outerHTML.slice(0, 80));
		const hint = [...f.querySelectorAll('*')].filter((e) => !e.children.length && seen(e) && /Click a bit|Press a bit|Arrow keys/.test(e.textContent)).map((e) => e.textContent);
		return [...cut, ...used, ...hint]; })()`, &bad)
	if len(bad) > 0 {
		p.t.Errorf("%s on paper: %s", name, strings.Join(bad, "; "))
	}
}
