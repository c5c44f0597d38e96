package browser

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// In a trusted notebook the charts answer the mouse, and the decisions table can be filtered and walked by keys.
func TestInteraction(t *testing.T) {
	ready(t)
	notebook := executed(t)
	p := openHTML(t, notebook, "interaction.ipynb", true)
	p.wait("all charts are interactive", `probe.outputs().length === 5 && probe.outputs().every((f) => !f.querySelector('.halftone-chart img'))`)
	for i, f := range storedFigures(t, notebook) {
		if f.Charts() > 0 {
			t.Run(fmt.Sprintf("%d-%s", i, f.Data.Kind), func(t *testing.T) {
				defer p.in(t)()
				if f.Data.Kind == "exponents" {
					p.whatIf(i)
					return
				}
				p.chart(i, f.Data.Kind)
			})
		}
	}
	t.Run("table", func(t *testing.T) {
		defer p.in(t)()
		p.table()
	})
	p.quiet()
}

// chart hovers over an interactive chart and zooms into it.
func (p *tab) chart(i int, kind string) {
	p.t.Helper()
	p.eval("showing a figure", fmt.Sprintf(`probe.show(%d)`, i), nil)
	at := p.place(fmt.Sprintf(`probe.outputs()[%d].querySelector('.halftone-chart svg')`, i))
	tip := fmt.Sprintf(`[...probe.outputs()[%d].querySelectorAll('.halftone-chart div')].map((d) => d.textContent).find((s) => /^step \d+/.test(s))`, i)
	for began, dx := time.Now(), 0.0; ; dx = 1 - dx { // the chart may not listen yet
		p.mouse(input.MouseMoved, at.X+at.Width/2+dx, at.Y+at.Height/2, 0)
		if p.within(2*time.Second, tip) || time.Since(began) > patience {
			break
		}
	}
	p.wait("a tooltip follows the mouse", tip)
	var text string
	p.eval("reading the tooltip", tip, &text)
	want := []string{"loss scale 2"}
	if kind == "compare" {
		want = []string{"float32 0.", "float16 0.", "bfloat16 0."}
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			p.t.Errorf("tooltip %q does not contain %q", text, w)
		}
	}
	var step int
	if _, err := fmt.Sscanf(text, "step %d", &step); err != nil || step < 34 || step > 44 {
		p.t.Errorf("the tooltip in the middle of 80 steps says %q", text)
	}
	p.snap(fmt.Sprintf("hover-%d-%s", i, kind))

	// The left handle of the slider below the chart, dragged to its middle, leaves the second half of the steps.
	ticks := fmt.Sprintf(`[...probe.outputs()[%d].querySelectorAll('.halftone-chart svg text')].map((e) => e.textContent).join(' ')`, i)
	var before string
	p.eval("reading the axis", ticks, &before)
	if kind == "scale_history" && (!powersOfTwo.MatchString(before) || otherPowers.MatchString(before)) {
		p.t.Errorf("the axis of the scale says %q, want powers of 2", before)
	}
	handle := p.place(fmt.Sprintf(`[...probe.outputs()[%d].querySelectorAll('.halftone-chart svg path[stroke="#ACB8D1" i]')].sort((a, b) => a.getBoundingClientRect().x - b.getBoundingClientRect().x)[0]`, i))
	x, y := handle.X+handle.Width/2, handle.Y+handle.Height/2
	p.mouse(input.MouseMoved, x, y, 0)
	p.mouse(input.MousePressed, x, y, 1)
	for k := 1; k <= 10; k++ {
		p.mouse(input.MouseMoved, x+at.Width*0.045*float64(k), y, 1)
	}
	p.mouse(input.MouseReleased, x+at.Width*0.45, y, 0)
	p.wait("dragging the slider zooms", fmt.Sprintf(`%s !== %q`, ticks, before))
	p.snap(fmt.Sprintf("zoom-%d-%s", i, kind))
}

var (
	powersOfTwo = regexp.MustCompile(`\b2[⁰¹²³⁴⁵⁶⁷⁸⁹]+`)
	otherPowers = regexp.MustCompile(`(\d2|[013-9])[⁰¹²³⁴⁵⁶⁷⁸⁹]`)
)

// whatIf moves the slider of the exponents by keys and asks about another format.
func (p *tab) whatIf(i int) {
	p.t.Helper()
	p.eval("showing a figure", fmt.Sprintf(`probe.show(%d)`, i), nil)
	chart := fmt.Sprintf(`probe.outputs()[%d].querySelector('.halftone-chart')`, i)
	p.wait("it says that the gradients are scaled", chart+`.querySelector('[aria-live]').textContent.startsWith('Scaled by ')`)
	p.eval("focusing the slider", chart+`.querySelector('input[type=range]').focus({preventScroll: true})`, nil)
	var before, after string
	numbers := chart + `.querySelector('[aria-live]').textContent`
	p.eval("reading", numbers, &before)
	p.run("pressing the arrow key", chromedp.KeyEvent(kb.ArrowLeft))
	p.wait("an arrow key halves the scale", fmt.Sprintf(`%s !== %q`, numbers, before))
	p.click(p.place(`[...` + chart + `.querySelectorAll('button')].find((b) => b.textContent === 'none')`))
	p.wait("without a scale they are unscaled", numbers+`.startsWith('Unscaled in float16')`)
	p.eval("choosing e4m3", `(() => { const s = `+chart+`.querySelector('select'); s.selectedIndex = [...s.options].findIndex((o) => o.text === 'e4m3'); s.dispatchEvent(new Event('change')); return true; })()`, nil)
	p.eval("reading", numbers, &after)
	if m := lostToZero.FindStringSubmatch(after); !strings.HasPrefix(after, "Unscaled in e4m3") || m == nil || m[1] == "0" {
		p.t.Errorf("in e4m3 without a scale: %q, want some of the gradients lost", after)
	}
	p.snap("whatif")
}

