package install

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Reporter prints one line per finished phase. On a terminal it also keeps one moving line about what is running; in a
// log it says nothing until a phase is done.
type Reporter struct {
	mu     sync.Mutex
	w      io.Writer
	tty    bool
	active []*Progress
	frame  int
	drawn  bool
	stop   chan struct{}
}

// NewReporter returns a Reporter that writes to w; the moving line appears only when w is a terminal.
func NewReporter(w io.Writer) *Reporter {
	f, ok := w.(*os.File)
	return &Reporter{w: w, tty: ok && IsTerminal(f)}
}

// IsTerminal tells whether moving output can be shown on f.
func IsTerminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// A Progress is the running state of one phase.
type Progress struct {
	r           *Reporter
	name        string
	status      string
	done, total int
	start       time.Time
}

// Status replaces the text shown behind the phase's name.
func (p *Progress) Status(format string, args ...any) {
	p.r.mu.Lock()
	p.status = fmt.Sprintf(format, args...)
	p.r.mu.Unlock()
}

// Bar shows the phase as a bar of done out of total; a total of 0 hides it.
func (p *Progress) Bar(done, total int) {
	p.r.mu.Lock()
	p.done, p.total = min(done, total), total
	p.r.mu.Unlock()
}

// Phase runs fn and prints its line: a tick, the name, what fn says about the result, and the seconds it took.
func (r *Reporter) Phase(name string, fn func(*Progress) (string, error)) error {
	p := &Progress{r: r, name: name, start: time.Now()}
	r.mu.Lock()
	r.active = append(r.active, p)
	if r.tty && r.stop == nil {
		r.stop = make(chan struct{})
		go r.animate(r.stop)
	}
	r.mu.Unlock()

	detail, err := fn(p)

	r.mu.Lock()
	defer r.mu.Unlock()
	for i, q := range r.active {
		if q == p {
			r.active = append(r.active[:i], r.active[i+1:]...)
			break
		}
	}
	r.clear()
	mark := "✓"
	if err != nil {
		mark, detail = "✗", "failed"
	}
	fmt.Fprintf(r.w, "%s %-14s %s  %s\n", mark, name, detail, seconds(time.Since(p.start)))
	if len(r.active) == 0 && r.stop != nil {
		close(r.stop)
		r.stop = nil
	}
	return err
}

// Say prints one line between the phases.
func (r *Reporter) Say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
	fmt.Fprintf(r.w, format+"\n", args...)
}

func (r *Reporter) animate(stop chan struct{}) {
	tick := time.NewTicker(120 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			r.mu.Lock()
			if r.stop == stop {
				r.draw()
			}
			r.mu.Unlock()
		}
	}
}

// width is how many characters of the moving line fit: a line that wraps cannot be taken back.
func (r *Reporter) width() int {
	if f, ok := r.w.(*os.File); ok {
		if ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && ws.Col > 20 {
			return min(int(ws.Col)-4, 120)
		}
	}
	return 76
}

func (r *Reporter) draw() {
	if len(r.active) == 0 {
		return
	}
	var parts []string
	for _, p := range r.active {
		s := p.name
		if p.total > 0 {
			const width = 20
			full := p.done * width / p.total
			s += " [" + strings.Repeat("█", full) + strings.Repeat("░", width-full) + "]"
		}
		if p.status != "" {
			s += " " + p.status
		}
		parts = append(parts, s+" "+seconds(time.Since(p.start)))
	}
	line := []rune(strings.Join(parts, " · "))
	if width := r.width(); len(line) > width {
		line = append(line[:width-1], '…')
	}
	r.frame++
	spin := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	fmt.Fprintf(r.w, "\r\x1b[K%c %s", spin[r.frame%len(spin)], string(line))
	r.drawn = true
}

func (r *Reporter) clear() {
	if r.drawn {
		fmt.Fprint(r.w, "\r\x1b[K")
		r.drawn = false
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
