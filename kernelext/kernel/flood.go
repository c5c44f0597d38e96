package kernel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A dam bounds what one cell prints and shows, so that a loop that prints or draws for ever ends neither the browser nor the notebook's
// file: the beginning goes through, of the rest the newest lines now and then, and the end when the cell ends; what is left out is counted
// and said.
type dam struct {
	author author
	send   func(*message)
	first  int    // bytes of each stream that go through; 0: floodText
	shown  int    // bytes of displays that do; 0: floodShows
	last   int    // bytes kept of the rest; 0: floodLast
	flood  func() // is called when there is too much; nil: nothing

	parent  []byte // header of the request that the rest is about
	streams [2]flood
	shows   gallery
	turn    string    // the stream that was written to last
	began   time.Time // when there was too much
	sampled time.Time // when the newest lines were shown last
	samples int       // bytes of those
}

// A flood is one stream of a cell.
type flood struct {
	name  string
	seen  int    // bytes that went through, and what turns cost
	turns int    // pieces among them that another stream's came before
	rest  []byte // the end of what did not
	open  bool   // what was shown of that ended within a line
	bytes int    // left out
	lines int    // that ended in what was left out
}

const (
	// floodText is more than notebooks print on purpose, and what JupyterLab still lays out while one waits: with twice as much a page
	// needs seconds to answer. A loop that prints for ever passes it within seconds.
	floodText = 4 << 20
	// floodShows is for pictures, which cost a page less.
	floodShows = 64 << 20
	floodLast  = 32 << 10
	floodNews  = 2 << 10 // of the newest lines, shown while the cell goes on
	newsEvery  = time.Second
	// floodEnv sets how many MiB a cell may print on each stream, and how many it may show where that is more than floodShows.
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

// showLimit is that of displays: who wants more text wants no fewer pictures.
func showLimit() int { return max(floodLimit(), floodShows) }

// put takes a message and sends it on, or holds it back. Messages come in order.
func (d *dam) put(m *message) {
	if !bytes.Equal(m.parent, d.parent) {
		d.end()
		d.parent = m.parent
	}
	switch {
	case m.kind == "clear_output":
		d.streams, d.shows, d.samples = [2]flood{}, gallery{}, 0
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
	limit := cmp.Or(d.first, floodText)
	free, cost := limit-f.seen, p.size
	if p.name != d.turn {
		d.turn, cost = p.name, cost+limit>>12 // pieces that cannot be joined cost more
		f.turns++
	}
	f.seen += cost
	if cost <= free {
		return true
	}
	var c streamContent
	_ = json.Unmarshal(m.content, &c) // readPiece has seen that it can
	if free >= 0 {                    // the first piece that is too much
		f.seen = limit + 1
		cut := runeStart(c.Text, min(free, len(c.Text))) // with what its turn costs even a piece that fits is too much
		if cut > 0 {
			d.send(m.withContent(mustJSON(streamContent{c.Name, c.Text[:cut]}), d.author.key))
		}
		if d.flood != nil {
			d.flood()
		}
		d.say("stderr", fmt.Sprintf("\nhalftone: this cell has printed %s, and a page does not bear much more; from here on the newest lines are shown now and "+
			"then, and the end when the cell ends. Print less often, or write to a file, which gets all of it: f, _ := os.Create(\"out.txt\"), then fmt.Fprintln(f, …). "+
			"%s=N in the kernel's environment allows N MiB.\n", f.printed(limit), floodEnv))
		c.Text = c.Text[cut:]
		d.began, d.sampled = time.Now(), time.Now()
	}
	f.hold(c.Text, cmp.Or(d.last, floodLast))
	if now := time.Now(); now.Sub(d.sampled) >= d.newsPause(now) {
		d.sample(now)
	}
	return false
}

// printed says how much of a stream went through until it reached the limit.
func (f *flood) printed(limit int) string {
	turns := f.turns * (limit >> 12)
	if turns < limit/2 {
		return fmt.Sprintf("%s on %s", sizeText(limit), f.name)
	}
	return fmt.Sprintf("%s on %s, in %d pieces between those of the other stream", sizeText(max(1, limit-turns)), f.name, f.turns)
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

// newsPause is the time between two looks at what is held back: longer and longer, so that a cell that prints for days fills no page.
func (d *dam) newsPause(now time.Time) time.Duration {
	if d.samples < cmp.Or(d.first, floodText)/4 {
		return newsEvery
	}
	return max(newsEvery, now.Sub(d.began)/8)
}

// due tells when held lines are to be shown though nothing more is printed; nil where none is held.
func (d *dam) due(now time.Time) <-chan time.Time {
	if len(d.streams[0].rest)+len(d.streams[1].rest) == 0 {
		return nil
	}
	return time.After(d.sampled.Add(d.newsPause(now)).Sub(now))
}

// sample shows the newest lines of what was held back.
func (d *dam) sample(now time.Time) {
	d.sampled = now
	for i := range d.streams {
		f := &d.streams[i]
		if len(f.rest) == 0 {
			continue
		}
		if len(f.rest) > floodNews {
			f.drop(len(f.rest) - floodNews)
		}
		text := string(f.rest)
		if f.bytes > 0 {
			text = fmt.Sprintf("… halftone: %s, %d lines of %s are left out …\n", sizeText(f.bytes), f.lines, f.name) + text
			if f.open {
				text = "\n" + text
			}
		}
		f.open = !strings.HasSuffix(text, "\n")
		f.rest, f.bytes, f.lines = f.rest[:0], 0, 0
		d.samples += len(text)
		d.say(f.name, text)
	}
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
	d.streams, d.turn, d.samples = [2]flood{}, "", 0
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
