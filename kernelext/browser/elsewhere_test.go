package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestVSCode shows the stored HTML of every kind of figure under VS Code's conditions, as far as they can be had without it: see
// testdata/vscode.html. Nothing is lost in either theme, and the scripts that need no library find their figure, though they run elsewhere in
// the page than where they stood. (In a workspace that is not trusted VS Code shows the PNG: it renders no HTML there.)
func TestVSCode(t *testing.T) {
	ready(t)
	notebook, _ := gallery(t)
	figures := storedFigures(t, notebook)
	var outputs []string
	for _, f := range figures {
		outputs = append(outputs, f.HTML)
	}
	p := openOutputs(t, "vscode", outputs)
	for _, theme := range []string{"light", "dark"} {
		p.eval("choosing a theme", fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme), nil)
		p.gallery(len(figures))
		p.walk(t, "vscode-"+theme, figures, false)
	}
	for i, what := range map[int]string{0: ".halftone-controls select", 2: ".halftone-whatif input[type=range]", 4: ".halftone-type input", 6: ".halftone-search input"} {
		p.wait("the script of the "+galleryKinds[i]+" works", fmt.Sprintf(`visual.figures()[%d].parentElement.querySelectorAll(%q).length === 1`, i, what))
	}
	p.wait("charts keep their picture where no library is to be had", `[1, 3].every((i) => visual.figures()[i].querySelector('.halftone-chart img'))`)
	p.quiet()
}

// TestSanitized shows what is left of every kind of figure where a viewer takes out all that could run, as GitHub does, and all that could restyle
// the page besides: every word and number of the static face, and every picture. (What GitHub takes out exactly was not checked.)
func TestSanitized(t *testing.T) {
	ready(t)
	notebook, _ := gallery(t)
	figures := storedFigures(t, notebook)
	for _, c := range []struct {
		name  string
		clean func(html string) string
	}{
		{"script", func(s string) string { return s }},
		{"style", func(s string) string { return styles.ReplaceAllString(s, "") }}, // and the looks with it: what is said stays
	} {
		t.Run(c.name, func(t *testing.T) {
			var outputs []string
			for _, f := range figures {
				outputs = append(outputs, c.clean(f.Static))
			}
			p := openOutputs(t, "sanitized-"+c.name, outputs)
			p.probe()
			p.eval("choosing a theme", `document.documentElement.dataset.theme = 'light'`, nil)
			p.gallery(len(figures))
			for i, f := range figures {
				var said string
				p.eval("reading", fmt.Sprintf(`visual.show(%d).then(() => visual.figures()[%[1]d].innerText)`, i), &said)
				var left, want string
				p.eval("reading", fmt.Sprintf(`probe.stored(visual.figures()[%d].outerHTML)`, i), &left)
				p.eval("reading", fmt.Sprintf(`probe.stored(%s)`, mustJSON(f.Static)), &want)
				if left != want || !strings.Contains(strings.Join(strings.Fields(said), " "), strings.Join(strings.Fields(f.Data.Title), " ")) {
					t.Errorf("%s: of %d characters %d are left: %.300q", f.Data.Kind, len(want), len(left), said)
				}
				p.wait("pictures are drawn", fmt.Sprintf(`[...visual.figures()[%d].querySelectorAll('img')].every((m) => m.naturalWidth > 0 && /\d/.test(m.alt))`, i))
				p.snapElement(fmt.Sprintf("sanitized-%s-%d-%s", c.name, i, f.Data.Kind), fmt.Sprintf(`visual.output(visual.figures()[%d])`, i))
			}
			p.quiet()
		})
	}
}

// styles are the style attributes of elements.
var styles = regexp.MustCompile(` style="[^"]*"`)

// openOutputs opens a page with outputs as VS Code lays them out.
func openOutputs(t *testing.T, name string, outputs []string) *tab {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("testdata", "vscode.html"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(suite.lab.dir, name+".html")
	if err := os.WriteFile(path, bytes.Replace(page, []byte("OUTPUTS"), mustJSON(outputs), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newTab(t, suite.browser, "file://"+path)
	p.run("opening the page", chromedp.Navigate((&url.URL{Scheme: "file", Path: path}).String()))
	p.probe()
	return p
}

// mustJSON is a value in JSON that is safe in a script element: < is escaped.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
