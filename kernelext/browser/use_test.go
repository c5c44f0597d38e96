package browser

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// loose allows what JupyterLab's own pages allow.
const loose = "default-src 'self' 'unsafe-inline' data: blob:"

// A figure is saved as PNG, SVG and CSV, as it stands on the page, and a spreadsheet does not run what is in it.
func TestSave(t *testing.T) {
	ready(t)
	p := openPage(t, loose)
	raw := samples(t)["steady"]
	raw = json.RawMessage(strings.Replace(string(raw), `"culprit":"2.weight"`, `"culprit":"=HYPERLINK(1,\"x\")"`, 1))
	p.eval("catching what is saved", `(() => {
		window.saved = [];
		const create = URL.createObjectURL.bind(URL);
		URL.createObjectURL = (b) => { window.last = b; return create(b); };
		HTMLAnchorElement.prototype.click = function () { saved.push({ name: this.download, blob: window.last }); };
		return true;
	})()`, nil)
	p.figure("steady", raw)
	for i, want := range []string{"PNG", "SVG", "CSV"} {
		p.eval("pressing "+want, `[...document.querySelectorAll('.ht-saves button')].find((b) => b.textContent === '`+want+`').click(); true`, nil)
		p.wait(want+" is saved", `saved.length === `+string(rune('1'+i)))
	}
	var files []struct {
		Name, Type, Text string
		Size, Width      int
	}
	p.eval("reading what was saved", `(async () => Promise.all(saved.map(async (f) => ({
		name: f.name, type: f.blob.type, size: f.blob.size, text: f.blob.type === 'image/png' ? '' : await f.blob.text(),
		width: f.blob.type === 'image/png' ? (await createImageBitmap(f.blob)).width : 0,
	}))))()`, &files)
	if f := files[0]; f.Name != "loss-scale.png" || f.Type != "image/png" || f.Width < 1500 || f.Size < 5000 {
		t.Errorf("the PNG is %+v", f)
	}
	svg := files[1].Text
	for _, want := range []string{`xmlns="http://www.w3.org/2000/svg"`, "<path", "stroke=\"rgb(", "2²⁰"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the SVG has no %s: %.300s", want, svg)
		}
	}
	if strings.Contains(svg, "class=") || strings.Contains(svg, "var(") {
		t.Errorf("the SVG needs the page's styles: %.300s", svg)
	}
	if csv := files[2].Text; !strings.HasPrefix(csv, "step,loss scale,skipped,parameter,gradient\r\n") || !strings.Contains(csv, `"'=HYPERLINK(1,""x"")"`) {
		t.Errorf("the CSV is %.400s", csv)
	}
	p.quiet()
}

// A chart that is drawn while its place is wider than in the frames before and after, as when JupyterLab replaces an output, fits afterwards.
func TestChartsFit(t *testing.T) {
	ready(t)
	p := openPage(t, strict)
	all := samples(t)
	for name, redraw := range map[string]string{
		"steady":    `stage.dispatchEvent(new KeyboardEvent('keydown', {key: '+'}))`,
		"exponents": `document.querySelector('.ht-range-input').dispatchEvent(new Event('input'))`,
	} {
		p.figure(name, all[name])
		var drawn int
		p.eval("drawing in a wide moment", `(() => {
			const stage = document.querySelector('.ht-stage');
			stage.style.width = '2000px';
			`+redraw+`;
			stage.style.width = '';
			return Number(stage.firstChild.getAttribute('width'));
		})()`, &drawn)
		if drawn != 2000 {
			t.Fatalf("%s was drawn for %d pixels", name, drawn)
		}
		p.wait(name+" fits", `document.querySelector('.ht-stage').scrollWidth <= document.querySelector('.ht-stage').clientWidth`)
	}
	p.quiet()
}

