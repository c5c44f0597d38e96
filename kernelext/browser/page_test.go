package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// strict is a content policy that allows a page nothing but files of its own server: no inline script or style, no eval, no image
// from data.
const strict = "default-src 'self'; base-uri 'none'; form-action 'none'; object-src 'none'"

// openPage opens a page that has nothing but the extension, under a content policy.
func openPage(t *testing.T, policy string) *tab {
	t.Helper()
	checkout, err := checkoutDir()
	if err != nil {
		t.Fatal(err)
	}
	entry, err := filepath.Glob(filepath.Join(checkout, "kernelext", "labextension", "dist", "static", "remoteEntry.*.js"))
	if err != nil || len(entry) != 1 {
		t.Fatalf("the extension's script: %q, %v", entry, err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		switch name := strings.TrimPrefix(r.URL.Path, "/"); name {
		case "remoteEntry.js":
			http.ServeFile(w, r, entry[0])
		case "page.html", "page.js", "page.css":
			http.ServeFile(w, r, filepath.Join("testdata", name))
		case "favicon.ico":
			w.WriteHeader(http.StatusNoContent)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	p := newTab(t, suite.browser, server.URL)
	p.run("opening the page", chromedp.Navigate(server.URL+"/page.html"))
	p.wait("the extension is there", `window.page && window._JUPYTERLAB['@halftone/figures']`)
	p.probe()
	return p
}

// samples are figures of every kind and state, as package render's tests make them: name to JSON. They are made once.
func samples(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	if suite.samples != nil {
		return suite.samples
	}
	checkout, err := checkoutDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-run=^TestPreview$", "./widgets/render")
	cmd.Dir, cmd.Env = checkout, append(os.Environ(), "HALFTONE_PREVIEW="+dir, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("making figures: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) < 15 {
		t.Fatalf("%d figures, %v", len(files), err)
	}
	all := map[string]json.RawMessage{}
	for _, f := range files {
		if all[strings.TrimSuffix(filepath.Base(f), ".json")], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	suite.samples = all
	return all
}

// figure shows a figure, alone on the page, and waits until it is laid out.
func (p *tab) figure(name string, raw json.RawMessage) {
	p.t.Helper()
	p.eval("drawing "+name, fmt.Sprintf(`(async () => { page.clear(); await page.figure(%s); await probe.frames(4); document.querySelectorAll('details').forEach((d) => { d.open = true; }); await probe.frames(2); return true; })()`, raw), nil)
}

func (p *tab) pageTheme(theme string, width int64) {
	p.t.Helper()
	p.run("a window", emulation.SetDeviceMetricsOverride(width, 1200, 1, false))
	p.eval("the theme", fmt.Sprintf(`document.body.dataset.jpThemeLight = '%v'; true`, theme == "light"), nil)
}

// Under a strict content policy every kind and state of a figure is drawn whole and readable, in both themes, on a wide page and
// one of 400 pixels, and axe-core finds nothing against its accessibility.
func TestStrictPage(t *testing.T) {
	ready(t)
	axe := axeSource(t)
	p := openPage(t, strict)
	if axe != "" {
		p.eval("loading axe-core", axe+"; true", nil) // through the debugger, which no policy binds
	}
	all := samples(t)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, view := range []struct {
		theme string
		width int64
	}{{"light", 1100}, {"dark", 1100}, {"light", 400}} {
		t.Run(fmt.Sprint(view.theme, "-", view.width), func(t *testing.T) {
			defer p.in(t)()
			p.pageTheme(view.theme, view.width)
			for _, name := range names {
				p.figure(name, all[name])
				p.snapPage(fmt.Sprintf("page-%s-%s-%d", name, view.theme, view.width))
				p.checkPage(name, view.width)
				if axe != "" && view.width > 1000 {
					p.checkAxe(name, "main")
				}
			}
		})
	}
	p.quiet()
	if axe == "" {
		t.Skip("axe-core is not there: " + axeMissing)
	}
}

// checkPage fails where the figure on the page can't be read.
func (p *tab) checkPage(name string, width int64) {
	p.t.Helper()
	var m measured
	p.eval("measuring "+name, `probe.look(document.querySelector('.ht-card'), document.querySelector('main'))`, &m)
	if width < 1000 { // tables scroll on a narrow page; text beside them must not be cut
		m.Clipped = nil
		var over bool
		p.eval("the page's width", `document.documentElement.scrollWidth > innerWidth + 1`, &over)
		if over {
			p.t.Errorf("%s: the page is wider than its window of %d pixels", name, width)
		}
	}
	if len(m.Hidden)+len(m.Faint) > 0 || m.Text == "" || strings.Contains(m.Text, "could not be drawn") || strings.Contains(m.Text, "not drawn by this version") {
		p.t.Errorf("%s: hidden %q, too little contrast %q, text %.200q", name, m.Hidden, m.Faint, m.Text)
	}
	if bad := slices.DeleteFunc(m.Clipped, func(s string) bool { return strings.HasPrefix(s, "<div> ") || strings.HasPrefix(s, "<pre> ") }); len(bad) > 0 && width > 1000 {
		p.t.Errorf("%s: cut off: %q", name, bad)
	}
	if m.Scripts > 0 || m.Controls < 3 {
		p.t.Errorf("%s: %d scripts, %d controls", name, m.Scripts, m.Controls)
	}
}

// checkAxe runs axe-core over a part of the page.
func (p *tab) checkAxe(name, part string) {
	p.t.Helper()
	var found []struct {
		ID, Help string
		Nodes    []struct{ HTML, Summary string }
	}
	p.eval("looking at "+name+" with axe-core", fmt.Sprintf(`axe.run(%q, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => ({ id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map((n) => ({ html: n.html.slice(0, 200), summary: n.failureSummary })) })))`, part), &found)
	for _, v := range found {
		p.t.Errorf("%s: axe-core: %s (%s): %+v", name, v.Help, v.ID, v.Nodes)
	}
}

// snapPage saves all of the page, when asked to.
func (p *tab) snapPage(name string) {
	p.save(name, func(ctx context.Context) ([]byte, error) {
		return page.CaptureScreenshot().WithCaptureBeyondViewport(true).Do(ctx)
	})
}

var axeMissing string

// axeSource returns axe-core's script, as the extension's lock file pins it: installed once, below .halftone. It is empty where that
// can't be done, with the reason in axeMissing.
func axeSource(t *testing.T) string {
	t.Helper()
	checkout, err := checkoutDir()
	if err != nil {
		t.Fatal(err)
	}
	from, dir := filepath.Join(checkout, "kernelext", "labextension"), filepath.Join(checkout, ".halftone", "axe")
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	b, err := os.ReadFile(filepath.Join(from, "package-lock.json"))
	if err == nil {
		err = json.Unmarshal(b, &lock)
	}
	if err != nil {
		t.Fatal(err)
	}
	pin := lock.Packages["node_modules/axe-core"]
	script := filepath.Join(dir, pin.Version, "node_modules", "axe-core", "axe.min.js")
	if b, err := os.ReadFile(script); err == nil {
		return string(b)
	}
	if _, err := exec.LookPath("npm"); err != nil {
		axeMissing = "npm, which installs it, is not in PATH; Node 20 or newer brings it"
		return ""
	}
	// A project of its own that pins this one package with the same checksum.
	at := filepath.Join(dir, pin.Version)
	own := map[string]any{"name": "axe", "lockfileVersion": 3, "packages": map[string]any{
		"": map[string]any{"name": "axe", "devDependencies": map[string]string{"axe-core": pin.Version}}, "node_modules/axe-core": map[string]any{"version": pin.Version, "integrity": pin.Integrity, "dev": true},
	}}
	project := map[string]any{"name": "axe", "private": true, "devDependencies": map[string]string{"axe-core": pin.Version}}
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"package.json": project, "package-lock.json": own} {
		b, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(at, name), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = at
	if out, err := cmd.CombinedOutput(); err != nil {
		if regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ECONNABORTED|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|code E(?:429|5\d\d)|socket hang up`).Match(out) {
			axeMissing = "the package registry cannot be reached"
			return ""
		}
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	b, err = os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
