package store

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/halftone-ml/halftone/kernelext/session/internal/fds"
)

// A remoteKeeper is the kernel, asked over its socket. It is written with system calls alone: package net would be linked into every cell.
type remoteKeeper struct {
	path string
	mu   sync.Mutex
	fd   int // -1 before the first question
}

// KeeperAt returns the keeper behind a socket, which is connected to when it is first asked something.
func KeeperAt(path string) Keeper { return &remoteKeeper{path: path, fd: -1} }

func (c *remoteKeeper) Put(handle uint64, files []*os.File) error {
	_, err := c.ask("put "+strconv.FormatUint(handle, 10), files)
	return err
}

func (c *remoteKeeper) Get(handle uint64) ([]*os.File, error) {
	return c.ask("get "+strconv.FormatUint(handle, 10), nil)
}

func (c *remoteKeeper) Keep(handles []uint64) error {
	var b strings.Builder
	b.WriteString("keep")
	for _, h := range handles {
		b.WriteString(" " + strconv.FormatUint(h, 10))
	}
	if b.Len() >= fds.Bytes {
		return nil // what is given up is found when this process ends
	}
	_, err := c.ask(b.String(), nil)
	return err
}

// Close ends the connection: what was put and not committed is given up.
func (c *remoteKeeper) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd < 0 {
		return nil
	}
	err := syscall.Close(c.fd)
	c.fd = -1
	return err
}

func (c *remoteKeeper) connect() (err error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: c.path}); err != nil {
		_ = syscall.Close(fd)
		return fmt.Errorf("the kernel's socket %s: %w; restart the kernel", c.path, err)
	}
	c.fd = fd
	return nil
}

func (c *remoteKeeper) ask(question string, files []*os.File) ([]*os.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd < 0 {
		if err := c.connect(); err != nil {
			return nil, err
		}
	}
	err := retry(func() error {
		return syscall.Sendmsg(c.fd, []byte(question), fds.Sent(files), nil, syscall.MSG_NOSIGNAL)
	})
	if err != nil {
		return nil, fmt.Errorf("asking the kernel: %w", err)
	}
	buf, oob := make([]byte, 4096), make([]byte, fds.Space)
	var n, m int
	err = retry(func() (err error) {
		n, m, _, _, err = syscall.Recvmsg(c.fd, buf, oob, syscall.MSG_CMSG_CLOEXEC)
		return err
	})
	if err == nil && n == 0 {
		err = errors.New("it closed the connection")
	}
	if err != nil {
		return nil, fmt.Errorf("asking the kernel: %w", err)
	}
	back := fds.Received(oob[:m])
	if n > 1 {
		fds.Close(back)
		return nil, errors.New(string(buf[1:n]))
	}
	return back, nil
}

func retry(f func() error) (err error) {
	for err = f(); err == syscall.EINTR; err = f() {
	}
	return err
}
