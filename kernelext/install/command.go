package install

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// run runs a command to its end and returns all it printed. Each line is handed to onLine as it comes (nil: to nobody).
// A cancelled ctx stops the command with the whole of its process group.
func run(ctx context.Context, cmd *exec.Cmd, onLine func(string)) (string, error) {
	var (
		mu  sync.Mutex
		out strings.Builder
	)
	pr, pw := io.Pipe()
	cmd.Stdout, cmd.Stderr = pw, pw
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		pw.Close()
		return "", err
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(pr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			mu.Lock()
			if out.Len() < 1<<20 {
				out.WriteString(lines.Text() + "\n")
			}
			mu.Unlock()
			if onLine != nil {
				onLine(lines.Text())
			}
		}
		io.Copy(io.Discard, pr)
	}()
	ended := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			killGroup(cmd.Process.Pid, false)
			select {
			case <-ended:
			case <-time.After(3 * time.Second):
				killGroup(cmd.Process.Pid, true)
			}
		case <-ended:
		}
	}()
	// A grandchild that keeps the pipe open must not hold us for ever.
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Wait()
	close(ended)
	pw.Close()
	<-read
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out.String(), err
}
