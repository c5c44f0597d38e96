package zmtp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// HandshakeTimeout is how long a peer may take to introduce itself.
const HandshakeTimeout = 10 * time.Second

// MaxQueue is how many bytes wait for a peer that does not read, where ListenPub names no other number. What comes then is lost for it, as
// ZeroMQ has it, except for what is marked as essential, which is small: without it a front end would wait for ever.
const MaxQueue = 64 << 20

// A peer is one connection.
type peer struct {
	conn   net.Conn
	in     *bufio.Reader
	id     string
	topics []string // of a subscriber

	mu      sync.Mutex
	queue   [][]byte
	size    int
	most    int // bytes that may wait
	wake    chan struct{}
	closing bool
	done    chan struct{} // the writer has ended
}

// handshake introduces both sides and returns the peer, or an error when it is not one for this kind of socket.
func handshake(conn net.Conn, kind Kind) (*peer, error) {
	if err := conn.SetDeadline(time.Now().Add(HandshakeTimeout)); err != nil {
		return nil, err
	}
	p := &peer{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), most: MaxQueue, wake: make(chan struct{}, 1), done: make(chan struct{})}
	if _, err := conn.Write(greeting()); err != nil {
		return nil, err
	}
	theirs := make([]byte, greetingSize)
	// Peers of an older version wait after eleven bytes: they are told no at once.
	if _, err := io.ReadFull(p.in, theirs[:11]); err != nil {
		return nil, err
	}
	if theirs[0] != 0xff || theirs[10] < 3 {
		return nil, checkGreeting(theirs)
	}
	if _, err := io.ReadFull(p.in, theirs[11:]); err != nil {
		return nil, err
	}
	if err := checkGreeting(theirs); err != nil {
		return nil, err
	}
	if _, err := conn.Write(ready(kind.name)); err != nil {
		return nil, err
	}
	f, err := readFrame(p.in, 4<<10)
	if err != nil {
		return nil, err
	}
	properties, err := parseReady(f.body)
	if err != nil {
		return nil, err
	}
	if t := properties["socket-type"]; !f.command || !slices.Contains(kind.peers, t) {
		return nil, fmt.Errorf("zmtp: a %s cannot talk to a %s", t, kind.name)
	}
	p.id = properties["identity"]
	return p, conn.SetDeadline(time.Time{})
}

// read returns the next message.
func (p *peer) read() ([][]byte, error) {
	var frames [][]byte
	size := 0
	for {
		f, err := readFrame(p.in, MaxMessage-size)
		if err != nil {
			return nil, err
		}
		if f.command {
			p.command(f.body)
			continue
		}
		size += len(f.body) + 16 // an endless row of empty frames is an attack, too
		if frames = append(frames, f.body); !f.more {
			return frames, nil
		}
	}
}

// command answers a ping and follows subscriptions; what else there may be is not for us.
func (p *peer) command(body []byte) {
	if context, ok := bytes.CutPrefix(body, []byte("\x04PING")); ok && len(context) >= 2 {
		p.push(appendFrame(nil, append([]byte("\x04PONG"), context[2:]...), flagCommand), true)
	}
}

// subscribe follows a subscriber's message: 1 or 0, then a topic.
func (p *peer) subscribe(frames [][]byte, welcome func(topic []byte) [][]byte) {
	if len(frames) != 1 || len(frames[0]) == 0 {
		return
	}
	topic := string(frames[0][1:])
	p.mu.Lock()
	defer p.mu.Unlock()
	switch frames[0][0] {
	case 1:
		if len(p.topics) < 1000 {
			p.topics = append(p.topics, topic)
			if welcome != nil {
				if m := welcome([]byte(topic)); len(m) > 0 {
					p.pushLocked(appendMessage(nil, m), true)
				}
			}
		}
	case 0:
		if i := slices.Index(p.topics, topic); i >= 0 {
			p.topics = slices.Delete(p.topics, i, i+1)
		}
	}
}

func (p *peer) wants(topic []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.topics, func(t string) bool { return strings.HasPrefix(string(topic), t) })
}

// push queues bytes for the peer.
func (p *peer) push(b []byte, essential bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pushLocked(b, essential)
}

func (p *peer) pushLocked(b []byte, essential bool) {
	if p.closing || p.size > 0 && p.size+len(b) > p.most && !essential || p.size > 2*p.most {
		return
	}
	p.queue = append(p.queue, b)
	p.size += len(b)
	p.nudge()
}

func (p *peer) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// write sends what is queued until the connection ends or the peer is closed and its queue is empty.
func (p *peer) write() {
	defer close(p.done)
	for range p.wake {
		for {
			p.mu.Lock()
			batch, closing := net.Buffers(p.queue), p.closing
			p.queue = nil
			p.mu.Unlock()
			if len(batch) == 0 {
				if closing {
					return
				}
				break
			}
			n, err := batch.WriteTo(p.conn)
			p.mu.Lock()
			p.size -= int(n)
			p.mu.Unlock()
			if err != nil {
				p.conn.Close() // the reader ends and removes the peer
				p.mu.Lock()
				p.closing = true
				p.mu.Unlock()
				return
			}
		}
	}
}

// finish sends what is queued, for as long as patience lasts, and closes the connection.
func (p *peer) finish(patience time.Duration) {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	p.nudge()
	select {
	case <-p.done:
	case <-time.After(patience):
	}
	p.conn.Close()
}
