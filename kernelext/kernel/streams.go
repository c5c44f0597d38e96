package kernel

import (
	"bytes"
	"cmp"
	"sync"
	"time"
)

// A joiner puts pieces of a cell's output that follow each other into one message. GoNB sends one for every write of the
// program: a loop that prints would be hundreds of thousands, each of which the notebook server and the browser take
// apart. As in other kernels, what is printed within a moment arrives together.
type joiner struct {
	key  []byte
	send func(*message)
	wait time.Duration // 0: joinFor

	mu    sync.Mutex
	held  *message // the first piece
	name  string
	text  bytes.Buffer // of pieces
	more  bool         // there is more than the first piece
	timer *time.Timer
}

const (
	joinFor  = 25 * time.Millisecond
	joinSize = 32 << 10
)

// streamContent is the content of a stream message.
type streamContent struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// put takes a message; it is sent on in its place, perhaps a moment later.
func (j *joiner) put(m *message) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p, ok := readPiece(m)
	if !ok {
		j.flush()
		j.send(m)
		return
	}
	if j.held != nil && (p.name != j.name || !bytes.Equal(m.parent, j.held.parent)) {
		j.flush()
	}
	if j.held == nil {
		j.held, j.name = m, p.name
		j.timer = time.AfterFunc(cmp.Or(j.wait, joinFor), j.expire)
	} else {
		j.more = true
	}
	j.text.Write(p.text)
	if j.text.Len() >= joinSize {
		j.flush()
	}
}

func (j *joiner) expire() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flush() // perhaps of a later piece than the timer was for: it is only sent sooner
}

// flush sends what is held. A single piece goes as it came.
func (j *joiner) flush() {
	if j.held == nil {
		return
	}
	j.timer.Stop()
	m := j.held
	if j.more {
		m = m.withContent(piece{name: j.name, text: j.text.Bytes()}.content(), j.key)
	}
	j.held, j.more = nil, false
	j.text.Reset()
	j.send(m)
}
