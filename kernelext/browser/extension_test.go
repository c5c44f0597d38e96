package browser

import (
	"fmt"
	"strings"
	"testing"
)

// The extension draws every figure of a notebook that JupyterLab does not trust, which is every notebook that comes from elsewhere,
// whole and readable in both themes, and with all its controls.
func TestExtension(t *testing.T) {
	ready(t)
	notebook := executed(t)
	figures := storedFigures(t, notebook)
	p := open(t, notebook, "extension.ipynb", false)
	p.wait("all figures are drawn", fmt.Sprintf(`probe.outputs().length === %d && probe.outputs().every((f) => f.matches('.ht-card'))`, len(figures)))
	for _, theme := range []string{"Light", "Dark"} {
		t.Run(theme, func(t *testing.T) {
			defer p.in(t)()
			p.theme(theme)
			for i := range figures {
				t.Run(fmt.Sprintf("%d-%s", i, figures[i].Data.Kind), func(t *testing.T) {
					defer p.in(t)()
					m := p.settled(i)
					p.snapFigure(strings.ToLower(fmt.Sprintf("extension-%s-%d-%s", theme, i, figures[i].Data.Kind)), i)
					m.checkCard(t, &figures[i])
				})
			}
		})
	}
	p.quiet()
}

// checkCard fails where the extension's drawing of a figure lacks something, or is hard to read.
func (m *measured) checkCard(t *testing.T, f *figure) {
	t.Helper()
	for what, list := range map[string][]string{"not visible": m.Hidden, "too little contrast": m.Faint, "cut off": m.Clipped} {
		if len(list) > 0 {
			t.Errorf("%s: %s", what, strings.Join(list, "; "))
		}
	}
	if !strings.Contains(m.Text, f.Data.Title) {
		t.Errorf("the title %q is not in %q", f.Data.Title, m.Text)
	}
	if m.Scripts > 0 || m.Controls < 3 {
		t.Errorf("%d scripts and %d controls, want none, and at least those that save it", m.Scripts, m.Controls)
	}
	least, rows := 0, 0
	for _, s := range f.Data.Data.Sites {
		if s.Phase == "" || s.Phase == "forward" {
			least++
		}
	}
	least += len(f.Data.Data.Skips) + len(f.Data.Data.Runs)
	for _, table := range m.Tables {
		rows += table.Rows
		if table.Heads == 0 {
			t.Error("a table has no headings")
		}
	}
	if rows < least {
		t.Errorf("tables have %d rows, want at least %d", rows, least)
	}
}
