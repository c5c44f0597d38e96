package kernel

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zeromq/zmq4"
)

// A front is the side that Jupyter sees: five sockets on the addresses its connection file names.
type front struct {
	shell, control, stdin, iopub, heartbeat *socket
}

func listen(ctx context.Context, c connection) (*front, error) {
	f := &front{}
	for _, s := range []struct {
		name string
		dst  **socket
		port int
		make func(context.Context, ...zmq4.Option) zmq4.Socket
	}{
		{"iopub", &f.iopub, c.IOPubPort, zmq4.NewPub},
		{"heartbeat", &f.heartbeat, c.HBPort, zmq4.NewRep},
		{"stdin", &f.stdin, c.StdinPort, zmq4.NewRouter},
		{"control", &f.control, c.ControlPort, zmq4.NewRouter},
		{"shell", &f.shell, c.ShellPort, zmq4.NewRouter},
	} {
		z := s.make(ctx, quiet)
		if err := z.Listen(c.endpoint(s.port)); err != nil {
			f.finish()
			return nil, fmt.Errorf("kernel: %s: %w; is another kernel running on this connection file?", s.name, err)
		}
		*s.dst = newSocket(z)
	}
	// Answered here and by a goroutine of its own, so that a busy kernel never looks dead.
	go f.heartbeat.receive(ctx, f.heartbeat.send)
	return f, nil
}

// linger is what a front end that reads slowly may cost at the end.
const linger = 100 * time.Millisecond

// finish sends what is queued, for a moment at most, and closes the sockets.
func (f *front) finish() {
	time.Sleep(linger / 2) // the PUB socket has a queue of its own that cannot be waited for
	for _, s := range []*socket{f.shell, f.control, f.stdin, f.iopub, f.heartbeat} {
		if s != nil {
			s.finish(linger)
		}
	}
}
