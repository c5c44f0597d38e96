package browser

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

//go:embed probe.js
var probeJS string

// probe brings what the tests measure with into the page.
func (p *tab) probe() {
	p.t.Helper()
	p.eval("preparing the page", probeJS, nil)
}

// A measured figure is what probe.measure returns.
type measured struct {
	Text                   string   // everything it says
	Hidden, Faint, Clipped []string // text that is not visible, that has too little contrast, that is cut off
	Images                 []struct {
		Alt                            string
		Natural, Width, Height, Colors int
	}
	Tables []struct {
		Caption     string
		Rows, Heads int
	}
	Charts            []string // labels of interactive charts, which only a trusted notebook has
	Scripts, Controls int      // likewise
}

func (p *tab) measure(i int) measured {
	p.t.Helper()
	p.eval("showing a figure", fmt.Sprintf(`probe.show(%d)`, i), nil)
	var m measured
	p.eval("measuring a figure", fmt.Sprintf(`probe.measure(%d)`, i), &m)
	return m
}

// settled measures a figure that the page draws by its own width: after a change of theme or window it is drawn again a moment
// later, on a busy machine seconds later. What is still wrong then is wrong.
func (p *tab) settled(i int) measured {
	p.t.Helper()
	until := time.Now().Add(10 * time.Second)
	for {
		m := p.measure(i)
		if !m.bad() || time.Now().After(until) {
			return m
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// bad is a figure that is hard to read.
func (m *measured) bad() bool { return len(m.Hidden)+len(m.Faint)+len(m.Clipped) > 0 }

// stored is the text of a stored face.
func (p *tab) stored(html string) string {
	p.t.Helper()
	b, err := json.Marshal(html)
	if err != nil {
		p.t.Fatal(err)
	}
	var text string
	p.eval("reading a stored figure", `probe.stored(`+string(b)+`)`, &text)
	return text
}

// check fails where a figure is not drawn as stored: anything lost, hidden, cut off or hard to read.
func (m *measured) check(t *testing.T, f *figure, said string, interactive bool) {
	t.Helper()
	if m.Text != said {
		t.Errorf("text is not what is stored:\n shown  %s\n stored %s", m.Text, said)
	}
	for what, list := range map[string][]string{"not visible": m.Hidden, "too little contrast": m.Faint, "cut off": m.Clipped} {
		if len(list) > 0 {
			t.Errorf("%s: %s", what, strings.Join(list, "; "))
		}
	}
	want := f.Charts()
	if interactive && want > 0 {
		if len(m.Charts) != want || len(m.Images) != 0 {
			t.Errorf("%d interactive charts and %d images, want %d and 0", len(m.Charts), len(m.Images), want)
		}
		for _, label := range m.Charts {
			if label != f.Data.Alt {
				t.Errorf("a chart's label for screen readers is %q, want %q", label, f.Data.Alt)
			}
		}
	} else {
		if len(m.Images) != want || len(m.Charts) != 0 {
			t.Errorf("%d images and %d interactive charts, want %d and 0", len(m.Images), len(m.Charts), want)
		}
		for _, img := range m.Images {
			if img.Natural == 0 || img.Width < 300 || img.Height < 100 || img.Colors < 5 {
				t.Errorf("an image is not drawn: %d pixels wide, shown %d × %d, %d colors", img.Natural, img.Width, img.Height, img.Colors)
			}
			if img.Alt != f.Data.Alt {
				t.Errorf("alt text %q, want %q", img.Alt, f.Data.Alt)
			}
		}
	}
	m.checkTables(t, f)
}

// checkTables compares tables with the figure's data.
func (m *measured) checkTables(t *testing.T, f *figure) {
	t.Helper()
	d := &f.Data.Data
	least := 0
	switch f.Data.Kind {
	case "decisions": // one of each module
		rows := 0
		for _, tab := range m.Tables {
			if rows += tab.Rows; tab.Heads == 0 || tab.Caption == "" {
				t.Errorf("a table with %d headings and caption %q", tab.Heads, tab.Caption)
			}
		}
		m.Tables = m.Tables[:min(len(m.Tables), 1)]
		if len(m.Tables) == 1 {
			m.Tables[0].Rows = rows
		}
		for _, s := range d.Sites {
			if s.Phase == "" || s.Phase == "forward" {
				least++
			}
		}
	case "scale_history":
		least = len(d.Skips)
	case "compare":
		least = len(d.Runs)
	case "exponents": // one of formats and scales, one of modules
		if len(m.Tables) != 2 || m.Tables[0].Rows < len(d.Formats) || m.Tables[1].Rows != len(d.Modules) || m.Tables[0].Caption == "" || m.Tables[1].Caption == "" {
			t.Errorf("tables %+v for %d formats and %d modules", m.Tables, len(d.Formats), len(d.Modules))
		}
		return
	default:
		t.Fatalf("a figure of kind %q: say here what its tables must show", f.Data.Kind)
	}
	if least == 0 {
		return
	}
	if len(m.Tables) != 1 {
		t.Fatalf("%d tables, want 1", len(m.Tables))
	}
	if got := m.Tables[0]; got.Rows < least || got.Heads == 0 || got.Caption == "" {
		t.Errorf("table with %d rows, %d headings and caption %q; want at least %d rows, headings and a caption", got.Rows, got.Heads, got.Caption, least)
	}
}
