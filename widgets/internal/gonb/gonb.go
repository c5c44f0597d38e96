// Package gonb shows things in a GoNB notebook, as GoNB's own package gonbui does, for programs that have to be linked quickly.
// Every notebook cell is one: gonbui and what it needs (net, database/sql, encoding/gob, a logger) take longer to link than
// all of package amp.
//
// It writes what gonbui would to the same pipe, and a program may use both. See encode.go for the wire format.
package gonb

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// The environment variables that name the pipes to GoNB and back.
const (
	pipeEnv = "GONB_PIPE"
	backEnv = "GONB_PIPE_BACK"
)

// Connected says whether the program runs in a cell of a GoNB notebook.
func Connected() bool { return os.Getenv(pipeEnv) != "" }

// UniqueID returns a display id that no other call, in this or in another program, returns: GoNB only ever updates a display whose id it
// has seen before, and of a cell that is run again the front end has removed it.
func UniqueID(prefix string) string { return fmt.Sprintf("%s_%016x", prefix, rand.Uint64()) }

// conn is the connection to GoNB, opened when it is needed and closed with the program.
var conn struct {
	mu     sync.Mutex
	opened bool
	err    error
	w      *os.File
	acks   *ackReader // nil where gonbui reads them
	shared bool       // gonbui may write to the pipe, too
	syncs  int
}

// open connects; conn.mu is held.
func open() error {
	if conn.opened {
		return conn.err
	}
	conn.opened = true
	if conn.w, conn.err = os.OpenFile(os.Getenv(pipeEnv), os.O_WRONLY, 0); conn.err != nil {
		return conn.err
	}
	enlarge(conn.w)
	if conn.shared = linked("github.com/janpfeifer/gonb"); !conn.shared {
		var r *os.File
		if r, conn.err = os.Open(os.Getenv(backEnv)); conn.err != nil {
			return conn.err
		}
		conn.acks = &ackReader{r: r}
	}
	if conn.shared { // the pipe was small until now: gonbui may well be in the middle of a message
		if conn.err = afterTheirs(conn.w); conn.err != nil {
			return conn.err
		}
	}
	_, conn.err = conn.w.Write(definitions())
	return conn.err
}

// linked says whether the program may have a package of a module in it.
func linked(module string) bool {
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) == 0 { // the binary of a test, as of a cell with %test, does not say
		return true
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return true
		}
	}
	return false
}

// ErrSize is returned by Display for data that no pipe should carry.
var ErrSize = errors.New("gonb: too much data for one display")

// maxDisplay is GoNB's limit on a message, with some room.
const maxDisplay = 1<<30 - 1<<20

// Display shows data, by MIME type, as an output of the cell. With an id, the output that has it already is replaced.
func Display(data map[string]string, id string) error {
	m := display(data, id)
	if len(m) > maxDisplay {
		return fmt.Errorf("%w: %d bytes", ErrSize, len(m))
	}
	conn.mu.Lock()
	defer conn.mu.Unlock()
	return send(m)
}

// Printed waits until GoNB has read what the program has printed, at most for d. GoNB takes that and displays from different pipes,
// in any order: without waiting, one figure in some twenty came before the lines that were printed before it. On a machine that is
// busy it still may.
func Printed(d time.Duration) { drained(os.Stdout, passOn, time.Now().Add(d)) }

// send writes a message in one piece; conn.mu is held.
func send(m []byte) error {
	if err := open(); err != nil {
		return err
	}
	if conn.shared {
		if conn.err = afterTheirs(conn.w); conn.err != nil {
			return conn.err
		}
	}
	_, conn.err = conn.w.Write(m) // after an error GoNB could not read what follows half a message
	return conn.err
}

