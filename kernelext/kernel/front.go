package kernel

import (
	"cmp"
	"fmt"
	"time"

	"github.com/halftone-ml/halftone/kernelext/kernel/zmtp"
)

// A front is the side that Jupyter sees: five sockets on the addresses its connection file names.
type front struct {
	shell, control, stdin, iopub, heartbeat outlet
}

// An outlet is a socket of the front. Sending never waits for a peer.
type outlet struct{ *zmtp.Server }

func (o outlet) send(m *message) { o.Send(m.frames(), m.essential()) }

// handlers take what front ends send; each is called by the goroutine of one connection.
type handlers struct {
	shell, control, stdin func(frames [][]byte)
	welcome               func(topic []byte) [][]byte
}

func listen(c connection, h handlers) (*front, error) {
	type opener func(network, address string) (*zmtp.Server, error)
	router := func(handle func([][]byte)) opener {
		return func(network, address string) (*zmtp.Server, error) {
			return zmtp.Listen(zmtp.Router, network, address, handle)
		}
	}
	f := &front{}
	for _, s := range []struct {
		name string
		dst  *outlet
		port int
		open opener
	}{
		{"iopub", &f.iopub, c.IOPubPort, func(network, address string) (*zmtp.Server, error) {
			return zmtp.ListenPub(network, address, unread(), h.welcome)
		}},
		// Answered by the socket itself, so that a busy kernel never looks dead.
		{"heartbeat", &f.heartbeat, c.HBPort, func(network, address string) (*zmtp.Server, error) {
			return zmtp.Listen(zmtp.Echo, network, address, nil)
		}},
		{"stdin", &f.stdin, c.StdinPort, router(h.stdin)},
		{"control", &f.control, c.ControlPort, router(h.control)},
		{"shell", &f.shell, c.ShellPort, router(h.shell)},
	} {
		server, err := s.open(c.address(s.port))
		if err != nil {
			f.finish()
			return nil, fmt.Errorf("kernel: %s: %w; is another kernel running on this connection file?", s.name, err)
		}
		*s.dst = outlet{server}
	}
	return f, nil
}

// unread is how many bytes wait for a front end that takes a cell's output more slowly than the cell gives it: all that the dam lets pass of
// one cell, which is three times its limit, and what JSON adds to it.
func unread() int { return 4 * cmp.Or(floodLimit(), floodShows) }

// linger is what a front end that reads slowly may cost at the end.
const linger = 300 * time.Millisecond

// finish sends what is queued, for a moment at most, and closes the sockets.
func (f *front) finish() {
	for _, s := range []outlet{f.shell, f.control, f.stdin, f.iopub, f.heartbeat} {
		if s.Server != nil {
			_ = s.Close(linger)
		}
	}
}
