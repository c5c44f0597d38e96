package kernel

import (
	"encoding/json"
	"sync"
)

// A pipeline is what a child's output goes through on its way to the front end, in order: figures are drawn, errors
// explained, pieces of text joined. It takes its time on a goroutine of its own, so that neither GoNB nor the kernel's
// other channels wait for a drawing.
type pipeline struct {
	draw   drawer
	speech *explainer
	output *joiner
	author author

	mu    sync.Mutex
	queue []item
	wake  chan struct{}
	ended bool
	done  chan struct{} // everything has come out
}

type item struct {
	m      *message
	update string // display id that the message updates, "" if it is no update
}

func newPipeline(d drawer, a author, send func(*message)) *pipeline {
	p := &pipeline{
		draw: d, speech: &explainer{key: a.key}, output: &joiner{key: a.key, send: send}, author: a,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go p.run()
	return p
}

// put takes a message; it never waits.
func (p *pipeline) put(m *message) {
	it := item{m, updates(m)}
	p.mu.Lock()
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
	for range p.wake {
		for {
			m, ended := p.next()
			if m == nil {
				if ended {
					p.output.expire()
					return
				}
				break
			}
			m, notes := p.draw.fill(m, p.author.key)
			p.output.put(p.speech.explain(m))
			for _, note := range notes {
				p.output.put(p.author.compose("stream", &message{header: m.parent}, streamContent{"stderr", note}))
			}
		}
	}
}

// next returns the next message, or nil. An update of a figure that waits while the one that replaces it has come already
// is left out: a live figure stays live, however long drawing takes.
func (p *pipeline) next() (m *message, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		it := p.queue[0]
		p.queue = p.queue[1:]
		if it.update == "" || !p.replaced(it.update) {
			return it.m, false
		}
	}
	p.queue = nil // let go of what the slice still holds
	return nil, p.ended
}

// replaced reports whether an update of the same display waits.
func (p *pipeline) replaced(id string) bool {
	for _, later := range p.queue {
		if later.update == id {
			return true
		}
	}
	return false
}

// updates returns the display id that a message updates, "" if it is no update.
func updates(m *message) string {
	if m.kind != "update_display_data" {
		return ""
	}
	var c struct {
		Transient struct {
			ID string `json:"display_id"`
		} `json:"transient"`
	}
	_ = json.Unmarshal(m.content, &c)
	return c.Transient.ID
}
