package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// errNoBrowser is why tests are skipped where there is no Chromium.
var errNoBrowser = errors.New("no browser: none of $CHROME, chromium, chromium-browser and google-chrome is there; on Debian and Ubuntu `apt-get install chromium` brings one")

func findChromium() (string, error) {
	if path := os.Getenv("CHROME"); path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("$CHROME is set to what cannot be run: %w", err)
		}
		return found, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
}

// startChromium starts a browser that asks nobody for anything: no updates, no sync, no translation, and no name but our
// own server's resolves. It ends with ctx, and with this process.
func startChromium(ctx context.Context, path, dir string) (context.Context, context.CancelFunc, error) {
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(dir, "chromium")), chromedp.WindowSize(1280, 900),
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.WSURLReadTimeout(3 * time.Minute),
	}
	for name, value := range map[string]any{
		"disable-gpu": true, "disable-quic": true, "disable-background-networking": true, "disable-component-update": true,
		"disable-sync": true, "disable-default-apps": true, "disable-extensions": true, "disable-domain-reliability": true,
		"disable-client-side-phishing-detection": true, "disable-breakpad": true, "disable-dev-shm-usage": true,
		"disable-features":       "Translate,OptimizationHints,MediaRouter,InterestFeedContentSuggestions",
		"metrics-recording-only": true, "no-pings": true, "mute-audio": true, "password-store": "basic", "use-mock-keychain": true,
		"host-resolver-rules": "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "force-color-profile": "srgb", "lang": "en-US",
		"hide-scrollbars": false, "no-sandbox": os.Geteuid() == 0,
	} {
		options = append(options, chromedp.Flag(name, value))
	}
	alloc, stopAlloc := chromedp.NewExecAllocator(ctx, options...)
	// Protocol messages newer than the driver are not ours to judge.
	browser, stopBrowser := chromedp.NewContext(alloc, chromedp.WithErrorf(func(string, ...any) {}))
	stop := func() {
		_ = chromedp.Cancel(browser) // waits until it has ended
		stopBrowser()
		stopAlloc()
	}
	if err := chromedp.Run(browser); err != nil {
		stop()
		return nil, nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return browser, stop, nil
}

// A tab is a page with a profile of its own, and everything that went wrong in it.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base *url.URL // the only server it may talk to
	html bool     // notebooks are served without the figures' JSON

	mu       sync.Mutex
	problems []string // errors on its console, uncaught exceptions
	foreign  []string // requests to anywhere else
}

// tabTime is how long all that a test does with a page may take: a step that hangs fails then.
const tabTime = 8 * time.Minute

// newTab opens an empty page of 1280 × 900 that is closed with the test.
func newTab(t *testing.T, browser context.Context, server string) *tab {
	t.Helper()
	base, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var id target.ID
	if err := chromedp.Run(browser, chromedp.ActionFunc(func(ctx context.Context) error {
		ctx = cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser)
		profile, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(ctx)
		if err != nil {
			return err
		}
		// A new profile has no window that a tab could open in.
		id, err = target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).Do(ctx)
		return err
	})); err != nil {
		t.Fatalf("opening a window: %v", err)
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithTargetID(id))
	t.Cleanup(cancel)
	ctx, cancelTime := context.WithTimeout(ctx, tabTime)
	t.Cleanup(cancelTime)
	p := &tab{t: t, ctx: ctx, base: base}
	t.Cleanup(func() {
		if t.Failed() && suite.lab != nil { // an error of the server's is a number on the page's console
			t.Logf("the end of JupyterLab's log:\n%s", suite.lab.log)
		}
	})
	chromedp.ListenTarget(ctx, p.event)
	p.run("opening a tab", network.Enable(), emulation.SetDeviceMetricsOverride(1280, 900, 1, false))
	return p
}

// event notes what must not happen.
func (p *tab) event(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		p.problems = append(p.problems, "uncaught: "+text)
	case *runtime.EventConsoleAPICalled:
		if e.Type != runtime.APITypeError && e.Type != runtime.APITypeAssert {
			return
		}
		var words []string
		for _, a := range e.Args {
			if len(a.Value) > 0 {
				words = append(words, string(a.Value))
			} else {
				words = append(words, a.Description)
			}
		}
		p.problems = append(p.problems, "console: "+strings.Join(words, " "))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError {
			p.problems = append(p.problems, strings.TrimSpace(fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, p.path(e.Entry.URL))))
		}
	case *network.EventRequestWillBeSent:
		p.request(e.Request.URL)
	case *network.EventWebSocketCreated:
		p.request(e.URL)
	}
}

