package browser

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// convert makes pages of notebooks with nbconvert, in one of its themes.
func convert(t *testing.T, dir, theme string, notebooks ...string) {
	t.Helper()
	args := append([]string{"-m", "nbconvert", "--to", "html", "--theme", theme, "--log-level", "ERROR", "--output-dir", dir}, notebooks...)
	if out, err := exec.CommandContext(t.Context(), filepath.Join(suite.lab.home, "venv", "bin", "python3"), args...).CombinedOutput(); err != nil {
		t.Fatalf("nbconvert: %v\n%s", err, out)
	}
}

// TestDarkPage walks over every kind of figure in a dark page of nbconvert. There is no ECharts in it, so that charts keep their pictures, whose
// light cards have to be turned over.
func TestDarkPage(t *testing.T) {
	ready(t)
	notebook, _ := gallery(t)
	figures := storedFigures(t, notebook)
	dir := t.TempDir()
	convert(t, dir, "dark", notebook)
	path := filepath.Join(dir, "gallery.html")
	p := newTab(t, suite.browser, "file://"+path)
	p.run("opening the page", chromedp.ActionFunc(network.SetBlockedURLs(offline).Do), chromedp.Navigate((&url.URL{Scheme: "file", Path: path}).String()))
	p.probe()
	p.gallery(len(figures))
	p.walk(t, "nbconvert-dark", figures, false)
	p.accessible(t, "nbconvert-dark", len(figures))
	p.turned(t)
	p.eval("choosing a theme", `document.body.dataset.jpThemeLight = 'true'`, nil)
	if share := p.light(`document.querySelector('.halftone-chart img')`); share < .5 {
		t.Errorf("on a light page %.0f %% of a picture are light", 100*share)
	}
}

// turned finds pictures of charts that are light on a dark page.
func (p *tab) turned(t *testing.T) {
	t.Helper()
	defer p.in(t)()
	var n int
	p.eval("counting pictures", `document.querySelectorAll('.halftone-chart img').length`, &n)
	if n < 4 { // of the scale, the comparison, the op table and the live figure
		t.Errorf("%d pictures of charts", n)
	}
	for i := range n {
		img := fmt.Sprintf(`document.querySelectorAll('.halftone-chart img')[%d]`, i)
		if share := p.light(img); share > .1 {
			var alt string
			p.eval("reading", img+`.alt`, &alt)
			t.Errorf("%.0f %% of a picture are light on a dark page: %s", 100*share, alt)
		}
	}
}

// light is the share of an element's pixels, as they are seen, that are lighter than four fifths of white.
func (p *tab) light(element string) float64 {
	p.t.Helper()
	p.eval("showing it", `(() => { `+element+`.scrollIntoView({ block: 'center' }); return true; })()`, nil)
	at := p.place(element)
	var scrolled float64
	p.eval("measuring", `scrollY`, &scrolled)
	var shot []byte
	p.run("taking its picture", chromedp.ActionFunc(func(ctx context.Context) (err error) {
		shot, err = page.CaptureScreenshot().WithClip(&page.Viewport{X: at.X, Y: at.Y + scrolled, Width: at.Width, Height: at.Height, Scale: 1}).Do(ctx)
		return err
	}))
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		p.t.Fatal(err)
	}
	light, all := 0, img.Bounds().Dx()*img.Bounds().Dy()
	for i := range all {
		r, g, b, _ := img.At(i%img.Bounds().Dx(), i/img.Bounds().Dx()).RGBA()
		if r+g+b > 3*0xffff/5*4 {
			light++
		}
	}
	return float64(light) / float64(max(all, 1))
}
