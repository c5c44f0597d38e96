package driver

import "sync"

// A History remembers the last launches of a process. Names are looked up only when an error wants them.
type History struct {
	mu   sync.Mutex
	n    int
	ring [16]struct {
		op string
		f  Function
	}
	names map[Function]string
}

// Add notes a launch; f 0 is a library's, named by op alone.
func (h *History) Add(op string, f Function) {
	h.mu.Lock()
	e := &h.ring[h.n%len(h.ring)]
	e.op, e.f = op, f
	h.n++
	h.mu.Unlock()
}

// Name tells what a kernel is called.
func (h *History) Name(f Function, name string) {
	h.mu.Lock()
	if h.names == nil {
		h.names = map[Function]string{}
	}
	h.names[f] = name
	h.mu.Unlock()
}

// List returns the launches, oldest first, as "op: kernel".
func (h *History) List() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for i := max(0, h.n-len(h.ring)); i < h.n; i++ {
		e := h.ring[i%len(h.ring)]
		kernel := h.names[e.f]
		switch {
		case e.op == "" || e.op == kernel:
			out = append(out, kernel)
		case kernel == "":
			out = append(out, e.op)
		default:
			out = append(out, e.op+": "+kernel)
		}
	}
	return out
}
