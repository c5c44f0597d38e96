package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// attack is text that would run, were it ever taken for HTML, an address or a program.
const attack = `"><script>window.pwned=1</script><img src=x onerror="window.pwned=2"><svg onload="window.pwned=3"></svg><a href="javascript:window.pwned=4">x</a><style>*{display:none}</style>${window.pwned=5}` + "`" + `{{constructor.constructor('window.pwned=6')()}}`

// hostiles are figures that someone with bad intentions, or a broken program, may have written: name to JSON.
func hostiles(t *testing.T, good map[string]json.RawMessage) map[string]string {
	t.Helper()
	out := map[string]string{
		"a text": `"text"`, "a number": `7`, "nothing": `null`, "a list": `[]`, "empty": `{}`,
		"another schema": `{"schema":"` + "halftone.figure/99" + `","kind":"decisions","data":{}}`, "a schema of another kind": `{"schema":{"a":1},"kind":[],"data":1}`,
		"an attack as kind":      fmt.Sprintf(`{"schema":"halftone.figure/1","kind":%q,"title":%q,"alt":%q,"data":{}}`, attack, attack, attack),
		"prototype keys as kind": `{"schema":"halftone.figure/1","kind":"__proto__","title":"t","alt":"a","data":{"__proto__":{"pwned":1}}}`,
		"a constructor as kind":  `{"schema":"halftone.figure/1","kind":"constructor","title":"t","alt":"a","data":{"constructor":{"prototype":{"pwned":1}}}}`,
		"deep nesting":           `{"schema":"halftone.figure/1","kind":"decisions","title":"t","alt":"a","data":` + strings.Repeat(`{"sites":[`, 3000) + strings.Repeat(`]}`, 3000) + `}`,
		"a huge title":           fmt.Sprintf(`{"schema":"halftone.figure/1","kind":"live","title":%q,"alt":%q,"data":{"state":%q}}`, strings.Repeat("<b>W", 300000), strings.Repeat("x", 1000000), strings.Repeat("y", 100000)),
		"text that turns round":  `{"schema":"halftone.figure/1","kind":"live","title":"\u202egnp.exe\u0000\u0007","alt":"a","data":{}}`,
		"a million sites":        `{"schema":"halftone.figure/1","kind":"decisions","title":"t","alt":"a","data":{"rules":["r"],"sites":[` + strings.Repeat(`{"phase":"forward","op":"x","calls":1},`, 200000) + `{}]}}`,
		"many points":            `{"schema":"halftone.figure/1","kind":"scale_history","title":"t","alt":"a","data":{"enabled":true,"nominal_steps":1e9,"points":[` + strings.Repeat(`[0,1],`, 300000) + `[1e9,2]],"skips":[{"first":0,"last":1e9,"count":1e9}]}}`,
		"a slider without end":   `{"schema":"halftone.figure/1","kind":"exponents","title":"t","alt":"a","data":{"scale":1e308,"best":5e-324,"low":-1e300,"counts":[1,2,1e300],"formats":[{"name":"float16","zero":-1e300,"normal":1e300,"top":1e308}]}}`,
		"roundings of nothing":   `{"schema":"halftone.figure/1","kind":"rounding","title":"t","alt":"a","data":{"exact":0,"error":1e308,"spread":-1,"halves":["int3"],"if":[{"dtype":"float16","spread":1e308,"over":-1}],"rows":[{"op":"<img src=x>","own":1e308,"size":1e-308,"total":"NaN","share":"-Inf","if":[{"spread":5e-324},{"dtype":"__proto__"}]},{}]}}`,
		"a format upside down":   `{"schema":"halftone.figure/1","kind":"exponents","title":"t","alt":"a","data":{"scale":2,"best":2,"low":0,"counts":[1],"formats":[{"name":"x","zero":5,"normal":-5,"top":-50}]}}`,
		"bits of what is none":   `{"schema":"halftone.figure/1","kind":"bits","title":"t","alt":"a","data":{"values":[{"value":"x"},{"value":{}},{"value":1e308},{"value":-5e-324},{"value":"-Inf"},null,7,[]]}}`,
		"an own picture": fmt.Sprintf(`{"schema":"halftone.figure/1","kind":"custom","title":"t","alt":"a","data":{"text":%q,"svg":%q,"html":%q}}`, attack,
			`<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=7"><script>window.pwned=8</script><image href="http://example.com/x"/><foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="x" onerror="window.pwned=9"/></foreignObject></svg>`, attack),
	}
	// Every sound figure with each of its values replaced.
	for name, raw := range good {
		for what, value := range map[string]any{"an attack": attack, "a number": -1e300, "NaN": "NaN", "nothing": nil, "an object": map[string]any{"__proto__": attack, "length": 1e9, "toString": 1}, "a billion": 1e9, "a list": []any{[]any{attack, nil}, -1, "x"}} {
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatal(err)
			}
			f := v.(map[string]any)
			f["data"] = replaced(f["data"], value, 0)
			f["title"], f["volatile"] = replaced(f["title"], value, 0), replaced(f["volatile"], value, 0)
			b, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			out[fmt.Sprintf("%s with %s in place of every value", name, what)] = string(b)
		}
	}
	return out
}

