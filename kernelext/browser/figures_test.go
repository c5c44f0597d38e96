package browser

import (
	"fmt"
	"strings"
	"testing"
)

// The HTML face of every figure of an executed notebook is drawn, whole and readable, in both themes: in a notebook that JupyterLab does not
// trust, which is every notebook that comes from elsewhere, and in one that it does.
func TestFigures(t *testing.T) {
	ready(t)
	notebook := executed(t)
	figures := storedFigures(t, notebook)
	kinds := map[string]int{}
	for _, f := range figures {
		kinds[f.Data.Kind]++
	}
	if kinds["decisions"] != 1 || kinds["scale_history"] != 2 || kinds["exponents"] != 1 || kinds["compare"] != 1 {
		t.Fatalf("figures in the executed notebook: %v, want 1 decisions, 2 scale histories, 1 of exponents and 1 comparison", kinds)
	}
	if skips := len(figures[1].Data.Data.Skips); skips == 0 {
		t.Fatal("the scale history has no skipped step to show")
	}
	t.Run("untrusted", func(t *testing.T) { lookAt(t, notebook, false, figures) })
	t.Run("trusted", func(t *testing.T) { lookAt(t, notebook, true, figures) })
}

// lookAt opens a notebook and checks every figure in both themes.
func lookAt(t *testing.T, notebook string, trusted bool, figures []figure) {
	name := map[bool]string{false: "untrusted", true: "trusted"}[trusted]
	p := openHTML(t, notebook, name+".ipynb", trusted)
	p.wait("all figures are there", fmt.Sprintf(`probe.outputs().length === %d`, len(figures)))
	if trusted {
		p.wait("all charts are interactive", `probe.outputs().every((f) => !f.querySelector('.halftone-chart img'))`)
	}
	for _, theme := range []string{"Light", "Dark"} {
		t.Run(theme, func(t *testing.T) {
			defer p.in(t)()
			p.theme(theme)
			for i := range figures {
				t.Run(fmt.Sprintf("%d-%s", i, figures[i].Data.Kind), func(t *testing.T) {
					defer p.in(t)()
					m := p.settled(i)
					p.snapFigure(strings.ToLower(fmt.Sprintf("%s-%s-%d-%s", name, theme, i, figures[i].Data.Kind)), i)
					m.check(t, &figures[i], p.stored(figures[i].HTML), trusted)
					if !trusted && m.Scripts+m.Controls+len(m.Charts) > 0 {
						t.Errorf("%d scripts, %d controls and %d charts in a notebook that is not trusted", m.Scripts, m.Controls, len(m.Charts))
					}
				})
			}
		})
	}
	p.quiet()
}
