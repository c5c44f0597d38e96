package vault

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/halftone-ml/halftone/kernelext/session/internal/fds"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// Serve answers processes of this user on a socket in dir, until the function that it returns is called. Env names it to cells.
func (v *Vault) Serve(dir string) (env string, stop func(), err error) {
	path := filepath.Join(dir, "devices")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return "", nil, fmt.Errorf("session: %w", err)
	}
	go func() {
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			go v.serve(c)
		}
	}()
	return store.DevicesEnv + "=" + path, func() {
		_ = l.Close()
		_ = v.Keep(nil)
	}, nil
}

func (v *Vault) serve(c *net.UnixConn) {
	defer v.left(c)
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil || !ours(raw) {
		return
	}
	buf, oob := make([]byte, fds.Bytes), make([]byte, fds.Space)
	for {
		n, m, _, _, err := c.ReadMsgUnix(buf, oob)
		if err != nil || n == 0 {
			return
		}
		files := fds.Received(oob[:m])
		reply, back := v.answer(string(buf[:n]), files, c)
		fds.Close(files)
		_, _, err = c.WriteMsgUnix([]byte("."+reply), fds.Sent(back), nil)
		fds.Close(back)
		if err != nil {
			return
		}
	}
}

// ours says whether the other end is this user.
func ours(raw syscall.RawConn) (same bool) {
	_ = raw.Control(func(fd uintptr) {
		u, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		same = err == nil && int(u.Uid) == os.Getuid()
	})
	return same
}
