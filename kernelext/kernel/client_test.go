package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// A client is a Jupyter front end, as small as the tests allow.
type client struct {
	t       *testing.T
	conn    connection
	author  author
	shell   *socket
	control *socket
	stdin   *socket
	hb      zmq4.Socket

	mu      sync.Mutex
	news    *sync.Cond
	replies []*message // on shell and control
	iopub   []*message
	inputs  []*message

	byChannel map[channel][]*message
}

// patience is how long a test waits for what should come. Some cells compile everything from an empty cache, beside other tests.
const patience = 8 * time.Minute

func dial(t *testing.T, conn connection) *client {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	c := &client{t: t, conn: conn, author: author{[]byte(conn.Key), newID()}}
	c.news = sync.NewCond(&c.mu)
	id := zmq4.WithID(zmq4.SocketIdentity(c.author.session))
	retry, times := zmq4.WithDialerRetry(20*time.Millisecond), zmq4.WithDialerMaxRetries(int(patience/(20*time.Millisecond)))
	open := func(s zmq4.Socket, port int) *socket {
		if err := s.Dial(conn.endpoint(port)); err != nil {
			t.Fatal(err)
		}
		return newSocket(s)
	}
	sub := open(zmq4.NewSub(ctx, retry, times), conn.IOPubPort)
	if err := sub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		t.Fatal(err)
	}
	c.shell = open(zmq4.NewDealer(ctx, id, retry, times), conn.ShellPort)
	c.control = open(zmq4.NewDealer(ctx, id, retry, times), conn.ControlPort)
	c.stdin = open(zmq4.NewDealer(ctx, id, retry, times), conn.StdinPort)
	c.hb = zmq4.NewReq(ctx, retry, times)
	if err := c.hb.Dial(conn.endpoint(conn.HBPort)); err != nil {
		t.Fatal(err)
	}
	c.byChannel = map[channel][]*message{}
	collect := func(ch channel, s *socket, to *[]*message) {
		go s.receive(ctx, func(frames [][]byte) {
			m, err := parse(frames, []byte(conn.Key))
			c.mu.Lock()
			defer c.mu.Unlock()
			if err != nil {
				t.Errorf("from the kernel: %v", err)
				return
			}
			*to = append(*to, m)
			c.byChannel[ch] = append(c.byChannel[ch], m)
			c.news.Broadcast()
		})
	}
	collect(iopubChannel, sub, &c.iopub)
	collect(shellChannel, c.shell, &c.replies)
	collect(controlChannel, c.control, &c.replies)
	collect(stdinChannel, c.stdin, &c.inputs)
	return c
}

// wait waits until f is true; f is called with the lock held.
func (c *client) wait(what string, f func() bool) {
	c.t.Helper()
	c.waitFor(what, patience, f)
}

func (c *client) waitFor(what string, d time.Duration, f func() bool) {
	c.t.Helper()
	deadline := time.Now().Add(d)
	timer := time.AfterFunc(d, c.news.Broadcast)
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !f() {
		if time.Now().After(deadline) {
			c.t.Fatalf("no %s within %v", what, d)
		}
		c.news.Wait()
	}
}

// request sends a request and returns it.
func (c *client) request(on *socket, kind string, content any) *message {
	m := c.author.compose(kind, nil, content)
	on.send(m.frames())
	return m
}

// reply waits for the reply to a request and returns its content.
func (c *client) reply(m *message) map[string]any {
	c.t.Helper()
	var found *message
	c.wait("reply to "+m.kind, func() bool {
		for _, r := range c.replies {
			if r.parentID() == m.id {
				found = r
			}
		}
		return found != nil
	})
	return content(found)
}

// ask sends a request on the shell channel and returns the content of its reply.
func (c *client) ask(kind string, content any) map[string]any {
	c.t.Helper()
	return c.reply(c.request(c.shell, kind, content))
}

// ready waits until the kernel's output arrives here: as with every PUB socket, what is sent before is lost.
func (c *client) ready() {
	c.t.Helper()
	for range 100 {
		m := c.request(c.shell, "kernel_info_request", map[string]any{})
		c.reply(m)
		time.Sleep(20 * time.Millisecond)
		if len(c.published(m)) > 0 {
			return
		}
	}
	c.t.Fatal("nothing arrives on iopub")
}

// published returns what was published for a request so far.
func (c *client) published(m *message) []*message {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*message
	for _, p := range c.iopub {
		if p.parentID() == m.id {
			list = append(list, p)
		}
	}
	return list
}

// A result is all that came of one execute_request.
type result struct {
	reply          map[string]any
	messages       []*message
	stdout, stderr string
	displays       []map[string]any
	errors         []map[string]any
	states         []string
}

// submit sends a cell without waiting.
func (c *client) submit(code string) *message {
	return c.request(c.shell, "execute_request", map[string]any{
		"code": code, "silent": false, "store_history": true, "allow_stdin": true, "stop_on_error": true, "user_expressions": map[string]any{},
	})
}

// run executes a cell and waits for its end.
func (c *client) run(code string) result {
	c.t.Helper()
	return c.result(c.submit(code))
}

// result waits for the end of a submitted cell: its reply and its idle status.
func (c *client) result(m *message) result {
	c.t.Helper()
	r := result{reply: c.reply(m)}
	c.wait("idle status", func() bool {
		for _, p := range c.iopub {
			if p.kind == "status" && p.parentID() == m.id && content(p)["execution_state"] == "idle" {
				return true
			}
		}
		return false
	})
	r.messages = c.published(m)
	for _, p := range r.messages {
		v := content(p)
		switch p.kind {
		case "stream":
			if v["name"] == "stdout" {
				r.stdout += v["text"].(string)
			} else {
				r.stderr += v["text"].(string)
			}
		case "display_data", "update_display_data":
			r.displays = append(r.displays, v["data"].(map[string]any))
		case "error":
			r.errors = append(r.errors, v)
		case "status":
			r.states = append(r.states, v["execution_state"].(string))
		}
	}
	return r
}

// ok fails the test unless the cell ran through.
func (r result) ok(t *testing.T) result {
	t.Helper()
	if r.reply["status"] != "ok" {
		t.Fatalf("the cell failed: %v\nstdout: %s\nstderr: %s\n%v", r.reply, r.stdout, r.stderr, r.displays)
	}
	return r
}

// waitOutput waits until a running cell has printed text.
func (c *client) waitOutput(m *message, text string) {
	c.t.Helper()
	c.wait("output "+text, func() bool {
		for _, p := range c.iopub {
			if p.kind == "stream" && p.parentID() == m.id && strings.Contains(content(p)["text"].(string), text) {
				return true
			}
		}
		return false
	})
}

// waitBusy waits until the kernel has begun a request.
func (c *client) waitBusy(m *message) {
	c.t.Helper()
	c.wait("busy status", func() bool {
		for _, p := range c.iopub {
			if p.kind == "status" && p.parentID() == m.id {
				return true
			}
		}
		return false
	})
}

// untilThere is the code of a cell that waits until there is a file.
func untilThere(file string) string {
	return fmt.Sprintf("for {\n\tif _, err := os.Stat(%q); err == nil {\n\t\tbreak\n\t}\n\ttime.Sleep(5*time.Millisecond)\n}", file)
}

func content(m *message) map[string]any {
	var v map[string]any
	if err := json.Unmarshal(m.content, &v); err != nil {
		panic(err)
	}
	return v
}