// afterTheirs waits until a message may be written: what fits into an empty pipe goes there at once, and nothing that gonbui writes can
// come between, but gonbui may be in the middle of a message that found no room. A pipe that stays empty for a moment does not exclude
// that on a busy machine, where gonbui's goroutine waits for a processor; its stack does. A program that shows things with gonbui all
// the time leaves no quiet moment: after patience, one between two of its writes does. A GoNB that reads nothing until giveUp is not
// waited for any longer: half a message would make all that follows unreadable.
func afterTheirs(pipe *os.File) error {
	for start := time.Now(); ; {
		idle, called := quiet, sendData
		if time.Since(start) > patience {
			idle, called = 0, fileWrite
		}
		if drained(pipe, idle, time.Now().Add(time.Second)) && !sending(called) {
			return nil
		}
		if time.Since(start) > giveUp {
			return errNoAnswer
		}
	}
}

// What is on the stack of a goroutine that gonbui writes to the pipe with: the first from before it writes, the second while it does.
const (
	sendData  = "github.com/janpfeifer/gonb/gonbui.SendData("
	fileWrite = "os.(*File).Write("
)

// sending says whether a goroutine of gonbui's is in a function.
func sending(called string) bool {
	for n := 64 << 10; ; n *= 2 {
		b := make([]byte, n)
		if k := runtime.Stack(b, true); k < n {
			return slices.ContainsFunc(strings.Split(string(b[:k]), "\n\n"), func(stack string) bool {
				return strings.Contains(stack, sendData) && strings.Contains(stack, called)
			})
		}
	}
}

// Sync waits until GoNB has shown everything: what is still on the way when a program ends is lost. It gives up after d.
func Sync(d time.Duration) error {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if err := open(); err != nil {
		return err
	}
	deadline := time.Now().Add(d)
	if conn.acks == nil {
		// The answer to a question would go to gonbui, which knows nothing of it. GoNB has read everything once the pipe is
		// empty, and shows it at once.
		if !drained(conn.w, settle, deadline) {
			return errNoAnswer
		}
		return nil
	}
	conn.syncs++
	if err := send(question(conn.syncs)); err != nil {
		return err
	}
	answered := make(chan error, 1)
	go func(acks *ackReader) { answered <- acks.next() }(conn.acks)
	select {
	case err := <-answered:
		return err
	case <-time.After(time.Until(deadline)):
		conn.err = errNoAnswer // the answer to this question must not be taken for that to another
		return errNoAnswer
	}
}

const (
	quiet    = 5 * time.Millisecond  // for which a pipe that nobody is writing to stays empty
	patience = 10 * time.Second      // with gonbui, before a moment that is less quiet must do
	giveUp   = time.Minute           // with gonbui, before a message is refused
	passOn   = 3 * time.Millisecond  // that GoNB takes to pass on what a program has printed
	settle   = 30 * time.Millisecond // that GoNB takes to show what it has read
)

var errNoAnswer = errors.New("gonb: GoNB does not answer")

// An ackReader reads GoNB's answers. Of a stream of gob messages it needs to know only which are values: each is a length and
// that many bytes, the first of which are a type's id, negative for the definition of a type.
type ackReader struct{ r io.Reader }

// next waits for the next value.
func (a *ackReader) next() error {
	for {
		n, err := a.uint()
		if err != nil {
			return err
		}
		if n > 1<<20 {
			return errors.New("gonb: an answer that is too long")
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(a.r, body); err != nil {
			return err
		}
		if positive(body) {
			return nil
		}
	}
}

// positive says whether the integer at the front of b is: its sign is the lowest bit.
func positive(b []byte) bool {
	last := 0
	if len(b) > 0 && b[0] >= 0x80 {
		last = -int(int8(b[0]))
	}
	return last < len(b) && b[last]&1 == 0
}

func (a *ackReader) uint() (uint64, error) {
	var b [9]byte
	if _, err := io.ReadFull(a.r, b[:1]); err != nil {
		return 0, err
	}
	if b[0] < 0x80 {
		return uint64(b[0]), nil
	}
	n := -int(int8(b[0]))
	if n > 8 {
		return 0, errors.New("gonb: an answer that is no gob")
	}
	if _, err := io.ReadFull(a.r, b[1:1+n]); err != nil {
		return 0, err
	}
	v := uint64(0)
	for _, c := range b[1 : 1+n] {
		v = v<<8 | uint64(c)
	}
	return v, nil
}
