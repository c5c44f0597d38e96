package zmtp

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Kind is a kind of socket.
type Kind struct {
	name  string
	peers []string // socket types that may connect
}

var (
	// Router hands messages to its handler with the peer's identity in front, and sends to the peer that the first frame
	// names.
	Router = Kind{"ROUTER", []string{"DEALER", "REQ", "ROUTER"}}

	// Pub sends to every peer that has subscribed to the message's first frame, or a beginning of it.
	Pub = Kind{"PUB", []string{"SUB", "XSUB"}}

	// Echo returns every message to its sender: a kernel's heartbeat.
	Echo = Kind{"REP", []string{"REQ", "DEALER"}}
)

// A Server is a listening socket. Its methods may be called from any goroutine.
type Server struct {
	kind     Kind
	listener net.Listener
	handle   func(frames [][]byte)
	welcome  func(topic []byte) [][]byte
	queue    int // bytes that may wait for a peer, 0: MaxQueue

	mu     sync.Mutex
	peers  map[*peer]bool
	byID   map[string]*peer
	open   map[net.Conn]bool // also those that have not introduced themselves
	closed bool
	wg     sync.WaitGroup
}

// Listen opens a socket at an address of network "tcp" or "unix". Handle, which only a Router needs, is called with the
// messages of each peer in their order; while it has not returned, no more is read from that peer.
func Listen(kind Kind, network, address string, handle func(frames [][]byte)) (*Server, error) {
	return listen(&Server{kind: kind, handle: handle}, network, address)
}

// ListenPub opens a Pub that greets: whoever subscribes to a topic gets, before anything else under that topic, the message
// that welcome returns for it (none when it is empty). So a subscriber can know that it misses nothing from here on, as long as no more
// than queue bytes wait for it.
func ListenPub(network, address string, queue int, welcome func(topic []byte) [][]byte) (*Server, error) {
	return listen(&Server{kind: Pub, welcome: welcome, queue: queue}, network, address)
}

func listen(s *Server, network, address string) (*Server, error) {
	if network == "unix" {
		removeStale(address)
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	if network == "unix" {
		if err := os.Chmod(address, 0o600); err != nil {
			l.Close()
			return nil, err
		}
	}
	s.listener, s.peers, s.byID, s.open = l, map[*peer]bool{}, map[string]*peer{}, map[net.Conn]bool{}
	s.wg.Go(s.accept)
	return s, nil
}

// removeStale removes a socket on which nobody listens any more: a kernel that was killed cannot remove its own, and the
// one that is started in its place has the same connection file.
func removeStale(path string) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSocket == 0 {
		return
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
		return
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		_ = os.Remove(path)
	}
}

// Addr is the address that the socket listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			s.mu.Lock()
			closed := s.closed
			s.mu.Unlock()
			if closed {
				return
			}
			time.Sleep(20 * time.Millisecond) // out of file descriptors, for a while
			continue
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			conn.Close()
			return
		}
		s.open[conn] = true
		s.mu.Unlock()
		s.wg.Go(func() { s.serve(conn) })
	}
}

// serve is the life of a connection.
func (s *Server) serve(conn net.Conn) {
	defer func() {
		conn.Close()
		s.mu.Lock()
		delete(s.open, conn)
		s.mu.Unlock()
	}()
	p, err := handshake(conn, s.kind)
	if err != nil {
		return
	}
	p.most = cmp.Or(s.queue, p.most)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.peers[p] = true
	s.name(p)
	s.mu.Unlock()
	go p.write()
	defer func() {
		s.mu.Lock()
		delete(s.peers, p)
		if s.byID[p.id] == p {
			delete(s.byID, p.id)
		}
		s.mu.Unlock()
		p.finish(0)
	}()
	for {
		frames, err := p.read()
		if err != nil {
			return
		}
		switch s.kind.name {
		case Pub.name:
			p.subscribe(frames, s.welcome)
		case Echo.name:
			p.push(appendMessage(nil, frames), false)
		default:
			s.mu.Lock()
			id := p.id
			s.mu.Unlock()
			s.handle(append([][]byte{[]byte(id)}, frames...))
		}
	}
}

// name registers a peer under the identity it has chosen, or gives it one. A client that comes back takes over its
// identity, since its old connection may be dead without our knowing; should the old one live, as with two clients of one
// session, it goes on under another name and gets the answers to what it asks from now on.
func (s *Server) name(p *peer) {
	fresh := func() string { return "\x00" + rand.Text() } // no peer can choose one that begins with zero
	if p.id == "" || p.id[0] == 0 {
		p.id = fresh()
	}
	if old := s.byID[p.id]; old != nil {
		old.id = fresh()
		s.byID[old.id] = old
	}
	s.byID[p.id] = p
}

// Send sends a message without waiting: to all subscribers, or to the peer that its first frame names. What cannot be
// delivered is lost. An essential message is one without which a peer that reads too slowly would not find back: it is
// kept for that peer when others are dropped.
func (s *Server) Send(frames [][]byte, essential bool) {
	if len(frames) == 0 {
		return
	}
	if s.kind.name == Router.name {
		s.mu.Lock()
		p := s.byID[string(frames[0])]
		s.mu.Unlock()
		if p != nil {
			p.push(appendMessage(nil, frames[1:]), essential)
		}
		return
	}
	b := appendMessage(nil, frames) // once for all: it is only read
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		if p.wants(frames[0]) {
			p.push(b, essential)
		}
	}
}

// Close sends what is queued, for as long as patience lasts, and closes all connections. It returns when no goroutine of
// the socket runs any more, except for handlers that have not returned.
func (s *Server) Close(patience time.Duration) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	var peers []*peer
	for p := range s.peers {
		peers = append(peers, p)
	}
	s.mu.Unlock()
	err := s.listener.Close()
	var wg sync.WaitGroup
	for _, p := range peers {
		wg.Go(func() { p.finish(patience) })
	}
	wg.Wait()
	s.mu.Lock()
	for conn := range s.open {
		conn.Close()
	}
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("zmtp: %w", err)
	}
	return nil
}
