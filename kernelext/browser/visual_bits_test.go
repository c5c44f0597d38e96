package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBitsScript holds the conversions of the clickable bits to their definition: every code of the narrow formats reads back as itself,
// any number between two neighbors goes to the nearer one and the middle to the even one, and float32 is the browser's own.
func TestBitsScript(t *testing.T) {
	ready(t)
	b, err := os.ReadFile(filepath.Join("testdata", "float.js"))
	if err != nil {
		t.Fatal(err)
	}
	p := newTab(t, suite.browser, suite.lab.url)
	var wrong []string
	p.eval("trying the conversions", `(() => {
		`+string(b)+`
		const { formats, typed } = float, decode = (f, bits) => float.decode(bits, f), encode = (f, v) => float.encode(v, f);
		const wrong = [];
		const want = (ok, ...what) => { if (!ok && wrong.length < 10) wrong.push(what.map(String).join(' ')); };
		for (const f of formats.slice(1)) {
			const half = Math.pow(2, f.exponent + f.fraction);
			for (let i = 0; i < half; i++) {
				const v = decode(f, i), up = decode(f, i + 1);
				if (v !== v) continue;
				want(encode(f, v) === i && Object.is(decode(f, encode(f, -v)), -v), f.name, i, v, encode(f, v));
				if (!(up < Infinity) || i + 1 === half) continue;
				const middle = (v + up) / 2, near = (up - v) / 1048576;
				want(up > v, f.name, i, 'is not below the next');
				want(encode(f, middle) === i + i % 2, f.name, i, 'middle', middle, encode(f, middle));
				want(encode(f, middle - near) === i && encode(f, middle + near) === i + 1, f.name, i, 'beside the middle');
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
			want(Object.is(decode(formats[f], encode(formats[f], x)), y), formats[f].name, x, y);
		}
		for (const [text, of, value, name, bits] of [
			['0.1', -1, 0.1], ['-1e-8', -1, -1e-8], [' 2^-14 ', -1, 2 ** -14], ['-2^3', -1, -8], ['−5', -1, -5], ['inf', -1, Infinity], ['-Infinity', -1, -Infinity], ['nan', -1, NaN], ['-0', -1, -0],
			['0x3c00', -1, 1, 'fp16', 0x3c00], ['0x38', -1, 1, 'fp8 e4m3', 0x38], ['0x3f800000', -1, 1, 'fp32', 0x3f800000], ['0b0011110000000000', -1, 1, 'fp16', 0x3c00], ['0x3f80', 2, 1, 'bf16', 0x3f80],
			['3c00', 1, 1, 'fp16', 0x3c00], ['0011110000000000', 1, 1, 'fp16', 0x3c00], ['7e', 4, NaN, 'fp8 e5m2', 0x7e], ['1e2', 1, undefined, 'fp16', 0x1e2], ['0x1', 1, 2 ** -24, 'fp16', 1],
		]) {
			const t = typed(text, formats[of] ?? null);
			want(!t.error && (value === undefined || Object.is(t.value, value)) && (t.format?.name === name) && t.bits === bits, 'typed', text, of, JSON.stringify(t));
		}
		for (const [text, of, says] of [['0x13c00', 1, 'more than the 16 bits of fp16'], ['0x1ff', 3, 'more than the 8 bits'], ['0x123456789', -1, 'more than the 32 bits'], ['zero', -1, 'no number'], ['', -1, 'no number'], ['xyz', 2, 'no pattern of bf16'], ['1+1', -1, 'no number'], ['0x', -1, 'no number']]) {
			want(String(typed(text, formats[of] ?? null).error).includes(says), 'wrong', text, typed(text, formats[of] ?? null).error);
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
	p.eval("showing", fmt.Sprintf(`visual.show(%d)`, i), nil) // far out of sight it has no text
	before := said(all)
	bit := func(k, n int) string {
		return fmt.Sprintf(`%s.tBodies[0].rows[%d].querySelectorAll('.halftone-bit')[%d]`, table, k, n)
	}
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
	fill := func(text, as string) {
		p.eval("typing a number", fmt.Sprintf(`(() => {
			const bar = visual.figures()[%d].querySelector('.halftone-type'), s = bar.querySelector('select');
			s.selectedIndex = [...s.options].findIndex((o) => o.text === %q);
			bar.querySelector('input').value = %q;
			s.dispatchEvent(new Event('change'));
		})()`, i, as, text), nil)
	}
	fill("2^-14", "number")
	if got := row(1); !strings.HasPrefix(got, "fp16 6.1035e-5 0 00001 0000000000 0 0") {
		t.Errorf("after typing 2^-14: %q", got)
	}
	fill("3c01", "fp16 bits")
	if got := row(1); !strings.HasPrefix(got, "fp16 1.001 0 01111 0000000001 0 0") || !strings.HasPrefix(row(0), "fp32 1.00097656 0 01111111 00000000010000000000000") {
		t.Errorf("after typing a pattern: %q, %q", got, row(0))
	}
	fill("nonsense", "number")
	if got := row(1); !strings.HasPrefix(got, "fp16 1.001 ") {
		t.Errorf("after typing nonsense: %q", got)
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
		{"log_softmax", "3 of ", "cross_entropy nll_loss of log_softmax"},
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
