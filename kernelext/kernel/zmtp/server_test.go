package zmtp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// serve starts a server on a port of loopback.
func serve(t *testing.T, kind Kind, handle func([][]byte)) *Server {
	t.Helper()
	s, err := Listen(kind, "tcp", "127.0.0.1:0", handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(time.Second) })
	return s
}

// dial connects another implementation of ZeroMQ.
func dial(t *testing.T, s *Server, make func(context.Context, ...zmq4.Option) zmq4.Socket, opts ...zmq4.Option) zmq4.Socket {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	z := make(ctx, append(opts, zmq4.WithLogger(log.New(io.Discard, "", 0)))...)
	if err := z.Dial("tcp://" + s.Addr().String()); err != nil {
		t.Fatal(err)
	}
	return z
}

func text(frames [][]byte) string { return string(bytes.Join(frames, []byte("|"))) }

func receive(t *testing.T, z zmq4.Socket) string {
	t.Helper()
	m, err := z.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return text(m.Frames)
}

// echoRouter answers each message with its own frames.
func echoRouter(t *testing.T) *Server {
	var s *Server
	ready := make(chan struct{})
	s = serve(t, Router, func(frames [][]byte) { <-ready; s.Send(frames, false) })
	close(ready)
	return s
}

func TestRouter(t *testing.T) {
	s := echoRouter(t)
	a := dial(t, s, zmq4.NewDealer, zmq4.WithID(zmq4.SocketIdentity("a")))
	b := dial(t, s, zmq4.NewDealer) // without an identity of its own
	big := strings.Repeat("x", 3<<20)
	for _, z := range []zmq4.Socket{a, b, a} {
		for _, parts := range [][]string{{"one"}, {"", "two", ""}, {big, "three"}, {strings.Repeat("y", 255), strings.Repeat("z", 256)}} {
			if err := z.SendMulti(zmq4.NewMsgFromString(parts)); err != nil {
				t.Fatal(err)
			}
			if got := receive(t, z); got != strings.Join(parts, "|") {
				t.Errorf("%d parts came back as %.40q", len(parts), got)
			}
		}
	}
	s.Send([][]byte{[]byte("nobody"), []byte("x")}, true)
	s.Send(nil, true)
}

// TestRouterOneIdentityTwice has two clients of one session, as two clients of one Jupyter kernel manager are.
func TestRouterOneIdentityTwice(t *testing.T) {
	s := echoRouter(t)
	ask := func(z zmq4.Socket, what string) {
		t.Helper()
		if err := z.SendMulti(zmq4.NewMsgFromString([]string{what})); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, z); got != what {
			t.Errorf("%q was answered by %q", what, got)
		}
	}
	first := dial(t, s, zmq4.NewDealer, zmq4.WithID(zmq4.SocketIdentity("same")))
	ask(first, "1")
	second := dial(t, s, zmq4.NewDealer, zmq4.WithID(zmq4.SocketIdentity("same")))
	ask(second, "2")
	ask(first, "3")
	ask(second, "4")
	_ = second.Close()
	ask(first, "5")
}

func TestEcho(t *testing.T) {
	s := serve(t, Echo, nil)
	z := dial(t, s, zmq4.NewReq)
	for _, word := range []string{"ping", "again"} {
		if err := z.Send(zmq4.NewMsg([]byte(word))); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, z); got != word {
			t.Errorf("%q", got)
		}
	}
}

func TestPub(t *testing.T) {
	s := serve(t, Pub, nil)
	subscribe := func(topic string) zmq4.Socket {
		z := dial(t, s, zmq4.NewSub)
		if err := z.SetOption(zmq4.OptionSubscribe, topic); err != nil {
			t.Fatal(err)
		}
		return z
	}
	all, some := subscribe(""), subscribe("kernel.st")
	subscribed := func(n int) func() bool {
		return func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			count := 0
			for p := range s.peers {
				p.mu.Lock()
				count += len(p.topics)
				p.mu.Unlock()
			}
			return count == n
		}
	}
	eventually(t, "two subscriptions", subscribed(2))
	s.Send([][]byte{[]byte("kernel.error"), []byte("1")}, false)
	s.Send([][]byte{[]byte("kernel.status"), []byte("2")}, false)
	if got := receive(t, all) + " " + receive(t, all); got != "kernel.error|1 kernel.status|2" {
		t.Errorf("%q", got)
	}
	if got := receive(t, some); got != "kernel.status|2" {
		t.Errorf("%q", got)
	}
	if err := some.SetOption(zmq4.OptionUnsubscribe, "kernel.st"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "one subscription", subscribed(1))
}

