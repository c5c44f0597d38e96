package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/halftone-ml/halftone/kernelext/magic"
)

// A kernel is one running kernel. All of its state belongs to one goroutine, the loop in serve: whatever happens
// elsewhere (sockets, drawing, processes) comes to it as a function through events.
type kernel struct {
	opts   Options
	key    []byte
	author author
	front  *front
	spawn  *spawner
	cells  *cellMap
	draw   *drawer
	magics *magic.Engine
	events chan func()
	closed chan struct{} // the loop has ended
	starts sync.WaitGroup

	life     context.Context // of children, and of what is asked gopls
	child    *child          // nil while none runs
	output   *pipeline       // of its output
	state    childState
	number   int // of the children started
	failures int // children in a row that were of no use
	why      error
	lost     string          // why earlier declarations are gone, until the user has been told
	probes   map[string]bool // our own requests to GoNB: their answers are not for front ends
	counter  int             // GoNB's execution counter
	cgo      cgo
	driver   bool   // there is a GPU's
	glue     string // see glueFor
	declares bool   // an earlier cell declared something that uses Halftone
	comms    comms
	talks    []string // comms of the extension, oldest first
	history  history

	assistant assistant
	warmed    int       // number of the GoNB whose gopls has been made ready
	active    time.Time // when the last request was over

	queue   []*message // shell requests that wait
	current *request   // what GoNB is doing

	ending     bool
	shutdown   *message // request to answer at the end
	shutdownBy outlet
}

type childState int

const (
	starting childState = iota
	ready
	broken
)

type channel int

const (
	shellChannel channel = iota
	controlChannel
	stdinChannel
	iopubChannel
)

// Run is the kernel: it serves the connection file until it is told to shut down (by a message, by SIGTERM, by the end
// of ctx or of the program that started it), and leaves no process, socket or temporary file behind.
func Run(ctx context.Context, connectionFile string, opts Options) error {
	if err := opts.complete(); err != nil {
		return err
	}
	conn, err := readConnection(connectionFile)
	if err != nil {
		return err
	}
	private, err := makeDir(opts.Tmp)
	if err != nil {
		return err
	}
	defer private.remove()
	dir := private.path

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k := &kernel{
		opts:   opts,
		key:    []byte(conn.Key),
		author: author{[]byte(conn.Key), newID()},
		cells:  newCellMap(filepath.Join(dir, "cells")),
		draw:   &drawer{draw: opts.Draw, timeout: drawTimeout},
		events: make(chan func()),
		closed: make(chan struct{}),
		probes: map[string]bool{},
		cgo:    cgo{needs: map[string]bool{}},
		driver: opts.Driver(),
		comms:  comms{},
	}
	k.glue = glueFor(k.driver, opts.Env)
	if k.magics, err = newMagics(opts, dir); err != nil {
		return err
	}
	release, env := k.keepSession(dir, k.linkGo(dir, childEnv(opts.Env, dir, k.cells.file)))
	defer release()
	k.spawn = &spawner{
		opts: opts, conn: conn, base: filepath.Base(connectionFile), dir: dir,
		env: env,
	}
	if cwd, err := os.Getwd(); err == nil {
		defer keepCache(filepath.Join(dir, tmpName), os.TempDir(), cwd)()
	}
	k.front, err = listen(conn, handlers{k.accept(shellChannel, k.onShell), k.accept(controlChannel, k.onControl), k.accept(stdinChannel, k.onStdin), k.welcome})
	if err != nil {
		return err
	}
	return k.serve(ctx)
}

func (k *kernel) serve(ctx context.Context) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM) // even where they are ignored: so that GoNB and cells do not ignore them
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	orphaned := watchParent(ctx)

	var noMore context.CancelFunc
	k.life, noMore = context.WithCancel(ctx)
	defer noMore()
	k.status("starting", nil)
	k.startChild()

	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !k.ending {
		select {
		case f := <-k.events:
			f()
		case <-tick.C:
			k.onTick()
		case sig := <-signals:
			if sig == syscall.SIGINT && os.Getenv(parentEnv) != "" {
				k.interrupt() // Jupyter's other way of interrupting; alone in a terminal, Ctrl-C ends the kernel
				continue
			}
			k.ending = true
		case <-orphaned:
			k.ending = true
		case <-ctx.Done():
			k.ending = true
		}
	}
	close(k.closed)
	noMore()
	k.assistant.close()
	k.starts.Wait()
	k.end()
	return nil
}

// do runs f on the loop. It returns when the loop has taken it, or false when the loop has ended.
func (k *kernel) do(f func()) bool {
	select {
	case k.events <- f:
		return true
	case <-k.closed:
		return false
	}
}

// accept checks what comes from Jupyter and hands it to the loop. What is not signed with the key is dropped without an
// answer, as the protocol wants: GoNB itself would stop.
func (k *kernel) accept(via channel, on func(*message)) func([][]byte) {
	return func(frames [][]byte) {
		m, err := parse(frames, k.key)
		if err == nil && !(isObject(m.parent) && isObject(m.metadata) && isObject(m.content)) {
			err = errMalformed
		}
		if err != nil {
			k.logf("dropped a message: %v", err)
			return
		}
		m.via = via
		k.do(func() { on(m) })
	}
}

func (k *kernel) logf(format string, args ...any) {
	if k.opts.Log != nil {
		fmt.Fprintf(k.opts.Log, "halftone: "+format+"\n", args...)
	}
}

// grace is how long GoNB may take to end by itself; Jupyter kills kernels that take five seconds.
const grace = 2 * time.Second

// lastFigures is when, counted from the beginning of the end, those that are still to be drawn are given up.
const lastFigures = 3500 * time.Millisecond

// end shuts GoNB down and answers who asked for it.
func (k *kernel) end() {
	began := time.Now()
	if c := k.child; c != nil {
		if k.state == ready {
			m := k.shutdown
			if m == nil {
				m = k.author.compose("shutdown_request", nil, map[string]any{"restart": false})
			}
			c.control.send(m.frames())
			c.stop(grace)
			select { // live figures of a cell that was running get their final state
			case <-k.output.done:
			case <-time.After(time.Until(began.Add(lastFigures))):
			}
		} else {
			c.kill()
			c.release()
		}
	}
	if k.shutdown != nil {
		content := map[string]any{"status": "ok", "restart": restartWanted(k.shutdown)}
		reply := k.author.compose("shutdown_reply", k.shutdown, content)
		k.front.iopub.send(reply)
		reply.ids = k.shutdown.ids
		k.shutdownBy.send(reply)
		k.status("idle", k.shutdown)
	}
	k.front.finish()
}

// startChild starts GoNB in the background; the loop goes on.
func (k *kernel) startChild() {
	k.state, k.child = starting, nil
	k.number++
	n := k.number
	k.probes = map[string]bool{}
	k.counter = 0
	k.comms.drop(gonbTarget)
	k.starts.Go(func() {
		c, err := k.spawn.start(k.life, n)
		if !k.do(func() { k.onStarted(n, c, err) }) && c != nil {
			c.kill()
			c.release()
		}
	})
}

var errNotReady = errors.New("it does not answer")