// request notes a request to anything but our server.
func (p *tab) request(to string) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "data" && u.Scheme != "blob" && u.Host != p.base.Host {
		p.foreign = append(p.foreign, to)
	}
}

// path is an address without server and query, which differ from run to run.
func (p *tab) path(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Path
	}
	return address
}

// noise is what JupyterLab itself writes to the console, word for word; anything else is ours.
var noise = []string{}

// canceled is what JupyterLab writes of its own questions that a restart of the kernel overtakes; whether one is under way then is chance.
var canceled = regexp.MustCompile(`^console: Error: Canceled future for (inspect|complete|comm_info|kernel_info|history)_request message before replies were done`)

// A kernel that is starting has no time of its last activity yet, and Jupyter Server (2.21) answers with an error when it is asked for the list of
// kernels at that moment: the second line in its log, and the first on the page. JupyterLab asks again.
const (
	listError = "network: Failed to load resource: the server responded with a status of 500 (Internal Server Error) /api/kernels"
	listCause = "The 'last_activity' trait of a ServerKernelManager instance expected a datetime, not the NoneType None"
)

// ofTheServer says whether a problem is that one, by what the server says of it.
func ofTheServer(problem, log string) bool {
	return problem == listError && strings.Contains(log, listCause)
}

// quiet fails the test if anything went wrong in the page so far, except for what is expected.
func (p *tab) quiet(expected ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[string]int{}
	for _, problem := range p.problems {
		seen[problem]++
	}
	for _, e := range expected {
		if seen[e] == 0 {
			p.t.Errorf("expected on the console and not there: %s", e)
		}
		delete(seen, e)
	}
	for _, n := range noise {
		delete(seen, n)
	}
	for problem, n := range seen {
		if canceled.MatchString(problem) || suite.lab != nil && ofTheServer(problem, suite.lab.log.String()) {
			continue
		}
		p.t.Errorf("console of the page (%d times): %s", n, problem)
	}
	for _, f := range p.foreign {
		p.t.Errorf("request that leaves the machine: %s", f)
	}
}

// run does actions and ends the test where one fails.
func (p *tab) run(what string, actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.fatal(what, err)
	}
}

// fatal ends the test with what the page looks like.
func (p *tab) fatal(what string, err error) {
	p.t.Helper()
	p.mu.Lock()
	problems := strings.Join(p.problems, "\n")
	p.mu.Unlock()
	p.snap("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
	p.t.Fatalf("%s: %v\nconsole so far:\n%s", what, err, problems)
}

// eval evaluates an expression, waiting for a promise, into what result points to, which may be nil.
func (p *tab) eval(what, expression string, result any) {
	p.t.Helper()
	if err := p.tryEval(expression, result); err != nil {
		p.fatal(what, err)
	}
}

func (p *tab) tryEval(expression string, result any) error {
	return chromedp.Run(p.ctx, chromedp.Evaluate(expression, result, func(e *runtime.EvaluateParams) *runtime.EvaluateParams {
		return e.WithAwaitPromise(true)
	}))
}

// patience is how long a page may take for one thing.
const patience = 90 * time.Second

// wait polls an expression until it is true, and ends the test where it does not become so.
func (p *tab) wait(what, expression string) {
	p.t.Helper()
	if !p.within(patience, expression) {
		err := p.ctx.Err()
		if err == nil {
			err = p.tryEval(expression, nil)
		}
		if err == nil {
			err = fmt.Errorf("did not happen within %s", patience)
		}
		p.fatal("waiting until "+what, err)
	}
}

// within polls an expression for some time and reports whether it became true.
func (p *tab) within(limit time.Duration, expression string) bool {
	for began := time.Now(); p.ctx.Err() == nil && time.Since(began) < limit; time.Sleep(30 * time.Millisecond) {
		var ok bool
		if p.tryEval("Boolean("+expression+")", &ok) == nil && ok {
			return true
		}
	}
	return false
}

// in makes a subtest the one that fails until the returned function is called.
func (p *tab) in(t *testing.T) (back func()) {
	outer := p.t
	p.t = t
	return func() { p.t = outer }
}
