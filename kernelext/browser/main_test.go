package browser

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var (
	screenshots = flag.String("screenshots", "", "also save what the tests look at to this folder")
	picture     = flag.String("picture", "", "draw the picture of the README to this file, from the saved tutorial")
)

// suite is what all tests share: one JupyterLab, one Chromium.
var suite struct {
	skip    error // why there is nothing to test with
	err     error // why setting up failed
	lab     *lab
	browser context.Context
	figures string                     // an executed notebook with the figures that a training loop ends with
	gallery string                     // an executed notebook with every kind of figure
	samples map[string]json.RawMessage // see the function of that name
}

func TestMain(m *testing.M) {
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	stop := setUp(ctx)
	done := make(chan int, 1)
	go func() { done <- m.Run() }()
	code := 1
	select {
	case code = <-done:
	case <-ctx.Done(): // what was started is ended below
	}
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL: after the tests:", err)
		code = 1
	}
	cancel()
	os.Exit(code)
}

// setUp starts everything and returns what ends it.
func setUp(ctx context.Context) (stop func() error) {
	var stops []func() error
	stop = func() error {
		var errs []error
		for i := len(stops) - 1; i >= 0; i-- {
			errs = append(errs, stops[i]())
		}
		return errors.Join(errs...)
	}
	path, err := findChromium()
	if err != nil {
		if suite.skip = err; !errors.Is(err, errNoBrowser) {
			suite.skip, suite.err = nil, err
		}
		return stop
	}
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	stops = append(stops, func() error { cancel(); return nil })
	l, err := newLab(ctx)
	if l != nil {
		suite.lab = l
		stops = append(stops, l.stop)
	}
	if err == nil {
		err = l.start(ctx)
	}
	if err == nil {
		var stopBrowser context.CancelFunc
		if suite.browser, stopBrowser, err = startChromium(context.Background(), path, l.dir); err == nil {
			stops = append(stops, func() error { stopBrowser(); return nil })
		}
	}
	suite.err = err
	return stop
}

// ready skips or fails a test for which there is nothing to test with.
func ready(t *testing.T) {
	t.Helper()
	if suite.skip != nil {
		t.Skip(suite.skip)
	}
	if suite.err != nil {
		t.Fatal(suite.err)
	}
}

// executed returns an executed notebook with every kind of figure, made once.
func executed(t *testing.T) string {
	t.Helper()
	if suite.figures == "" {
		source, out := filepath.Join(suite.lab.dir, "figures.ipynb"), filepath.Join(suite.lab.dir, "executed.ipynb")
		writeNotebook(t, source, figuresNotebook)
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
		defer cancel()
		if err := suite.lab.halftone(ctx, "run", "--output", out, source); err != nil {
			t.Fatal(err)
		}
		suite.figures = out
	}
	return suite.figures
}

// open serves a copy of a notebook under a name and opens it in a page of its own.
func open(t *testing.T, notebook, name string, trusted bool) *tab {
	t.Helper()
	return openWith(t, notebook, name, trusted, false)
}

// openHTML is open without our extension's drawings: JupyterLab shows the figures' HTML, as front ends do that have no extension.
func openHTML(t *testing.T, notebook, name string, trusted bool) *tab {
	t.Helper()
	return openWith(t, notebook, name, trusted, true)
}

func openWith(t *testing.T, notebook, name string, trusted, html bool) *tab {
	t.Helper()
	p := newTab(t, suite.browser, suite.lab.url)
	p.html = html
	p.serve(notebook, name, trusted)
	p.load(name)
	t.Cleanup(func() { // a kernel for each page that was ever open would slow down what follows
		_ = p.tryEval(`window.jupyterapp.serviceManager.sessions.shutdownAll().then(() => true)`, nil)
	})
	p.wait(fmt.Sprintf("JupyterLab trusts the notebook: %v", trusted), fmt.Sprintf(`probe.trusted() === %v`, trusted))
	return p
}

