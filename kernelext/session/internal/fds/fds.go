// Package fds passes open files from process to process: their descriptors cross a Unix socket.
package fds

import "os"

// Sizes of a question or an answer, which is one packet: bytes, and files that go with them.
const (
	Bytes = 128 << 10
	Files = 64
)

// Close closes files.
func Close(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