// Everything can be done with keys, and is said.
func TestKeys(t *testing.T) {
	ready(t)
	p := openPage(t, strict)
	all := samples(t)
	press := func(keys ...string) {
		t.Helper()
		for _, k := range keys {
			p.run("pressing a key", chromedp.KeyEvent(k))
		}
	}
	p.figure("steady", all["steady"])
	const chart = `document.querySelector('[role=slider].ht-stage')`
	p.eval("focusing the chart", chart+`.focus(); true`, nil)
	press(kb.Home)
	p.wait("the first step is said", chart+`.getAttribute('aria-valuetext').startsWith('step 0: loss scale 1,048,576 × skipped, ')`)
	press(kb.ArrowRight, kb.ArrowRight, kb.ArrowRight, kb.ArrowRight)
	p.wait("a later one is said", chart+`.getAttribute('aria-valuetext') === 'step 4: loss scale 65,536' && document.querySelector('.ht-readout').textContent === 'step 4: loss scale 65,536'`)
	press("+", "+")
	p.wait("the chart is zoomed", `[...document.querySelectorAll('.ht-plot button')].some((b) => b.textContent === 'show all')`)
	press(kb.Escape)
	p.wait("and shows all again", `![...document.querySelectorAll('.ht-plot button')].some((b) => b.textContent === 'show all')`)

	p.figure("decisions_health", all["decisions_health"])
	const rows = `[...document.querySelectorAll('.ht-grid-table tbody tr')]`
	p.eval("focusing the tree", rows+`.find((r) => r.tabIndex === 0).focus(); true`, nil)
	press(kb.ArrowDown)
	p.wait("the next row has the focus", `document.activeElement === `+rows+`[1]`)
	press(kb.Enter)
	p.wait("its details are open", `document.activeElement.getAttribute('aria-expanded') === 'true' && /amp\.Force/.test(document.querySelector('.ht-details').textContent)`)
	press(kb.Escape)
	p.wait("and closed", `!document.querySelector('.ht-details')`)
	press(kb.ArrowLeft)
	p.wait("its group has the focus", `document.activeElement === `+rows+`[0]`)
	var before, after int
	p.eval("counting rows", rows+`.length`, &before)
	press(kb.ArrowLeft)
	p.eval("counting rows", rows+`.length`, &after)
	if after >= before {
		t.Errorf("a closed group leaves %d of %d rows", after, before)
	}

	p.figure("exponents", all["exponents"])
	p.eval("focusing the slider", `document.querySelector('input[type=range]').focus(); true`, nil)
	press(kb.End)
	p.wait("the sentence follows", `/at loss scale 268,435,456/.test(document.querySelector('.ht-says[aria-live]').textContent)`)

	p.figure("bits", all["bits"])
	p.eval("focusing a bit", `document.querySelector('[data-bit="1-15"]').focus(); true`, nil)
	press(kb.Enter)
	p.wait("the number has turned its sign", `document.querySelector('.ht-says').textContent.startsWith('−') && document.activeElement.dataset.bit === '1-15'`)
	p.quiet()
}

// The bits that the page computes are those that package widgets does.
func TestBits(t *testing.T) {
	ready(t)
	p := openPage(t, strict)
	all := samples(t)
	for _, name := range []string{"bits", "bits_many"} {
		var f struct {
			Data struct {
				Values []struct {
					Value any
					Rows  []struct {
						Format string
						Bits   uint32
						Value  any
					}
				}
			}
		}
		if err := json.Unmarshal(all[name], &f); err != nil {
			t.Fatal(err)
		}
		p.figure(name, all[name])
		var shown [][]string
		p.eval("reading bits", `[...document.querySelectorAll('.ht-bits')].map((v) => [...v.querySelectorAll('tbody tr')].map((r) => String(parseInt([...r.querySelectorAll('.ht-bit')].map((b) => b.textContent).join(''), 2))))`, &shown)
		if len(shown) != len(f.Data.Values) || len(shown) == 0 {
			t.Fatalf("%s: %d values are shown, want %d", name, len(shown), len(f.Data.Values))
		}
		for i, v := range f.Data.Values {
			for k, r := range v.Rows {
				if r.Value == "NaN" { // its fraction is anybody's choice
					continue
				}
				if got := shown[i][k]; got != strconv.FormatUint(uint64(r.Bits), 10) {
					t.Errorf("%v in %s: the page shows the bits %s, want %d", v.Value, r.Format, got, r.Bits)
				}
			}
		}
	}
	p.quiet()
}

// TestManyEvents: figures of 100,000 events and steps are drawn by the page in less than a second, and answer the mouse and the keys before the
// eye notices: within a tenth of a second, of which this takes the best of several tries, within half a minute, since the machine may be busy.
func TestManyEvents(t *testing.T) {
	ready(t)
	p := openPage(t, strict)
	all := samples(t)
	for name, act := range map[string]string{
		"many_decisions": `const f = document.querySelector('input[type=search]'); f.value = f.value ? '' : 'lin'; f.dispatchEvent(new Event('input'));`,
		"many_scale":     `const c = document.querySelector('.ht-plot svg').getBoundingClientRect(); document.querySelector('.ht-stage').dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: c.x + 100 + 10 * i, clientY: c.y + 50 })); document.querySelector('.ht-stage').dispatchEvent(new KeyboardEvent('keydown', { key: i % 2 ? '+' : 'ArrowRight', bubbles: true }));`,
	} {
		var ms struct{ Draw, Act float64 }
		p.eval("drawing "+name, fmt.Sprintf(`(async () => {
			const best = async (n, what) => { let b = Infinity; for (let i = 0; i < n; i++) { const t = performance.now(); await what(i); document.body.getBoundingClientRect(); b = Math.min(b, performance.now() - t); await probe.frames(1); } return b; };
			const patient = async (n, limit, what) => { let b = Infinity; for (const end = performance.now() + 30000; b > limit && (b === Infinity || performance.now() < end);) b = Math.min(b, await best(n, what)); return b; };
			const draw = await patient(3, 1000, async () => { page.clear(); await page.figure(%s); });
			await probe.frames(4);
			return { Draw: draw, Act: await patient(10, 100, async (i) => { %s }) };
		})()`, all[name], act), &ms)
		if t.Logf("%s: drawn in %.0f ms, answers in %.1f ms", name, ms.Draw, ms.Act); ms.Draw > 1000 || ms.Act > 100 || ms.Act <= 0 {
			t.Errorf("%s: drawn in %.0f ms, answers in %.1f ms", name, ms.Draw, ms.Act)
		}
	}
	p.quiet()
}
