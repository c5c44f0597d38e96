package kernel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"unicode/utf8"
)

// A dam bounds what one cell prints and shows, so that a loop that prints or draws for ever ends neither the browser nor the notebook's
// file: the beginning goes through, of the rest the end is kept and shown when the cell ends, and what is left out is counted and said.
type dam struct {
	author author
	send   func(*message)
	first  int // bytes of each stream, and of displays, that go through; 0: floodFirst
	last   int // bytes kept of the rest; 0: floodLast

	parent  []byte // header of the request that the rest is about
	streams [2]flood
	shows   gallery
}

// A flood is one stream of a cell.
type flood struct {
	name  string
	seen  int    // bytes that went through
	rest  []byte // the end of what did not
	bytes int    // left out
	lines int    // that ended in what was left out
}

const (
	// floodFirst is what notebooks print on purpose, datasets included; a loop that prints for ever passes it within seconds.
	floodFirst = 64 << 20
	floodLast  = 64 << 10
	// floodEnv sets how many MiB a cell may print on each stream, and show.
	floodEnv = "HALFTONE_OUTPUT_MB"
)

// floodLimit is the limit in bytes that the environment asks for, 0 for ours.
func floodLimit() int {
	n, err := strconv.Atoi(os.Getenv(floodEnv))
	if err != nil || n < 1 || n > 1<<20 {
		return 0
	}
	return n << 20
}

// put takes a message and sends it on, or holds it back. Messages come in order.
func (d *dam) put(m *message) {
	if !bytes.Equal(m.parent, d.parent) {
		d.end()
		d.parent = m.parent
	}
	switch {
	case m.kind == "clear_output":
		d.streams, d.shows = [2]flood{}, gallery{}
	case m.kind == "display_data" && !d.hang(m), m.kind == "update_display_data" && d.shows.replace(m, d.author.key):
		return
	case m.kind == "error" || isIdle(m):
		d.end()
	default:
		if p, ok := readPiece(m); ok && !d.pass(m, p) {
			return
		}
	}
	d.send(m)
}

// pass reports whether a piece of a stream goes through as it is.
func (d *dam) pass(m *message, p piece) bool {
	f := &d.streams[0]
	if p.name == "stderr" {
		f = &d.streams[1]
	}
	f.name = p.name
	limit := cmp.Or(d.first, floodFirst)
	free := limit - f.seen
	f.seen += p.size
	if p.size <= free {
		return true
	}
	var c streamContent
	_ = json.Unmarshal(m.content, &c) // readPiece has seen that it can
	if free >= 0 {                    // the first piece that is too much
		f.seen = limit + 1
		cut := runeStart(c.Text, free)
		if cut > 0 {
			d.send(m.withContent(mustJSON(streamContent{c.Name, c.Text[:cut]}), d.author.key))
		}
		d.say("stderr", fmt.Sprintf("\nhalftone: this cell has printed %s on %s; from here on only the end is kept, and shown when the cell ends. "+
			"Print less often, or write to a file; %s=N starts the kernel with N MiB for a cell.\n", sizeText(limit), c.Name, floodEnv))
		c.Text = c.Text[cut:]
	}
	f.hold(c.Text, cmp.Or(d.last, floodLast))
	return false
}

// hold keeps the end of what a stream prints.
func (f *flood) hold(text string, last int) {
	f.rest = append(f.rest, text...)
	if len(f.rest) > 2*last {
		f.drop(len(f.rest) - last)
	}
}

// drop leaves out the first n bytes, and what is left of their last line if it is short.
func (f *flood) drop(n int) {
	n = runeStart(string(f.rest), n)
	if i := bytes.IndexByte(f.rest[n:], '\n'); i >= 0 && i < 1<<10 {
		n += i + 1
	}
	f.bytes += n
	f.lines += bytes.Count(f.rest[:n], []byte("\n"))
	f.rest = append(f.rest[:0], f.rest[n:]...)
}

// end shows the ends of what was held back.
func (d *dam) end() {
	last := cmp.Or(d.last, floodLast)
	for _, f := range d.streams {
		if len(f.rest) > last {
			f.drop(len(f.rest) - last)
		}
		if f.bytes > 0 {
			d.say("stderr", fmt.Sprintf("halftone: %s, %d lines of %s are left out here; its end follows.\n", sizeText(f.bytes), f.lines, f.name))
		}
		if len(f.rest) > 0 {
			d.say(f.name, string(f.rest))
		}
	}
	d.streams = [2]flood{}
	d.takeDown()
}

func (d *dam) say(name, text string) {
	d.send(d.author.compose("stream", &message{header: d.parent}, streamContent{name, text}))
}

// runeStart is the last place up to n where a character begins.
func runeStart(s string, n int) int {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

func sizeText(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", (n+1023)>>10)
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}
