// Package lsp asks a running gopls about Go text that is in no file: what completes it at a place, and what is known about a
// name in it. It speaks as much of the Language Server Protocol 3.17 as that takes.
package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// A Client is one session with gopls. Its methods may be called from any goroutine; questions are asked one at a time.
type Client struct {
	conn net.Conn
	dir  string

	asking  sync.Mutex // held for a question: it is about the text that was sent last
	version int
	seen    map[string]time.Time // files of the module that gopls knows, by name

	mu      sync.Mutex
	next    int
	pending map[int]chan answer
	err     error
}

type answer struct {
	result json.RawMessage
	err    error
}

// Dial connects to the gopls that listens on a unix socket, for text that belongs to the package in dir.
func Dial(ctx context.Context, socket, dir string) (*Client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("lsp: %w", err)
	}
	c := &Client{conn: conn, dir: dir, pending: map[int]chan answer{}, seen: map[string]time.Time{}}
	go c.read()
	if err := c.initialize(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Client) initialize(ctx context.Context) error {
	folder := map[string]any{"uri": uri(c.dir), "name": filepath.Base(c.dir)}
	params := map[string]any{
		"processId": os.Getpid(), "rootUri": uri(c.dir), "workspaceFolders": []any{folder},
		"capabilities": map[string]any{
			"textDocument": map[string]any{
				"completion": map[string]any{"completionItem": map[string]any{"snippetSupport": false}},
				"hover":      map[string]any{"contentFormat": []string{"markdown"}},
			},
			"workspace": map[string]any{"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}},
		},
		// Diagnostics are nobody's business here; a first answer may take longer than an editor would wait.
		"initializationOptions": map[string]any{"completionBudget": "2s", "diagnosticsTrigger": "Save"},
	}
	if err := c.call(ctx, "initialize", params, nil); err != nil {
		return err
	}
	return c.notify("initialized", map[string]any{})
}

// Close ends the session.
func (c *Client) Close() {
	c.fail(errors.New("lsp: closed"))
	c.conn.Close()
}

// Err is why the session is over, nil while it is not.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	for id, ch := range c.pending {
		ch <- answer{err: c.err}
		delete(c.pending, id)
	}
}

type packet struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

func (c *Client) write(p packet) error {
	p.Version = "2.0"
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_, err = fmt.Fprintf(c.conn, "Content-Length: %d\r\n\r\n%s", len(b), b)
	return err
}

func (c *Client) notify(method string, params any) error {
	return c.write(packet{Method: method, Params: params})
}

func (c *Client) call(ctx context.Context, method string, params, result any) error {
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return c.err
	}
	c.next++
	id, done := c.next, make(chan answer, 1)
	c.pending[id] = done
	c.mu.Unlock()
	if err := c.write(packet{ID: json.RawMessage(strconv.Itoa(id)), Method: method, Params: params}); err != nil {
		return err
	}
	select {
	case a := <-done:
		if a.err != nil || result == nil {
			return a.err
		}
		return json.Unmarshal(a.result, result)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
		_ = c.notify("$/cancelRequest", map[string]any{"id": id})
		return ctx.Err()
	}
}

// maxPacket is far above what gopls sends.
const maxPacket = 64 << 20

// read takes what gopls sends until the session ends.
func (c *Client) read() {
	in := bufio.NewReader(c.conn)
	for {
		header, err := textproto.NewReader(in).ReadMIMEHeader()
		if err != nil {
			c.fail(err)
			return
		}
		n, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil || n < 0 || n > maxPacket {
			c.fail(fmt.Errorf("lsp: a packet of %q bytes", header.Get("Content-Length")))
			c.conn.Close()
			return
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(in, b); err != nil {
			c.fail(err)
			return
		}
		var p packet
		if json.Unmarshal(b, &p) == nil {
			c.take(p)
		}
	}
}

func (c *Client) take(p packet) {
	switch {
	case p.Method != "" && p.ID != nil: // gopls asks: for settings, of which there are none, or to be allowed something
		result := "null"
		if p.Method == "workspace/configuration" {
			result = "[{}]"
		}
		_ = c.write(packet{ID: p.ID, Result: json.RawMessage(result)})
	case p.Method != "": // news
	default:
		id, _ := strconv.Atoi(string(p.ID))
		c.mu.Lock()
		done := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if done == nil {
			return
		}
		a := answer{result: p.Result}
		if p.Error != nil {
			a.err = errors.New("lsp: gopls: " + p.Error.Message)
		}
		done <- a
	}
}

func uri(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
