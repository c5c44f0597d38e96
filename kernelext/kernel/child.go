package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"
)

// A child is one run of GoNB with the sockets connected to it. When it dies another is started.
type child struct {
	cmd     *exec.Cmd
	dir     string // of its sockets
	tmp     string // its TMPDIR
	tail    *tail
	cancel  context.CancelFunc
	shell   *socket
	control *socket
	stdin   *socket
	iopub   *socket

	started time.Time
	exited  chan struct{} // closed when the process has ended
	err     error         // why, valid after exited
	ended   string        // why the kernel has ended it, "" where it has not
	readers sync.WaitGroup
}

// A spawner knows how to start GoNB.
type spawner struct {
	opts Options
	conn connection
	base string // base name of Jupyter's connection file
	dir  string // private folder of the kernel
	env  []string
}

// identity is the name of our sockets at GoNB: one for all channels, because a request for input that a cell makes on
// the stdin channel is sent to whoever asked on the shell channel.
var identity = zmq4.WithID(zmq4.SocketIdentity("halftone"))

const startTimeout = 30 * time.Second

// start runs GoNB number n and returns when its sockets are connected.
func (s *spawner) start(ctx context.Context, n int) (*child, error) {
	dir := filepath.Join(s.dir, fmt.Sprintf("%d", n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	conn, file, err := s.conn.forChild(dir, s.base)
	if err != nil {
		return nil, err
	}
	args := []string{"--kernel", file}
	if s.opts.Checkout != "" {
		args = append(args, "-go_work="+s.opts.Checkout)
	}
	c := &child{dir: dir, tmp: filepath.Join(s.dir, tmpName), tail: &tail{next: s.opts.Log}, exited: make(chan struct{}), started: time.Now()}
	c.cmd = exec.Command(s.opts.GoNB, args...)
	c.cmd.Env = s.env
	c.cmd.Stdout, c.cmd.Stderr = c.tail, c.tail
	c.cmd.WaitDelay = time.Second // a program of the cell may still hold the pipe
	// A session of its own: everything GoNB starts stays in it, gopls too, which has its own process group.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("kernel: GoNB does not start: %w; install again", err)
	}
	guard := startGuard(c.cmd.Process.Pid, s.dir)
	go func() {
		c.err = c.cmd.Wait()
		killSession(c.cmd.Process.Pid)
		guard.release()
		close(c.exited)
	}()
	if err := c.connect(ctx, conn); err != nil {
		c.kill()
		return nil, fmt.Errorf("kernel: GoNB does not answer: %w: %s", err, lastWords(c.tail.String()))
	}
	return c, nil
}

// connect waits for GoNB's sockets and connects to them.
func (c *child) connect(ctx context.Context, conn connection) error {
	deadline := time.Now().Add(startTimeout)
	for _, file := range conn.sockets() {
		for {
			if _, err := os.Stat(file); err == nil {
				break
			}
			select {
			case <-c.exited:
				return fmt.Errorf("it ended: %v", c.err)
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(5 * time.Millisecond):
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("it made no socket in %v", startTimeout)
			}
		}
	}
	ctx, c.cancel = context.WithCancel(context.Background())
	retry, times := zmq4.WithDialerRetry(20*time.Millisecond), zmq4.WithDialerMaxRetries(100)
	for _, s := range []struct {
		dst  **socket
		port int
		make func(context.Context, ...zmq4.Option) zmq4.Socket
	}{
		{&c.iopub, conn.IOPubPort, zmq4.NewSub},
		{&c.stdin, conn.StdinPort, zmq4.NewDealer},
		{&c.control, conn.ControlPort, zmq4.NewDealer},
		{&c.shell, conn.ShellPort, zmq4.NewDealer},
	} {
		z := s.make(ctx, identity, retry, times, quiet)
		if err := z.Dial(conn.endpoint(s.port)); err != nil {
			return err
		}
		*s.dst = newSocket(z)
	}
	return c.iopub.SetOption(zmq4.OptionSubscribe, "")
}

// read passes on what GoNB sends until it is gone: whole messages, checked, in order per channel.
func (c *child) read(key []byte, from func(channel channel, m *message)) {
	for ch, s := range map[channel]*socket{shellChannel: c.shell, controlChannel: c.control, stdinChannel: c.stdin, iopubChannel: c.iopub} {
		c.readers.Add(1)
		go func() {
			defer c.readers.Done()
			s.receive(context.Background(), func(frames [][]byte) {
				if m, err := parse(frames, key); err == nil {
					from(ch, m)
				}
			})
		}()
	}
}

// stop waits for GoNB to end by itself, for at most d, and ends it otherwise. Nothing of it is left afterwards.
func (c *child) stop(d time.Duration) {
	select {
	case <-c.exited:
	case <-time.After(d):
		c.kill()
	}
	c.release()
}

// kill ends GoNB and everything it started, now.
func (c *child) kill() {
	killSession(c.cmd.Process.Pid)
	_ = c.cmd.Process.Kill()
	<-c.exited
}

// release frees the sockets and the folder of a child that has ended.
func (c *child) release() {
	for _, s := range []*socket{c.shell, c.control, c.stdin, c.iopub} {
		if s != nil {
			s.finish(0)
		}
	}
	if c.cancel != nil {
		c.cancel()
	}
	_ = os.RemoveAll(c.dir)
	for _, dir := range workDirs(c.tmp) {
		_ = os.RemoveAll(dir)
	}
}

// reason says why GoNB ended, for people.
func (c *child) reason() string {
	if c.ended != "" {
		return "was ended by the kernel: " + c.ended
	}
	var exit *exec.ExitError
	if errors.As(c.err, &exit) {
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			why := "was killed by signal " + ws.Signal().String()
			if ws.Signal() == syscall.SIGKILL {
				why += " (often: the system was out of memory)"
			}
			return why
		}
		return fmt.Sprintf("ended with status %d", exit.ExitCode())
	}
	if c.err != nil {
		return "ended: " + c.err.Error()
	}
	return "ended"
}
