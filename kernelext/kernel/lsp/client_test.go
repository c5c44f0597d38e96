package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
)

// gopls plays a gopls that answers each request with what answer returns, raw; "" is silence.
func gopls(t *testing.T, answer func(method string, id json.RawMessage) string) *Client {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ht")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		for {
			h, err := textproto.NewReader(in).ReadMIMEHeader()
			if err != nil {
				return
			}
			n, _ := strconv.Atoi(h.Get("Content-Length"))
			b := make([]byte, n)
			if _, err := io.ReadFull(in, b); err != nil {
				return
			}
			var p struct {
				ID     json.RawMessage
				Method string
			}
			_ = json.Unmarshal(b, &p)
			text := answer(p.Method, p.ID)
			if p.Method == "initialize" {
				text = reply(p.ID, "{}")
			}
			_, _ = io.WriteString(conn, text)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := Dial(ctx, socket, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func packetOf(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

func reply(id json.RawMessage, result string) string {
	return packetOf(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + `}`)
}

func TestCompleteAnswers(t *testing.T) {
	asked := make(chan string, 100)
	c := gopls(t, func(method string, id json.RawMessage) string {
		asked <- method
		if method != "textDocument/completion" {
			return ""
		}
		item := func(text string, start, end int) string {
			return fmt.Sprintf(`{"label":%q,"kind":3,"detail":"func()","textEdit":{"newText":%q,"range":{"start":{"line":1,"character":%d},"end":{"line":1,"character":%d}}}}`, text, text, start, end)
		}
		// It asks something itself, tells something, and answers with matches of which two replace other places.
		return packetOf(`{"jsonrpc":"2.0","id":77,"method":"workspace/configuration","params":{}}`) + packetOf(`{"jsonrpc":"2.0","method":"window/logMessage"}`) +
			packetOf("not JSON") + reply(id, `{"items":[`+item("ToUpper", 2, 5)+","+item("ToUpperSpecial", 2, 5)+","+item("other", 1, 5)+","+item("after", 2, 6)+`]}`)
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for range 2 {
		found, start, err := c.Complete(ctx, "package main\nabToU", Position{1, 5})
		if err != nil || start != 2 || len(found) != 2 || found[0] != (Match{"ToUpper", "function", "func()"}) || found[1].Text != "ToUpperSpecial" {
			t.Errorf("%v %d %v", found, start, err)
		}
	}
	var all []string
	for len(asked) > 0 {
		all = append(all, <-asked)
	}
	if got := strings.Join(all, " "); !strings.Contains(got, "initialized textDocument/didOpen textDocument/completion") || strings.Count(got, "didChange") != 1 {
		t.Errorf("%s", got)
	}
}

func TestBadAnswers(t *testing.T) {
	for name, text := range map[string]string{
		"silence": "", "error": "E", "no length": "X: 1\r\n\r\n", "too long": "Content-Length: 99999999999\r\n\r\n", "negative": "Content-Length: -1\r\n\r\n",
		"no header": "\r\n\r\n\r\n", "another's answer": reply(json.RawMessage("12345"), "{}"), "wrong type": "T",
	} {
		t.Run(name, func(t *testing.T) {
			c := gopls(t, func(method string, id json.RawMessage) string {
				switch {
				case method != "textDocument/hover":
					return ""
				case text == "E":
					return packetOf(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":1,"message":"no"}}`)
				case text == "T":
					return reply(id, `[1]`)
				}
				return text
			})
			ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
			defer cancel()
			began := time.Now()
			if got, err := c.Hover(ctx, "package main", Position{}); err == nil {
				t.Errorf("%q", got)
			}
			if d := time.Since(began); stretch.Over(d, 3*time.Second) {
				t.Errorf("it took %v", d)
			}
		})
	}
}
