package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBitsScript holds the conversions of the clickable bits to their definition: every code of the narrow formats reads back as itself,
// any number between two neighbors goes to the nearer one and the middle to the even one, and float32 is the browser's own.
func TestBitsScript(t *testing.T) {
	ready(t)
	b, err := os.ReadFile(filepath.Join("..", "..", "widgets", "render", "bits.js"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "var two =")
	_, rest, ok2 := strings.Cut(rest, "if (!table) return;")
	rest, _, ok3 := strings.Cut(rest, "var says =")
	if !ok || !ok2 || !ok3 {
		t.Fatal("bits.js is laid out otherwise")
	}
	p := newTab(t, suite.browser, suite.lab.url, time.Minute)
	var wrong []string
	p.eval("trying the conversions", `(() => {
		const two = (n) => Math.pow(2, n);
		`+rest+`
		const wrong = [];
		const want = (ok, ...what) => { if (!ok && wrong.length < 10) wrong.push(what.map(String).join(' ')); };
		for (const f of formats.slice(1)) {
			const half = Math.pow(2, f[1] + f[2]);
			for (let i = 0; i < half; i++) {
				const v = decode(f, i), up = decode(f, i + 1);
				if (v !== v) continue;
				want(encode(f, v) === i && Object.is(decode(f, encode(f, -v)), -v), f[0], i, v, encode(f, v));
				if (!(up < Infinity) || i + 1 === half) continue;
				const middle = (v + up) / 2, near = (up - v) / 1048576;
				want(up > v, f[0], i, 'is not below the next');
				want(encode(f, middle) === i + i % 2, f[0], i, 'middle', middle, encode(f, middle));
				want(encode(f, middle - near) === i && encode(f, middle + near) === i + 1, f[0], i, 'beside the middle');
			}
		}
		const word = new Uint32Array(1), single = new Float32Array(word.buffer);
		let seed = 1;
		for (let n = 0; n < 300000; n++) {
			seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
			word[0] = seed;
			const v = single[0];
			if (v !== v) continue;
			want(encode(formats[0], v) === seed && Object.is(decode(formats[0], seed), v), 'fp32', seed, v);
			const x = v * (1 + (n % 1000) / 8388608000);
			single[0] = x;
			want(encode(formats[0], x) === word[0], 'fp32', x, word[0], encode(formats[0], x));
		}
		for (const [f, x, y] of [[3, 448, 448], [3, 464, 448], [3, 464.001, NaN], [4, 61439, 57344], [4, 61440, Infinity], [1, 65519.99, 65504], [1, 65520, Infinity], [3, Infinity, NaN], [1, -Infinity, -Infinity], [2, NaN, NaN], [1, 5e-324, 0]]) {
			want(Object.is(decode(formats[f], encode(formats[f], x)), y), formats[f][0], x, y);
		}
		return wrong;
	})()`, &wrong)
	if len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
}

// tryBits clicks and types on the bits of 0.1, which is figure i of the page.
func (p *tab) tryBits(t *testing.T, i int) {
	t.Helper()
	table := fmt.Sprintf(`visual.figures()[%d].querySelector('table')`, i)
	said := func(expression string) (text string) {
		t.Helper()
		p.eval("reading", expression, &text)
		return text
	}
	row := func(k int) string {
		return said(fmt.Sprintf(`%s.tBodies[0].rows[%d].innerText.replace(/\s+/g, ' ')`, table, k))
	}
	all := table + `.innerText`
	before := said(all)
	bit := func(k, n int) string {
		return fmt.Sprintf(`%s.tBodies[0].rows[%d].querySelectorAll('.halftone-bit')[%d]`, table, k, n)
	}
	p.eval("showing", fmt.Sprintf(`visual.show(%d)`, i), nil)
	p.click(p.place(bit(1, 15)))
	for k, want := range []string{"fp32 0.100036621 0 01111011 10011001110000000000000 0 0", "fp16 0.10004 0 01011 1001100111 0 0", "bf16 0.1001", "fp8 e4m3 0.1015625", "fp8 e5m2 0.09375"} {
		if got := row(k); !strings.HasPrefix(got, want) {
			t.Errorf("after flipping float16's last bit row %d is %q, want %q", k, got, want)
		}
	}
	p.eval("focus", bit(1, 15)+`.focus()`, nil)
	for range 15 {
		p.run("a key", chromedp.KeyEvent(kb.ArrowLeft))
	}
	p.run("a key", chromedp.KeyEvent(kb.Enter))
	if got := row(1); !strings.HasPrefix(got, "fp16 -0.10004 1 01011 1001100111") {
		t.Errorf("after flipping the sign by the keyboard: %q", got)
	}
	if says := said(fmt.Sprintf(`visual.figures()[%d].querySelector('[aria-live]').textContent`, i)); says != "fp16 is now -0.10004." {
		t.Errorf("it says %q", says)
	}
	p.run("a key", chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(" "))
	if got := row(2); !strings.HasPrefix(got, "bf16 -3.406e37 1 11111011 1001101") || !strings.HasPrefix(row(1), "fp16 -∞ overflows to infinity: the largest is 65504") {
		t.Errorf("after flipping bfloat16's highest exponent bit: %q, %q", got, row(1))
	}
	p.eval("going back", fmt.Sprintf(`[...visual.figures()[%d].querySelectorAll('button')].find((b) => b.textContent.startsWith('back')).click()`, i), nil)
	if after := said(all); after != before { // what the script writes is what the kernel wrote
		t.Errorf("back again it is\n%s\nand was\n%s", after, before)
	}
}

// tryPolicy searches the op table, which is figure i of the page.
func (p *tab) tryPolicy(t *testing.T, i int) {
	t.Helper()
	for _, c := range []struct{ words, says, first string }{
		{"softmax", " of ", "log_softmax "},
		{"gelu", " of ", "gelu "},
		{"banned", "1 of ", "binary_cross_entropy "},
		{"weightᵀ bias tensor cores", "1 of ", "linear x·weightᵀ + bias, rounded once"},
		{"quaternion", "0 of ", ""},
	} {
		var got struct{ Says, First string }
		p.eval("searching", fmt.Sprintf(`(() => {
			const f = visual.figures()[%d], field = f.querySelector('input[type=search]');
			field.value = %q;
			field.dispatchEvent(new Event('input'));
			const row = [...f.querySelectorAll('.halftone-reason li')].find((e) => e.checkVisibility());
			return { Says: f.querySelector('[aria-live]').textContent, First: row ? row.innerText.replace(/\s+/g, ' ') : '' };
		})()`, i, c.words), &got)
		if !strings.Contains(got.Says, c.says) || !strings.HasPrefix(got.First, c.first) {
			t.Errorf("searching %q: %+v, want %q and %q", c.words, got, c.says, c.first)
		}
	}
	p.snapElement("visual-search", fmt.Sprintf(`visual.figures()[%d]`, i))
	var folded bool
	p.eval("clearing", fmt.Sprintf(`(() => {
		const f = visual.figures()[%d], field = f.querySelector('input[type=search]');
		field.value = '';
		field.dispatchEvent(new Event('input'));
		return f.querySelectorAll('.halftone-policy [hidden]').length === 0;
	})()`, i), &folded)
	if !folded {
		t.Error("without words the ops are not all there again")
	}
}
