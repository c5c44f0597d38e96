package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// An outflow is the last part of the way to the front end. GoNB sends a message for every write of the program: a loop that prints would
// be hundreds of thousands, each of which the notebook server and the browser take apart. As in other kernels, what is printed within a
// moment arrives together, and what a page would choke on, or the notebook server refuse, waits here for its turn. Everything leaves in
// the order in which it came.
type outflow struct {
	key  []byte
	send func(*message) // replies to cells, too
	wait time.Duration  // 0: joinFor

	mu     sync.Mutex
	queue  []*parcel
	parent []byte // header of the request that shown is about
	shown  int    // bytes of text that the cell has on the page
	credit int    // bytes of text that may leave at once
	since  time.Time
	closed bool
	wake   chan struct{}
	done   chan struct{} // everything has left
}

// A parcel is a message, or pieces of text that follow each other.
type parcel struct {
	m    *message // the first piece
	name string   // of the stream; "" for what is no text
	text bytes.Buffer
	more bool // there is more than the first piece
	came time.Time
}

const (
	joinFor  = 25 * time.Millisecond
	joinSize = 128 << 10
	// joinRate slows a page down as it fills: it lays out all of a cell's text for each piece of it, 8 MB of it in about a second.
	joinRate = 8 << 20
	// The notebook server drops what comes when it has had 3 MB of text, or 3000 messages, within three seconds (ServerApp's
	// iopub_data_rate_limit and iopub_msg_rate_limit): paceBurst and three times paceRate are less.
	// A page takes a few seconds to lay out a burst already, and lines cost it more than bytes.
	paceBurst = 1 << 19
	paceRate  = 1 << 19 // a second
	paceLeast = 1 << 10 // what a message costs, however short
	paceLine  = 40      // what a line costs above its bytes: 50,000 short ones keep a page busy for ten seconds
)

func newOutflow(key []byte, send func(*message)) *outflow {
	o := &outflow{key: key, send: send, credit: paceBurst, since: time.Now(), wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.run()
	return o
}

// put takes a message; it never waits.
func (o *outflow) put(m *message) {
	p, isText := readPiece(m)
	o.mu.Lock()
	defer o.mu.Unlock()
	if !isText {
		o.queue = append(o.queue, &parcel{m: m})
	} else if last := o.last(); last != nil && last.name == p.name && bytes.Equal(last.m.parent, m.parent) && last.text.Len() < joinSize {
		last.more = true
		last.text.Write(p.text)
		return // it wakes up for the parcel by itself
	} else {
		last = &parcel{m: m, name: p.name, came: time.Now()}
		last.text.Write(p.text)
		o.queue = append(o.queue, last)
	}
	o.nudge()
}

func (o *outflow) last() *parcel {
	if len(o.queue) == 0 {
		return nil
	}
	return o.queue[len(o.queue)-1]
}

func (o *outflow) nudge() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// finish sends what is left without waiting, and returns when all of it has left.
func (o *outflow) finish() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.nudge()
	<-o.done
}

func (o *outflow) run() {
	defer close(o.done)
	for {
		o.mu.Lock()
		m, pause, ended := o.next(time.Now())
		o.mu.Unlock()
		switch {
		case m != nil:
			o.send(m)
		case ended:
			return
		case pause > 0:
			select {
			case <-time.After(pause):
			case <-o.wake:
			}
		default:
			<-o.wake
		}
	}
}

// next returns the next message, or how long it is to wait, 0 if there is none.
func (o *outflow) next(now time.Time) (m *message, pause time.Duration, ended bool) {
	if len(o.queue) == 0 {
		o.queue = nil // let go of what the slice still holds
		return nil, 0, o.closed
	}
	p := o.queue[0]
	if !bytes.Equal(p.m.parent, o.parent) {
		o.parent, o.shown = p.m.parent, 0
	}
	if p.m.kind == "clear_output" {
		o.shown = 0
	}
	if p.name != "" {
		if pause = o.pause(p, now); pause > 0 && !o.closed {
			return nil, pause, false
		}
		o.shown += p.text.Len()
		o.credit -= p.cost()
	}
	o.queue[0] = nil
	o.queue = o.queue[1:]
	return p.message(o.key), 0, false
}

// pause is how long the text at the head of the queue is to wait: for more of it, where nothing follows yet, and for its turn.
func (o *outflow) pause(p *parcel, now time.Time) time.Duration {
	o.credit = min(paceBurst, o.credit+int(now.Sub(o.since).Seconds()*paceRate))
	o.since = now
	var wait time.Duration
	if len(o.queue) == 1 && p.text.Len() < joinSize {
		join := o.wait
		if join == 0 {
			join = max(joinFor, time.Duration(o.shown)*time.Second/joinRate)
		}
		wait = join - now.Sub(p.came)
	}
	if short := min(p.cost(), paceBurst) - o.credit; short > 0 {
		wait = max(wait, time.Duration(short)*time.Second/paceRate+time.Millisecond)
	}
	return wait
}

func (p *parcel) cost() int {
	return max(paceLeast, p.text.Len()+paceLine*bytes.Count(p.text.Bytes(), []byte(`\n`)))
}

// message is the parcel as it is sent. A single piece goes as it came.
func (p *parcel) message(key []byte) *message {
	if !p.more {
		return p.m
	}
	return p.m.withContent(piece{name: p.name, text: p.text.Bytes()}.content(), key)
}

// condense leaves out what waits here, all but the end of it: nobody wants to see what a cell that prints without end, or was stopped, has
// printed before. why ends the note on that.
func (o *outflow) condense(keep int, a author, why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	size := 0
	for _, p := range o.queue {
		size += p.text.Len()
	}
	if size <= 2*keep {
		return
	}
	lines, left, first := 0, 0, -1 // first: where something is left out
	var rest []*parcel
	for _, p := range o.queue {
		n := p.text.Len()
		if cut := min(n, size-keep); cut > 0 {
			if first < 0 {
				first = len(rest)
			}
			l, b := p.drop(cut)
			lines, left = lines+l, left+b
		}
		if size -= n; n == 0 || p.text.Len() > 0 {
			rest = append(rest, p)
		}
	}
	note := fmt.Sprintf("\nhalftone: %s, %d lines that were on their way%s are left out here.\n", sizeText(left), lines, why)
	said := &parcel{m: a.compose("stream", &message{header: o.queue[0].m.parent}, streamContent{"stderr", note}), name: "stderr"}
	p, _ := readPiece(said.m)
	said.text.Write(p.text)
	o.queue = slices.Insert(rest, first, said)
	o.nudge()
}

// drop takes about n bytes of JSON from the beginning of a parcel, up to the end of a line unless that is far, and returns what was in them.
func (p *parcel) drop(n int) (lines, size int) {
	var text string
	_ = json.Unmarshal(fmt.Appendf(nil, `"%s"`, p.text.Bytes()), &text) // readPiece has seen that it can
	if n = len(text) * n / p.text.Len(); n < len(text) {
		n = runeStart(text, n)
		if i := strings.IndexByte(text[n:], '\n'); i >= 0 && i < 1<<10 {
			n += i + 1
		}
	}
	rest := mustJSON(text[n:])
	p.text.Reset()
	p.text.Write(rest[1 : len(rest)-1])
	p.more = true
	return strings.Count(text[:n], "\n"), n
}

// streamContent is the content of a stream message.
type streamContent struct {
	Name string `json:"name"`
	Text string `json:"text"`
}
