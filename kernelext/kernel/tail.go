package kernel

import (
	"io"
	"strings"
	"sync"
)

// A tail keeps the last lines of GoNB's log: what one wants to see when it dies, and only then.
type tail struct {
	mu   sync.Mutex
	last []byte
	next io.Writer
}

// tailSize holds a Go program's last words: the panic, and behind it where each of GoNB's goroutines was.
const tailSize = 64 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if n := len(t.last) - tailSize; n > 0 {
		t.last = append(t.last[:0], t.last[n:]...)
	}
	if t.next != nil {
		_, _ = t.next.Write(p)
	}
	return len(p), nil
}

// String returns the kept text from its first whole line on.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.last)
	if len(t.last) >= tailSize {
		if _, after, ok := strings.Cut(s, "\n"); ok {
			s = after
		}
	}
	return strings.TrimSpace(s)
}
