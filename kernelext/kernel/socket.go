package kernel

import (
	"context"
	"io"
	"log"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// zmq4 reports peers that hang up during a handshake to its logger: port scans would fill Jupyter's terminal.
var quiet = zmq4.WithLogger(log.New(io.Discard, "", 0))

// A socket sends without blocking whoever has something to say: a peer that reads slowly must not hold up the others.
type socket struct {
	zmq4.Socket
	mu     sync.Mutex
	queue  [][][]byte
	wake   chan struct{}
	closed chan struct{}
	once   sync.Once
	done   chan struct{} // closed when the sender has ended
}

func newSocket(s zmq4.Socket) *socket {
	k := &socket{Socket: s, wake: make(chan struct{}, 1), closed: make(chan struct{}), done: make(chan struct{})}
	go k.sender()
	return k
}

// send queues frames; they go out in order.
func (k *socket) send(frames [][]byte) {
	k.mu.Lock()
	k.queue = append(k.queue, frames)
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *socket) sender() {
	defer close(k.done)
	for {
		select {
		case <-k.wake:
		case <-k.closed:
			k.drain()
			return
		}
		k.drain()
	}
}

func (k *socket) drain() {
	for {
		k.mu.Lock()
		batch := k.queue
		k.queue = nil
		k.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, frames := range batch {
			// An error means that the peer is gone; what was for it is lost by nature.
			_ = k.SendMulti(zmq4.NewMsgFrom(frames...))
		}
	}
}

// receive calls f with the frames of each message until the socket is closed or its peer is gone.
func (k *socket) receive(ctx context.Context, f func(frames [][]byte)) {
	for ctx.Err() == nil {
		m, err := k.Recv()
		if err != nil {
			return
		}
		if m.Type == zmq4.UsrMsg {
			f(m.Frames)
		}
	}
}

// finish sends what is queued, for as long as patience lasts, and closes the socket.
func (k *socket) finish(patience time.Duration) {
	k.once.Do(func() { close(k.closed) })
	select {
	case <-k.done:
	case <-time.After(patience):
	}
	_ = k.Close()
}
