package stretch

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// What was busy while something was timed may have ended when it is asked about: so the load is looked at all the time, from the
// beginning of the program. That costs no memory, of which other tests count every piece.

const (
	lookEvery = 50 * time.Millisecond
	kept      = 4096 // three minutes
)

// A look is what was seen of the load at a moment.
type look struct {
	at      time.Time
	threads float64       // that wanted a processor, for each processor
	late    time.Duration // by which this look came later than it should have: the machine stood still, or had no time for it
}

var looks struct {
	sync.Mutex
	ring [kept]look
	n    int
}

func init() {
	if fd, err := unix.Open("/proc/loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		go watch(fd)
	}
}

// watch looks at the load for as long as the program runs.
func watch(fd int) {
	var text [128]byte
	processors := float64(runtime.NumCPU())
	for {
		before := time.Now()
		time.Sleep(lookEvery)
		now := time.Now()
		n, err := unix.Pread(fd, text[:], 0)
		if err != nil {
			return
		}
		looks.Lock()
		looks.ring[looks.n%kept] = look{now, float64(runnable(text[:n])-1) / processors, now.Sub(before) - lookEvery}
		looks.n++
		looks.Unlock()
	}
}

// runnable reads the number of threads that want a processor from /proc/loadavg: "0.20 0.18 0.12 3/80 11206" says three.
func runnable(text []byte) (n int) {
	field := 0
	for _, c := range text {
		switch {
		case c == ' ':
			field++
		case field == 3 && c == '/':
			return n
		case field == 3 && c >= '0' && c <= '9':
			n = 10*n + int(c-'0')
		}
	}
	return 1
}

// during returns how many times as long things took within the last d as on a quiet machine: by the threads that wanted each processor,
// or by how late the looks came, whichever is more.
func during(d time.Duration) float64 {
	looks.Lock()
	defer looks.Unlock()
	begin := time.Now().Add(-d - lookEvery)
	sum, count, late := 0.0, 0, time.Duration(0)
	for i := looks.n - 1; i >= 0 && i >= looks.n-kept; i-- {
		l := &looks.ring[i%kept]
		if l.at.Before(begin) {
			break
		}
		sum, count, late = sum+l.threads, count+1, late+l.late
	}
	if count == 0 {
		return 1
	}
	left := max(1-float64(late)/float64(d), 0.01) // of the time was the machine there
	return max(sum/float64(count), 1/left, 1)
}