// replaced returns a value with every leaf replaced; lists keep their first members.
func replaced(v, by any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = replaced(x, by, depth+1)
		}
		return v
	case []any:
		v = v[:min(len(v), 5)]
		for i, x := range v {
			v[i] = replaced(x, by, depth+1)
		}
		return v
	}
	return by
}

// quoted is text as a literal of JavaScript.
func quoted(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Whatever a figure holds, nothing of it runs, nothing is asked of the network, and the page goes on.
func TestHostileFigures(t *testing.T) {
	ready(t)
	all := samples(t)
	good := map[string]json.RawMessage{}
	for _, name := range []string{"decisions_health", "collapsing", "exponents", "bits_many", "compare", "policy_forced", "live_running"} {
		if good[name] = all[name]; good[name] == nil {
			t.Fatalf("there is no figure %s", name)
		}
	}
	// With the policy that lets inline scripts run: it is the extension that must not make any.
	p := openPage(t, "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:")
	for name, raw := range hostiles(t, good) {
		var seen struct {
			MS       float64
			Elements int
			Bad      []string
			Pwned    any
			Text     string
			Chars    int
		}
		began := time.Now()
		draw := fmt.Sprintf(`(async () => {
			page.clear();
			const began = performance.now();
			await page.figure(JSON.parse(%s));
			await probe.frames(3);
			const main = document.querySelector('main'), elements = [...main.querySelectorAll('*')];
			// What can be pressed is pressed, what can be written in is written in.
			for (const b of [...main.querySelectorAll('button')].slice(0, 40)) if (!b.closest('.ht-saves')) b.click();
			for (const i of main.querySelectorAll('input[type=search], input[type=text]')) { i.value = %q; i.dispatchEvent(new Event('input')); i.dispatchEvent(new Event('change')); }
			for (const r of [...main.querySelectorAll('tr')].slice(0, 20)) r.click();
			await probe.frames(2);
			const bad = elements.filter((e) => /^(script|iframe|object|embed|link|style|base|form|foreignobject)$/i.test(e.tagName) || [...e.attributes].some((a) => /^on/i.test(a.name) || /^\s*javascript:/i.test(a.value)) || (e.tagName === 'IMG' && !e.src.startsWith('data:image/svg+xml')) || (e.tagName === 'A' && e.href)).map((e) => e.outerHTML.slice(0, 100));
			return { ms: performance.now() - began, elements: elements.length, bad, pwned: window.pwned ?? ({}).pwned ?? null, text: main.textContent.slice(0, 120), chars: main.textContent.length };
		})()`, quoted(t, raw), attack)
		for try := 0; try < 4 && (try == 0 || seen.MS > 8000); try++ { // the machine may be busy
			p.eval("drawing "+name, draw, &seen)
		}
		if seen.Pwned != nil || len(seen.Bad) > 0 {
			t.Fatalf("%s: it ran: %v, %q", name, seen.Pwned, seen.Bad)
		}
		if seen.Elements > 25000 || seen.Chars > 500_000 {
			t.Errorf("%s: %d elements and %d characters on the page", name, seen.Elements, seen.Chars)
		}
		if seen.MS > 8000 {
			t.Errorf("%s: %.0f ms (%v with the transfer)", name, seen.MS, time.Since(began))
		}
		if strings.TrimSpace(seen.Text) == "" {
			t.Errorf("%s: nothing is shown", name)
		}
		if strings.ContainsAny(seen.Text, "\u202e\u0000") {
			t.Errorf("%s: control characters are shown: %q", name, seen.Text)
		}
	}
	p.quiet()
}
