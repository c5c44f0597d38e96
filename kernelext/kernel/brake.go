package kernel

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A brake holds a program that prints faster than GoNB can pass on, as a terminal would: GoNB takes whatever the program writes, and queues
// a message for each write without bound. A loop that prints for ever would fill the memory within a minute, and five seconds of it would
// take another twenty to come out after the program has ended. So while a cell floods, its programs run for moments, and stand still
// until what they have written in one has come through.
type brake struct {
	gonb    int // its process
	seen    atomic.Int64
	mark    atomic.Int64 // seen, when the window began
	since   atomic.Int64 // when that was, Unix nanoseconds
	braking atomic.Bool
}

const (
	brakeWindow = 100 * time.Millisecond
	brakeOver   = 100 // messages in a window: more than anybody reads, and what GoNB passes on even on a busy machine
	brakeRuns   = 10 * time.Millisecond
	brakeQuiet  = 15 * time.Millisecond // without a message, and without work for GoNB: all has come through
	brakeHolds  = 10 * time.Second      // at most, whatever comes
)

// count counts a message of a stream.
func (b *brake) count() {
	n, now := b.seen.Add(1), time.Now().UnixNano()
	if n%64 != 0 || b.braking.Load() {
		return
	}
	if now-b.since.Load() > int64(brakeWindow) {
		b.since.Store(now)
		b.mark.Store(n)
	} else if n-b.mark.Load() > brakeOver && b.braking.CompareAndSwap(false, true) {
		go b.hold()
	}
}

// hold lets the cell's programs run in moments until they print less.
func (b *brake) hold() {
	defer b.braking.Store(false)
	for {
		before := b.seen.Load()
		b.stop()
		time.Sleep(brakeRuns)
		if b.seen.Load()-before < brakeOver/10 {
			return
		}
	}
}

// stop stops the cell's programs until what they have printed has come through.
func (b *brake) stop() {
	all := cellProcesses(b.gonb)
	signalAll(all, syscall.SIGSTOP) // an interrupt meanwhile is delivered when they go on
	defer signalAll(all, syscall.SIGCONT)
	last, at := b.seen.Load(), time.Now()
	for began := at; time.Since(at) < brakeQuiet && time.Since(began) < brakeHolds; time.Sleep(2 * time.Millisecond) {
		if n := b.seen.Load(); n != last || runs(b.gonb) {
			last, at = n, time.Now()
		}
	}
}

// runs says whether a thread of a process runs or would run if the machine were less busy, where the system tells: Linux does.
func runs(pid int) bool {
	threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
	for _, t := range threads {
		b, err := os.ReadFile(t)
		if _, state, ok := strings.Cut(string(b), ") "); err == nil && ok && strings.HasPrefix(state, "R") {
			return true
		}
	}
	return false
}
