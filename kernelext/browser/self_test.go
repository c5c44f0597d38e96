package browser

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The instruments of these tests notice what they are for.
func TestInstruments(t *testing.T) {
	ready(t)
	p := newTab(t, suite.browser, suite.lab.url)
	p.run("opening a small page of the server", chromedp.Navigate(p.base.Scheme+"://"+p.base.Host+"/login"))
	p.probe()

	t.Run("errors", func(t *testing.T) {
		defer p.in(t)()
		p.eval("provoking errors", `(async () => {
			console.error('said', 7);
			setTimeout(() => { throw new Error('thrown'); });
			Promise.reject(new Error('rejected'));
			await fetch('/not-there').catch(() => {});
			await fetch('http://example.com/x').catch(() => {});
			new WebSocket('ws://example.com/y');
			document.body.append(Object.assign(document.createElement('img'), { src: 'https://example.com/z.png' }));
		})()`, nil)
		for _, want := range []string{`console: "said" 7`, "uncaught: Uncaught Error: thrown", "uncaught: Uncaught (in promise) Error: rejected", "(Not Found) /not-there"} {
			p.notices(t, &p.problems, want)
		}
		for _, want := range []string{"http://example.com/x", "ws://example.com/y", "https://example.com/z.png"} {
			p.notices(t, &p.foreign, want)
		}
	})

	for _, c := range []struct {
		name, html string
		found      func(m *measured) bool
	}{
		{"sound", `<p>Read me</p><img alt="a" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='400' height='200'><rect width='200' height='200' fill='red'/></svg>">`,
			func(m *measured) bool {
				return m.Text == "Read me" && len(m.Hidden)+len(m.Faint)+len(m.Clipped) == 0 && len(m.Images) == 1 && m.Images[0].Natural == 400 && m.Images[0].Colors == 2
			}},
		{"hidden", `<p style="display:none">Gone</p>`, func(m *measured) bool { return slices.Contains(m.Hidden, "Gone") }},
		{"transparent", `<p style="opacity:0">Gone</p>`, func(m *measured) bool { return slices.Contains(m.Hidden, "Gone") }},
		{"folded", `<details><summary>More</summary><p>Gone</p></details>`, func(m *measured) bool { return slices.Contains(m.Hidden, "Gone") && len(m.Hidden) == 1 }},
		{"faint", `<p style="color:#aaa">Pale</p>`, func(m *measured) bool { return len(m.Faint) == 1 }},
		{"faint by opacity", `<p style="opacity:0.4">Pale</p>`, func(m *measured) bool { return len(m.Faint) == 1 }},
		{"dark on dark", `<div style="background:#111"><p style="color:#333">Pale</p></div>`, func(m *measured) bool { return len(m.Faint) == 1 }},
		{"too wide", `<p style="width:900px">` + strings.Repeat("wide ", 40) + `</p>`, func(m *measured) bool { return len(m.Clipped) > 0 }},
		{"scrolls", `<div style="overflow-x:auto"><table style="width:900px"><tr><td>x</td></tr></table></div>`, func(m *measured) bool { return len(m.Clipped) > 0 }},
		{"broken image", `<img alt="a" src="data:image/png;base64,AAAA">`, func(m *measured) bool { return len(m.Images) == 1 && m.Images[0].Natural == 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer p.in(t)()
			var m measured
			p.eval("measuring", `(async () => {
				document.body.innerHTML = '<div id="out" style="width:600px;background:white;color:black"><div id="figure"></div></div>';
				const f = document.getElementById('figure');
				f.innerHTML = `+"`"+c.html+"`"+`;
				await Promise.all([...f.querySelectorAll('img')].map((m) => m.decode().catch(() => {})));
				return probe.look(f, document.getElementById('out'));
			})()`, &m)
			if !c.found(&m) {
				t.Errorf("not noticed: %+v", m)
			}
		})
	}
}

// notices waits until a line with some text is among what was noted.
func (p *tab) notices(t *testing.T, list *[]string, want string) {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(20 * time.Millisecond) {
		p.mu.Lock()
		found := slices.ContainsFunc(*list, func(s string) bool { return strings.Contains(s, want) })
		p.mu.Unlock()
		if found {
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t.Errorf("not noticed: %s\nnoticed: %q", want, *list)
}

// TestServersOwnError: an answer of the server's is excused by what its log says of it, and nothing else is.
func TestServersOwnError(t *testing.T) {
	const log = "Traceback\ntraitlets.traitlets.TraitError: " + listCause + ".\n"
	for _, c := range []struct {
		problem, log string
		want         bool
	}{
		{listError, log, true},
		{listError, "KeyError: 'x'\n", false},
		{listError + "/7", log, false},
		{"console: Error", log, false},
	} {
		if got := ofTheServer(c.problem, c.log); got != c.want {
			t.Errorf("%q with the log %q: %v", c.problem, c.log, got)
		}
	}
}
