package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// In forced colors (Windows' contrast themes) the system takes backgrounds away: what a figure draws with them stays there, and is not the
// color of the page.
func TestForcedColors(t *testing.T) {
	ready(t)
	p := openPage(t, strict)
	for _, scheme := range []string{"light", "dark"} {
		p.pageTheme(scheme, 1100)
		p.run("forced colors", emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}, {Name: "prefers-color-scheme", Value: scheme}}))
		for _, name := range []string{"decisions_health", "collapsing", "exponents", "compare_ops", "bits_many", "policy", "live_running", "flow", "rounding"} {
			p.figure(name, samples(t)[name])
			p.snapPage(fmt.Sprintf("forced-%s-%s", name, scheme))
			var lost []string
			p.eval("looking for what is drawn with backgrounds", `[...document.querySelectorAll('.ht-card [class*="ht-fill-"], .ht-card [class*="ht-flow-"]')].filter((e) => !(e instanceof SVGElement) && e.getBoundingClientRect().width > 1)
				.filter((e) => { const s = getComputedStyle(e); return s.backgroundColor === getComputedStyle(document.body).backgroundColor || s.backgroundColor === 'rgba(0, 0, 0, 0)' && s.backgroundImage === 'none'; }).map((e) => e.className)`, &lost)
			if slices.Sort(lost); len(lost) > 0 {
				t.Errorf("%s, %s: %d parts are not seen: %s", name, scheme, len(lost), strings.Join(slices.Compact(lost), "; "))
			}
		}
	}
	p.quiet()
}
