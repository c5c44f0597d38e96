//go:build unix

package fds

import (
	"os"
	"syscall"
)

// Space is the room that a packet's descriptors take.
var Space = syscall.CmsgSpace(4 * Files)

// Sent returns what goes beside a packet for files to go with it.
func Sent(files []*os.File) []byte {
	if len(files) == 0 {
		return nil
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	return syscall.UnixRights(fds...)
}

// Received returns the files that came beside a packet.
func Received(oob []byte) (files []*os.File) {
	messages, _ := syscall.ParseSocketControlMessage(oob)
	for _, m := range messages {
		fds, _ := syscall.ParseUnixRights(&m)
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "kept"))
		}
	}
	return files
}

// Again returns new descriptors of files.
func Again(files []*os.File) ([]*os.File, error) {
	var out []*os.File
	for _, f := range files {
		fd, _, e := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_DUPFD_CLOEXEC, 0)
		if e != 0 {
			Close(out)
			return nil, e
		}
		out = append(out, os.NewFile(fd, f.Name()))
	}
	return out, nil
}
