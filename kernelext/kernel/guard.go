package kernel

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Jupyter kills a kernel that does not end in time with SIGKILL, and so does a system out of memory. Nothing in a killed
// process can clean up after it, so each GoNB has a guard: this program again, which waits for its input to end (the
// system closes the pipe however we die), ends GoNB's session and removes the private folder.

// guardEnv makes the process a guard: its value is "session:folder". It is an environment variable and not an argument
// so that every program that links this package, a test too, can be one without its main knowing.
const guardEnv = "HALFTONE_KERNEL_GUARD"

func init() {
	if spec, ok := os.LookupEnv(guardEnv); ok {
		runGuard(spec)
		os.Exit(0)
	}
}

func runGuard(spec string) {
	sid, dir, _ := strings.Cut(spec, ":")
	session, err := strconv.Atoi(sid)
	if err != nil || session <= 1 {
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	verdict, _ := io.ReadAll(os.Stdin)
	if string(verdict) == "ended" {
		return // the kernel has done it itself
	}
	killSession(session)
	tidyCache(filepath.Join(dir, tmpName))
	removeDir(dir)
}

type guard struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// startGuard returns nil when there can be no guard: the kernel works without.
func startGuard(session int, dir string) *guard {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	cmd := exec.Command(self)
	cmd.Env = []string{fmt.Sprintf("%s=%d:%s", guardEnv, session, dir)}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // not in the group that Jupyter kills
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil
	}
	if err := cmd.Start(); err != nil {
		_ = pipe.Close()
		return nil
	}
	return &guard{cmd, pipe}
}

// release tells the guard that its session has ended and waits until it is gone.
func (g *guard) release() {
	if g == nil {
		return
	}
	_, _ = io.WriteString(g.pipe, "ended")
	_ = g.pipe.Close()
	ended := make(chan struct{})
	go func() { _ = g.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
		_ = g.cmd.Process.Kill()
		<-ended
	}
}

// removeDir removes a private folder. Programs being killed may still make files in it for a moment.
func removeDir(dir string) {
	for range 20 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
