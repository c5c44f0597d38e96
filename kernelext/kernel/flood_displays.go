package kernel

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// A gallery is what one cell displays: figures, tables, HTML. Updates of a display that is shown take its place and are not counted.
type gallery struct {
	seen  int      // bytes that went through
	full  bool     // from here on only the last one is kept
	last  *message // the last display, held back until the cell ends
	count int      // displays left out, without last
	bytes int      // of those
}

// hang reports whether a display goes through. One that does not is held back, and the one held before it is left out.
func (d *dam) hang(m *message) bool {
	g := &d.shows
	n, limit := weight(m), cmp.Or(d.shown, floodShows)
	if !g.full && n <= limit-g.seen {
		g.seen += n
		return true
	}
	if !g.full {
		g.full = true
		d.say("stderr", fmt.Sprintf("\nhalftone: this cell has displayed %s of figures and other output; from here on only the last display is kept, and shown when "+
			"the cell ends. Display less often, or update one display; %s=N starts the kernel with N MiB for a cell.\n", sizeText(g.seen), floodEnv))
	}
	if g.last != nil {
		g.count++
		g.bytes += weight(g.last)
	}
	g.last = m
	return false
}

// replace gives the display that is held back what an update of it shows, and reports whether the update is of that one.
func (g *gallery) replace(m *message, key []byte) bool {
	id := displayID(m)
	if g.last == nil || id == "" || id != displayID(g.last) {
		return false
	}
	c := g.last.withContent(m.content, key)
	c.buffers = m.buffers
	g.last = c
	return true
}

// takeDown shows the display that was held back, behind how many are left out.
func (d *dam) takeDown() {
	g := d.shows
	d.shows = gallery{}
	if g.count > 0 {
		what := "displays"
		if g.count == 1 {
			what = "display"
		}
		d.say("stderr", fmt.Sprintf("halftone: %d %s (%s) left out here; the last one follows.\n", g.count, what, sizeText(g.bytes)))
	}
	if g.last != nil {
		d.send(g.last)
	}
}

// weight is the bytes that a display adds to a notebook.
func weight(m *message) int {
	n := len(m.content)
	for _, b := range m.buffers {
		n += len(b)
	}
	return n
}

// displayID names the display that a message shows or updates, "" if it has no name.
func displayID(m *message) string {
	var c struct {
		Transient struct {
			ID string `json:"display_id"`
		} `json:"transient"`
	}
	if json.Unmarshal(m.content, &c) != nil {
		return ""
	}
	return c.Transient.ID
}