// serve copies a notebook to where JupyterLab finds it. Signatures are of the content, so every copy gets content of its own.
func (p *tab) serve(notebook, name string, trusted bool) {
	p.t.Helper()
	b, err := os.ReadFile(notebook)
	if err != nil {
		p.t.Fatal(err)
	}
	var nb map[string]any
	if err := json.Unmarshal(b, &nb); err != nil {
		p.t.Fatalf("%s: %v", notebook, err)
	}
	nb["metadata"].(map[string]any)["copy"] = p.t.Name()
	if p.html {
		withoutData(nb)
	}
	if b, err = json.Marshal(nb); err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(suite.lab.root, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		p.t.Fatal(err)
	}
	if trusted {
		if err := suite.lab.trust(p.t.Context(), path); err != nil {
			p.t.Fatal(err)
		}
	}
}

// withoutData takes the figures' JSON out of a notebook.
func withoutData(nb map[string]any) {
	cells, _ := nb["cells"].([]any)
	for _, c := range cells {
		outputs, _ := c.(map[string]any)["outputs"].([]any)
		for _, o := range outputs {
			if data, ok := o.(map[string]any)["data"].(map[string]any); ok {
				delete(data, figureMIME)
			}
		}
	}
}

// load opens a served notebook and waits until JupyterLab shows it.
func (p *tab) load(name string) {
	p.t.Helper()
	u := *p.base
	u.Path = strings.TrimSuffix(u.Path, "/lab") + "/lab/workspaces/" + url.PathEscape(strings.TrimSuffix(name, ".ipynb")) + "/tree/" + url.PathEscape(name)
	p.run("opening "+name, chromedp.Navigate(u.String()))
	p.wait("JupyterLab is there", `window.jupyterapp && window.jupyterapp.restored`)
	p.probe()
	p.wait(name+" is open", `probe.ready()`)
	p.theme("Light") // JupyterLab remembers what another test has chosen
}

// theme switches JupyterLab's theme.
func (p *tab) theme(name string) {
	p.t.Helper()
	p.eval("switching to the "+name+" theme", `probe.theme("JupyterLab `+name+`").then(() => true)`, nil)
	p.wait("the theme is "+name, fmt.Sprintf(`probe.isTheme(%v)`, name == "Light"))
	p.eval("painting", `probe.frames(5).then(() => true)`, nil)
}

// snap saves what the page shows, when asked to. It never fails a test.
func (p *tab) snap(name string) {
	p.save(name, func(ctx context.Context) ([]byte, error) { return page.CaptureScreenshot().Do(ctx) })
}

// snapFigure saves a figure's output, in a window high enough for all of it.
func (p *tab) snapFigure(name string, i int) {
	if *screenshots == "" {
		return
	}
	output := fmt.Sprintf(`probe.outputs()[%d].closest('.jp-OutputArea-output')`, i)
	at := p.place(output)
	p.run("a higher window", emulation.SetDeviceMetricsOverride(1280, max(900, int64(at.Height)+200), 1, false))
	p.eval("showing a figure", fmt.Sprintf(`probe.show(%d)`, i), nil)
	at = p.place(output)
	p.save(name, func(ctx context.Context) ([]byte, error) {
		return page.CaptureScreenshot().WithClip(&page.Viewport{X: at.X, Y: at.Y, Width: at.Width, Height: at.Height, Scale: 1}).Do(ctx)
	})
	p.run("the usual window", emulation.SetDeviceMetricsOverride(1280, 900, 1, false))
}

// save writes a screenshot to the folder for them. It never fails a test.
func (p *tab) save(name string, take func(context.Context) ([]byte, error)) {
	if *screenshots == "" {
		return
	}
	err := chromedp.Run(p.ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		b, err := take(ctx)
		if err == nil {
			err = os.MkdirAll(*screenshots, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(*screenshots, name+".png"), b, 0o644)
		}
		return err
	}))
	if err != nil {
		p.t.Logf("no screenshot %s: %v", name, err)
	}
}
