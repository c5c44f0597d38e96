package browser

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// offline are addresses that a page asks in vain for: nbconvert's own template loads libraries from there, which no figure needs.
var offline = []string{"http://*", "https://*"}

// TestTutorialPages opens every saved tutorial as a page that nbconvert makes of it, without a network. Every figure is there, drawn and
// readable, and the text is not wider than the page.
func TestTutorialPages(t *testing.T) {
	ready(t)
	root, err := checkoutDir()
	if err != nil {
		t.Fatal(err)
	}
	notebooks, err := filepath.Glob(filepath.Join(root, "notebooks", "*.ipynb"))
	if err != nil || len(notebooks) == 0 {
		t.Fatalf("no tutorials: %v", err)
	}
	dir := t.TempDir()
	convert(t, dir, "light", notebooks...)
	for _, notebook := range notebooks {
		name := strings.TrimSuffix(filepath.Base(notebook), ".ipynb")
		t.Run(name, func(t *testing.T) {
			figures := storedFigures(t, notebook)
			path := filepath.Join(dir, name+".html")
			p := newTab(t, suite.browser, "file://"+path)
			p.run("opening the page", chromedp.ActionFunc(network.SetBlockedURLs(offline).Do),
				chromedp.Navigate((&url.URL{Scheme: "file", Path: path}).String()))
			p.probe()
			p.eval("preparing the walk", visualJS, nil)
			var there int
			p.eval("counting figures", `visual.figures().filter((f) => !f.matches('.halftone-answer')).length`, &there)
			if there != len(figures) {
				t.Fatalf("%d figures on the page, %d in the notebook", there, len(figures))
			}
			p.walk(t, "nbconvert", figures, false)
			var over []string
			p.eval("looking for text that is too wide", `[...document.querySelectorAll('.jp-RenderedMarkdown > *')].filter((e) => e.scrollWidth > e.clientWidth + 1 && !e.matches('pre, table')).map((e) => e.textContent.slice(0, 60))`, &over)
			if len(over) > 0 {
				t.Errorf("text that is wider than the page: %q", over)
			}
		})
	}
}