// TestWelcome checks that a subscriber is greeted once per subscription, before all else, and nobody beside it.
func TestWelcome(t *testing.T) {
	s, err := ListenPub("tcp", "127.0.0.1:0", 0, func(topic []byte) [][]byte {
		if string(topic) == "mute" {
			return nil
		}
		return [][]byte{topic, []byte("welcome to " + string(topic))}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(time.Second)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.Send([][]byte{[]byte("news"), []byte("x")}, false)
				time.Sleep(100 * time.Microsecond)
			}
		}
	})
	for range 3 {
		z := dial(t, s, zmq4.NewSub)
		if err := z.SetOption(zmq4.OptionSubscribe, "news"); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, z); got != "news|welcome to news" {
			t.Errorf("first came %q", got)
		}
		for range 3 {
			if got := receive(t, z); got != "news|x" {
				t.Errorf("then came %q", got)
			}
		}
	}
	close(stop)
	wg.Wait()
	mute := dial(t, s, zmq4.NewSub)
	for _, topic := range []string{"mute", "last"} {
		if err := mute.SetOption(zmq4.OptionSubscribe, topic); err != nil {
			t.Fatal(err)
		}
	}
	if got := receive(t, mute); got != "last|welcome to last" {
		t.Errorf("%q", got)
	}
}

// TestStaleSocket leaves a socket behind as a killed process does.
func TestStaleSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if _, err := Listen(Pub, "unix", path, nil); err == nil {
		t.Fatal("the socket of a living process was taken over")
	}
	_ = dead.Close()
	s, err := Listen(Pub, "unix", path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(0)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(Pub, "unix", file, nil); err == nil {
		t.Error("a file was taken for a socket")
	}
	if b, _ := os.ReadFile(file); string(b) != "mine" {
		t.Error("a file was removed")
	}
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

// raw connects without ZeroMQ and introduces itself as a socket of the given type.
func raw(t *testing.T, s *Server, socketType string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
	_, _ = conn.Write(append(greeting(), ready(socketType)...))
	r := bufio.NewReader(conn)
	if _, err := io.ReadFull(r, make([]byte, greetingSize)); err != nil {
		t.Fatal(err)
	}
	if f, err := readFrame(r, 1000); err != nil || !f.command {
		t.Fatalf("%v %+v", err, f)
	}
	return conn, r
}

// TestSlowSubscriber stops reading: the others go on, memory is bounded, and the slow one still learns what is essential.
func TestSlowSubscriber(t *testing.T) {
	s := serve(t, Pub, nil)
	slow, reader := raw(t, s, "SUB")
	_, _ = slow.Write(appendFrame(nil, []byte{1}, 0))
	fast := dial(t, s, zmq4.NewSub)
	if err := fast.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two subscribers", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		n := 0
		for p := range s.peers {
			if p.wants(nil) {
				n++
			}
		}
		return n == 2
	})
	payload := bytes.Repeat([]byte("x"), 1<<20)
	const rounds = 3 * MaxQueue >> 20
	for i := range rounds {
		s.Send([][]byte{[]byte("output"), payload}, false)
		if got := receive(t, fast); len(got) != len("output|")+len(payload) {
			t.Fatalf("message %d: %d bytes", i, len(got))
		}
	}
	s.Send([][]byte{[]byte("idle")}, true)
	if got := receive(t, fast); got != "idle" {
		t.Errorf("%q", got)
	}
	got := 0
	for {
		f, err := readFrame(reader, MaxMessage)
		if err != nil {
			t.Fatalf("after %d messages: %v", got, err)
		}
		if string(f.body) == "idle" {
			break
		}
		if !f.more {
			got++
		}
	}
	if got == 0 || got >= rounds {
		t.Errorf("the slow subscriber got %d of %d messages", got, rounds)
	}
}