var lostToZero = regexp.MustCompile(`([0-9.]+)% ○ lost to zero`)

// table filters the decisions, groups them, and moves through them by keys.
func (p *tab) table() {
	p.t.Helper()
	p.eval("showing the decisions", `probe.show(0)`, nil)
	const shown = `[...probe.outputs()[0].querySelectorAll('tr.halftone-row')].filter((r) => r.checkVisibility()).length`
	var all, changed int
	p.eval("counting rows", shown, &all)
	at := p.place(`probe.outputs()[0].querySelector('input[type=checkbox]')`)
	p.click(at)
	p.eval("counting rows", shown, &changed)
	if changed == 0 || changed >= all {
		p.t.Errorf("%d of %d rows with \"only what autocast changed\", want fewer and some", changed, all)
	}
	p.click(at)
	p.eval("focusing a row", `probe.outputs()[0].querySelector('tr.halftone-row').focus({preventScroll: true})`, nil)
	p.wait("the row is explained", `/GEMM|matrix product/.test(probe.outputs()[0].querySelector('.halftone-detail').textContent) && probe.outputs()[0].querySelector('.halftone-detail button').textContent.includes('amp.Force("linear", amp.FP32)')`)
	p.run("pressing the arrow key", chromedp.KeyEvent(kb.ArrowDown))
	p.wait("the arrow key moves to the next op", `document.activeElement === [...probe.outputs()[0].querySelectorAll('tr.halftone-row')].filter((r) => r.querySelector('th'))[1]`)

	p.eval("grouping by dtype", `(() => { const s = probe.outputs()[0].querySelector('.halftone-controls select'); s.value = 'dtype'; s.dispatchEvent(new Event('change')); return true; })()`, nil)
	p.wait("there is a group for each dtype", `probe.outputs()[0].querySelectorAll('.halftone-group[open]').length >= 2`)
	p.snap("grouped")
	p.eval("folding the first group", `probe.outputs()[0].querySelector('.halftone-group summary').click()`, nil)
	p.eval("counting rows", shown, &changed)
	if changed == 0 || changed >= all {
		p.t.Errorf("%d of %d rows with a group folded, want fewer and some", changed, all)
	}
}

// Without the installed front end a trusted notebook keeps its static charts: the one thing that shows is the request for a
// file that is not there.
func TestWithoutFrontEnd(t *testing.T) {
	ready(t)
	notebook := executed(t)
	p := newTab(t, suite.browser, suite.lab.url)
	const missing = "/lab/extensions/@halftone/figures/static/echarts.min.js"
	chromedp.ListenTarget(p.ctx, func(ev any) {
		if e, ok := ev.(*fetch.EventRequestPaused); ok {
			go func() {
				_ = chromedp.Run(p.ctx, fetch.FulfillRequest(e.RequestID, 404).WithBody(base64.StdEncoding.EncodeToString([]byte("not found"))))
			}()
		}
	})
	p.run("taking the front end away", fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: "*" + missing + "*"}}))
	p.html = true
	p.serve(notebook, "static.ipynb", true)
	p.load("static.ipynb")
	figures := storedFigures(t, notebook)
	p.wait("all figures are there", fmt.Sprintf(`probe.outputs().length === %d`, len(figures)))
	p.wait("the front end was asked for", `performance.getEntriesByType('resource').some((r) => r.name.includes('echarts.min.js')) || window.__halftoneECharts`)
	for i := range figures {
		m := p.settled(i)
		m.check(t, &figures[i], p.stored(figures[i].HTML), figures[i].Data.Kind == "exponents") // whose script needs no library
	}
	p.quiet("network: Failed to load resource: the server responded with a status of 404 (Not Found) " + missing)
}

type box struct{ X, Y, Width, Height float64 }

// place is where an element is in the window.
func (p *tab) place(element string) box {
	p.t.Helper()
	var b box
	p.eval("finding "+element, `probe.place(`+element+`)`, &b)
	return b
}

func (p *tab) click(b box) {
	p.t.Helper()
	p.run("clicking", chromedp.MouseClickXY(b.X+b.Width/2, b.Y+b.Height/2))
}

func (p *tab) mouse(kind input.MouseType, x, y float64, buttons int64) {
	p.t.Helper()
	e := input.DispatchMouseEvent(kind, x, y).WithButtons(buttons)
	if kind != input.MouseMoved || buttons != 0 {
		e = e.WithButton(input.Left).WithClickCount(1)
	}
	p.run("moving the mouse", chromedp.ActionFunc(func(ctx context.Context) error { return e.Do(ctx) }))
}
