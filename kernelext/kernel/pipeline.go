package kernel

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A pipeline is what a child's output goes through on its way to the front end, in order: figures are drawn, errors
// explained, pieces of text joined. It takes its time on a goroutine of its own, so that neither GoNB nor the kernel's
// other channels wait for a drawing. Only the reply to a cell does: programs that run notebooks wait for what a cell has shown some
// seconds from its reply on (four, nbclient) and leave out what comes later.
type pipeline struct {
	draw   *drawer
	live   *liveFigures
	trace  *tracer
	speech *explainer
	dam    *dam
	output *outflow
	author author
	noted  map[string]bool // what the user was told about the figures of this cell
	parent string          // header of the request that noted is about
	late   time.Duration   // lateFor; 0: what comes after the end of a cell is not waited for

	mu      sync.Mutex
	queue   []item
	waiting map[string]int // live updates in the queue, by item.update
	cells   int            // that have been idle
	wake    chan struct{}
	ended   bool
	done    chan struct{} // everything has come out
}

type item struct {
	m      *message
	update string // names cell and display of the live figure that the message updates, "" if it is none that runs
}

func newPipeline(d *drawer, a author, cells, root string, send, reply func(*message)) *pipeline {
	output := newOutflow(a.key, func(m *message) {
		if isCellReply(m) {
			reply(m)
		} else {
			send(m)
		}
	})
	p := &pipeline{
		draw: d, live: newLiveFigures(), trace: &tracer{key: a.key, cells: cells}, speech: &explainer{key: a.key, cells: cells, root: root},
		dam: &dam{author: a, send: output.put, first: floodLimit(), shown: showLimit(), flood: func() { output.condense(floodNews, a, "") }}, output: output, author: a,
		late: lateFor, waiting: map[string]int{}, wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go p.run()
	return p
}

// put takes a message; it never waits.
func (p *pipeline) put(m *message) {
	it := item{m: m}
	id, running := liveUpdate(m)
	idle := isIdle(m)
	p.mu.Lock()
	if idle {
		p.cells++
	}
	if running && m.kind == "update_display_data" {
		it.update = fmt.Sprint(p.cells, " ", id)
		p.waiting[it.update]++
	}
	p.queue = append(p.queue, it)
	p.mu.Unlock()
	p.nudge()
}

// end closes the pipeline: done is closed when what is in it has come out.
func (p *pipeline) end() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.nudge()
}

func (p *pipeline) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pipeline) run() {
	defer close(p.done)
	for {
		m, ended := p.next()
		if m != nil {
			p.pass(m)
			continue
		}
		if ended {
			p.show(p.live.finish("", p.author))
			for _, m := range p.trace.flush() {
				p.say(m)
			}
			for _, m := range p.speech.trace.flush(p.author.key) {
				p.dam.put(m)
			}
			p.dam.end()
			p.output.finish()
			return
		}
		p.show(p.live.held(time.Now()))
		select {
		case <-p.wake:
		case <-p.live.due(time.Now()):
		case <-p.dam.due(time.Now()):
			p.dam.sample(time.Now())
		}
	}
}

// pass sends a message on, with what comes before it: live figures get their final state before their cell is idle.
func (p *pipeline) pass(m *message) {
	if isCellReply(m) {
		p.output.put(m)
		return
	}
	if isIdle(m) {
		p.catchLate(m.parentID())
		p.show(p.live.finish(m.parentID(), p.author))
	}
	p.show(p.live.take(m, time.Now(), p.author))
}

// lateFor is how long a cell that left a live figure running, because it was killed perhaps, is not over yet: GoNB has one goroutine for
// what a program shows and another for its end, and the last state may come after the end.
const lateFor = 50 * time.Millisecond

// catchLate takes what a cell that has ended with a live figure running still shows.
func (p *pipeline) catchLate(parent string) {
	if p.late == 0 || len(p.live.inOrder(parent)) == 0 {
		return
	}
	time.Sleep(p.late)
	p.mu.Lock()
	var late []*message
	p.queue = slices.DeleteFunc(p.queue, func(it item) bool {
		id, _ := liveUpdate(it.m)
		if id == "" || it.m.parentID() != parent {
			return false
		}
		late = append(late, it.m)
		if it.update != "" {
			if p.waiting[it.update]--; p.waiting[it.update] == 0 {
				delete(p.waiting, it.update)
			}
		}
		return true
	})
	p.mu.Unlock()
	for _, m := range late {
		p.show(p.live.take(m, time.Now(), p.author))
	}
}

// isCellReply says whether a message answers a cell, and so comes behind what the cell has shown.
func isCellReply(m *message) bool { return m.kind == "execute_reply" }

// show draws messages and sends them.
func (p *pipeline) show(list []*message) {
	for _, m := range list {
		m, notes := p.draw.fill(m, p.author.key)
		for _, m := range p.trace.pass(m) {
			p.say(m)
		}
		p.note(m, notes)
	}
}

// say sends what is left of a message when errors are explained.
func (p *pipeline) say(m *message) {
	for _, m := range p.speech.explain(m) {
		p.dam.put(m)
	}
}

// note tells the user what is wrong with a figure: once in each cell, for a figure may be updated for hours.
func (p *pipeline) note(m *message, notes []string) {
	if len(notes) == 0 {
		return
	}
	if parent := string(m.parent); parent != p.parent || p.noted == nil {
		p.parent, p.noted = parent, map[string]bool{}
	}
	for _, note := range notes {
		if p.noted[note] {
			continue
		}
		p.noted[note] = true
		p.dam.put(p.author.compose("stream", &message{header: m.parent}, streamContent{"stderr", note}))
	}
}

// next returns the next message, or nil. The update of a live figure that waits while the one that replaces it has come
// already is left out: it stays live, however long drawing takes. Nothing else is.
func (p *pipeline) next() (m *message, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		it := p.queue[0]
		p.queue[0] = item{}
		p.queue = p.queue[1:]
		if it.update == "" {
			return it.m, false
		}
		if p.waiting[it.update]--; p.waiting[it.update] == 0 {
			delete(p.waiting, it.update)
			return it.m, false
		}
	}
	p.queue = nil // let go of what the slice still holds
	return nil, p.ended
}