// TestLongQueue: who listens for more than usual waits for a subscriber with as much as it asked for.
func TestLongQueue(t *testing.T) {
	s, err := ListenPub("tcp", "127.0.0.1:0", 2*MaxQueue, func([]byte) [][]byte { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(time.Second)
	slow, reader := raw(t, s, "SUB")
	_, _ = slow.Write(appendFrame(nil, []byte{1}, 0))
	eventually(t, "subscriber", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for p := range s.peers {
			return p.wants(nil)
		}
		return false
	})
	payload := bytes.Repeat([]byte("x"), 1<<20)
	const rounds = 3 * MaxQueue / 2 >> 20
	for range rounds {
		s.Send([][]byte{payload}, false)
	}
	for i := range rounds {
		if f, err := readFrame(reader, MaxMessage); err != nil || len(f.body) != len(payload) {
			t.Fatalf("message %d: %d bytes, %v", i, len(f.body), err)
		}
	}
}

// TestHostilePeers does what no client does; a client next to it must not notice.
func TestHostilePeers(t *testing.T) {
	s := echoRouter(t)
	silent, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	huge := append([]byte{flagLong}, binary.BigEndian.AppendUint64(nil, 1<<62)...)
	large := append([]byte{flagLong}, binary.BigEndian.AppendUint64(nil, MaxMessage-1)...)
	for name, bytes := range map[string][]byte{
		"http":              []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n" + strings.Repeat(" ", 64)),
		"zeros":             make([]byte, 200),
		"half a greeting":   greeting()[:20],
		"no handshake":      append(greeting(), 0, 1, 'x'),
		"huge handshake":    append(greeting(), huge...),
		"damaged handshake": append(greeting(), appendFrame(nil, []byte("\x05READY\xff"), flagCommand)...),
		"long property":     append(greeting(), appendFrame(nil, []byte("\x05READY\x01a\xff\xff\xff\xff"), flagCommand)...),
		"wrong type":        append(greeting(), ready("PUB")...),
		"huge frame":        append(append(greeting(), ready("DEALER")...), huge...),
		"large frame":       append(append(greeting(), ready("DEALER")...), large...),
		"odd flags":         append(append(greeting(), ready("DEALER")...), 0xf0, 0),
	} {
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(bytes)
		defer conn.Close()
		z := dial(t, s, zmq4.NewDealer)
		if err := z.SendMulti(zmq4.NewMsgFromString([]string{name})); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, z); got != name {
			t.Errorf("beside %s: %q", name, got)
		}
		_ = z.Close()
	}
}

func TestPing(t *testing.T) {
	s := serve(t, Echo, nil)
	conn, r := raw(t, s, "REQ")
	_, _ = conn.Write(appendFrame(nil, []byte("\x04PING\x00\x0actx"), flagCommand))
	if f, err := readFrame(r, 100); err != nil || !f.command || string(f.body) != "\x04PONGctx" {
		t.Errorf("%v %q", err, f.body)
	}
}

func TestClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s, err := Listen(Pub, "unix", path, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write(append(append(greeting(), ready("SUB")...), 0, 1, 1))
	eventually(t, "subscriber", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for p := range s.peers {
			return p.wants(nil)
		}
		return false
	})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { s.Send([][]byte{[]byte("last")}, false) })
	}
	wg.Wait()
	if err := s.Close(time.Minute); err != nil {
		t.Error(err)
	}
	if err := s.Close(0); err != nil {
		t.Errorf("a second time: %v", err)
	}
	all, _ := io.ReadAll(conn)
	if n := strings.Count(string(all), "last"); n != 4 {
		t.Errorf("%d of 4 messages arrived before the end", n)
	}
	done := make(chan struct{})
	go func() { s.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("goroutines are left")
	}
	if _, err := net.Dial("unix", path); err == nil {
		t.Error("it still listens")
	}
}

func FuzzPeer(f *testing.F) {
	f.Add(append(append(greeting(), ready("DEALER")...), appendMessage(nil, [][]byte{{}, []byte("x")})...))
	f.Add(append(append(greeting(), ready("SUB")...), 0, 1, 1))
	f.Fuzz(func(t *testing.T, input []byte) {
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		go func() { _, _ = theirs.Write(input); theirs.Close() }()
		defer ours.Close()
		p, err := handshake(ours, Router)
		if err != nil {
			return
		}
		go p.write()
		for {
			frames, err := p.read()
			if err != nil {
				break
			}
			p.subscribe(frames, nil)
		}
		p.finish(time.Second)
	})
}
