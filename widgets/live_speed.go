package widgets

import (
	"fmt"
	"os"
	"time"
)

// A speedometer measures the speed of a loop over the last seconds: an average from the start would take as long again to notice
// that the loop has become slower.
type speedometer struct {
	at [speedWindow]struct {
		time time.Time
		step int
	}
	n int // notes taken
}

const speedWindow = 20 // notes, of liveEvery each

// note takes the number of steps made.
func (s *speedometer) note(now time.Time, step int) {
	p := &s.at[s.n%speedWindow]
	p.time, p.step = now, step
	s.n++
}

// rate is the speed in steps per second; 0 when it is not known.
func (s *speedometer) rate() float64 {
	if s.n < 2 {
		return 0
	}
	last, first := s.at[(s.n-1)%speedWindow], s.at[max(s.n-speedWindow, 0)%speedWindow]
	return float64(last.step-first.step) / last.time.Sub(first.time).Seconds()
}

// terminalLine writes figures to a terminal as one line in place of the one before; into a file or pipe, where that cannot
// be, a line now and then.
func terminalLine(w *os.File) func(*Figure) {
	info, err := w.Stat()
	if err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return func(f *Figure) {
			end := ""
			if !f.Running() {
				end = "\n"
			}
			fmt.Fprintf(w, "\r%s\x1b[K%s", f.liveLine(), end)
		}
	}
	var next time.Time
	return func(f *Figure) {
		if now := time.Now(); !f.Running() || now.After(next) && f.Live.Step > 0 {
			fmt.Fprintln(w, f.Title+": "+f.liveLine())
			next = now.Add(logEvery)
		}
	}
}

// logEvery is the time between two lines in a log.
const logEvery = 10 * time.Second
