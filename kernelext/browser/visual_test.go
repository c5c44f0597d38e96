package browser

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

//go:embed visual.js
var visualJS string

// A seen figure is what visual.look measures.
type seen struct {
	Text, Texts, Scripted                       int
	Outside, Cut, Wide, Overlaps, Faint, Hidden []string
	Images                                      []struct {
		Alt   string
		Drawn bool
	}
}

// TestVisual walks over every kind of figure in every way in which people see it: in JupyterLab light and dark, in a notebook that
// JupyterLab does not trust, drawn by the extension, as a page of nbconvert, and as that page on a phone. Nothing leaves a figure,
// no text is cut off, lies on another or is faint, every picture has words with a number, nothing is asked of the network, and nothing
// is said on the console. With -screenshots every figure is saved as visual-MODE-N-KIND.png, for eyes.
func TestVisual(t *testing.T) {
	ready(t)
	notebook, html := gallery(t)
	figures := storedFigures(t, notebook)
	if len(figures) != len(galleryKinds) {
		t.Fatalf("%d figures in the gallery, want %d", len(figures), len(galleryKinds))
	}
	for i, f := range figures {
		if f.Data.Kind != galleryKinds[i] {
			t.Fatalf("figure %d is of kind %s, want %s", i, f.Data.Kind, galleryKinds[i])
		}
		if !number.MatchString(f.Data.Alt) {
			t.Errorf("%s: the alternative text has no number: %q", f.Data.Kind, f.Data.Alt)
		}
	}
	t.Run("html", func(t *testing.T) {
		p := openHTML(t, notebook, "gallery.ipynb", true)
		p.gallery(len(figures))
		p.wait("charts are interactive", `[1, 3].every((i) => visual.figures()[i].querySelector('.halftone-chart svg'))`)
		for _, theme := range []string{"Light", "Dark"} {
			p.theme(theme)
			p.walk(t, strings.ToLower(theme), figures, false)
			p.accessible(t, strings.ToLower(theme), len(figures))
		}
		t.Run("bits", func(t *testing.T) { defer p.in(t)(); p.tryBits(t, slices.Index(galleryKinds, "bits")) })
		t.Run("policy", func(t *testing.T) { defer p.in(t)(); p.tryPolicy(t, slices.Index(galleryKinds, "policy")) })
		p.quiet()
	})
	t.Run("untrusted", func(t *testing.T) {
		p := openHTML(t, notebook, "gallery-untrusted.ipynb", false)
		p.gallery(len(figures))
		p.walk(t, "untrusted", figures, false)
		p.accessible(t, "untrusted", len(figures))
		p.theme("Dark")
		p.walk(t, "untrusted-dark", figures, false)
		p.quiet()
	})
	t.Run("nbconvert", func(t *testing.T) {
		p := newTab(t, suite.browser, "file://"+html)
		p.run("opening the page", chromedp.Navigate((&url.URL{Scheme: "file", Path: html}).String()))
		p.probe()
		p.gallery(len(figures))
		p.walk(t, "nbconvert", figures, false)
		p.accessible(t, "nbconvert", len(figures))
		p.run("a phone's width", emulation.SetDeviceMetricsOverride(400, 900, 1, false))
		p.walk(t, "400px", figures, true)
		p.quiet()
	})
}

// number is a digit, or a word for none.
var number = regexp.MustCompile(`\d`)

// accessible looks at all figures of the page with axe-core, where that is to be had.
func (p *tab) accessible(t *testing.T, mode string, n int) {
	t.Helper()
	axe := axeSource(t)
	if axe == "" {
		t.Logf("%s: axe-core is not there: %s", mode, axeMissing)
		return
	}
	defer p.in(t)()
	p.eval("loading axe-core", axe+"; true", nil)
	for i := range n {
		p.eval("showing a figure", fmt.Sprintf(`visual.show(%d).then(() => { visual.figures()[%[1]d].setAttribute('data-axe', %[1]d); return true; })`, i), nil)
		p.checkAxe(fmt.Sprintf("%s: figure %d, %s", mode, i, galleryKinds[i]), fmt.Sprintf("[data-axe='%d']", i))
	}
}

// gallery brings the measures into the page and waits for the figures.
func (p *tab) gallery(n int) {
	p.t.Helper()
	p.eval("preparing the walk", visualJS, nil)
	p.wait("all figures are there", fmt.Sprintf(`visual.figures().length === %d`, n))
}

// walk looks at every figure in the page as it is now. A narrow one may scroll within itself.
func (p *tab) walk(t *testing.T, mode string, figures []figure, narrow bool) {
	t.Helper()
	for i := range figures {
		kind := figures[i].Data.Kind
		t.Run(fmt.Sprintf("%s-%d-%s", mode, i, kind), func(t *testing.T) {
			defer p.in(t)()
			p.eval("showing a figure", fmt.Sprintf(`visual.show(%d)`, i), nil)
			var s seen
			p.eval("looking at a figure", fmt.Sprintf(`visual.look(%d)`, i), &s)
			p.snapElement(fmt.Sprintf("visual-%s-%d-%s", mode, i, kind), fmt.Sprintf(`visual.output(visual.figures()[%d])`, i))
			lists := map[string][]string{"outside of its output": s.Outside, "cut off": s.Cut, "on each other": s.Overlaps, "too faint": s.Faint, "not visible": s.Hidden}
			if !narrow {
				lists["wider than its place"] = s.Wide
			}
			for what, list := range lists {
				if len(list) > 0 {
					t.Errorf("%s: %s", what, strings.Join(list, "; "))
				}
			}
			if s.Texts < 3 || s.Text < 20 {
				t.Errorf("it says next to nothing: %+v", s)
			}
			for _, m := range s.Images {
				if !m.Drawn || !number.MatchString(m.Alt) {
					t.Errorf("an image that is not drawn, or whose words have no number: %+v", m)
				}
			}
			if trusted := mode == "light" || mode == "dark" || mode == "400px" || strings.HasPrefix(mode, "nbconvert") || strings.HasPrefix(mode, "vscode"); !trusted && s.Scripted > 0 {
				t.Errorf("%d parts that only a script makes, in a notebook that is not trusted", s.Scripted)
			}
		})
	}
}

// snapElement saves what an element shows, in a window high enough for all of it.
func (p *tab) snapElement(name, element string) {
	if *screenshots == "" {
		return
	}
	var at struct{ X, Y, Width, Height, Window float64 }
	p.eval("measuring", `(() => { const r = `+element+`.getBoundingClientRect(); return { X: r.x, Y: r.y, Width: r.width, Height: r.height, Window: innerWidth }; })()`, &at)
	p.run("a higher window", emulation.SetDeviceMetricsOverride(int64(at.Window), max(900, int64(at.Height)+200), 1, false))
	// JupyterLab lays itself out again when it notices.
	p.wait("the page is as high as its window", `!window.jupyterapp || jupyterapp.shell.node.getBoundingClientRect().height >= innerHeight - 1`)
	p.eval("showing all of it", `(() => { `+element+`.scrollIntoView({ block: 'center' }); return true; })()`, nil)
	place := p.place(element)
	var scrolled float64
	p.eval("measuring", `scrollY`, &scrolled)
	p.save(name, func(ctx context.Context) ([]byte, error) {
		return page.CaptureScreenshot().WithClip(&page.Viewport{X: place.X, Y: place.Y + scrolled, Width: place.Width, Height: place.Height, Scale: 1}).Do(ctx)
	})
	p.run("the usual window", emulation.SetDeviceMetricsOverride(int64(at.Window), 900, 1, false))
}
