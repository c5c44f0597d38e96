// Package zmtp serves the ZeroMQ sockets that a Jupyter kernel offers: ROUTER, PUB and an echo, over ZMTP 3.0 with the
// NULL mechanism.
//
// A kernel's sockets are open to every program on the machine before any signature is checked, and several front ends use
// them at once. So nothing that a peer does, or leaves undone, may stop the others: each has its own goroutines, its own
// bounded queue and a time limit for its handshake, and a length that a peer announces is believed only as far as bytes
// arrive.
package zmtp

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// MaxMessage is the size above which a message is taken for an attack and its peer is disconnected.
const MaxMessage = 512 << 20

const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
)

const greetingSize = 64

// greeting is what both sides send first: signature, version 3.0, mechanism NULL, no server role, filler.
func greeting() []byte {
	g := make([]byte, greetingSize)
	g[0], g[9] = 0xff, 0x7f
	g[10] = 3
	copy(g[12:], "NULL")
	return g
}

func checkGreeting(g []byte) error {
	switch {
	case g[0] != 0xff || g[9]&1 == 0:
		return errors.New("zmtp: the peer does not speak ZeroMQ")
	case g[10] < 3:
		return fmt.Errorf("zmtp: the peer speaks version %d: 3 is needed", g[10])
	case string(bytes.TrimRight(g[12:32], "\x00")) != "NULL":
		return errors.New("zmtp: the peer wants a security mechanism")
	}
	return nil
}

// A frame is one part of a message, or a command.
type frame struct {
	body    []byte
	more    bool
	command bool
}

// readFrame reads a frame of at most limit bytes.
func readFrame(r *bufio.Reader, limit int) (frame, error) {
	flags, err := r.ReadByte()
	if err != nil {
		return frame{}, err
	}
	if flags&^(flagMore|flagLong|flagCommand) != 0 || flags&flagCommand != 0 && flags&flagMore != 0 {
		return frame{}, fmt.Errorf("zmtp: flags %#x", flags)
	}
	var size uint64
	if flags&flagLong != 0 {
		var b [8]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return frame{}, err
		}
		size = binary.BigEndian.Uint64(b[:])
	} else {
		b, err := r.ReadByte()
		if err != nil {
			return frame{}, err
		}
		size = uint64(b)
	}
	if size > uint64(limit) {
		return frame{}, fmt.Errorf("zmtp: a frame of %d bytes", size)
	}
	f := frame{more: flags&flagMore != 0, command: flags&flagCommand != 0}
	if size <= 64<<10 {
		f.body = make([]byte, size)
		_, err := io.ReadFull(r, f.body)
		return f, err
	}
	var body bytes.Buffer // grows with what arrives, not with what was announced
	if _, err := io.CopyN(&body, r, int64(size)); err != nil {
		return f, err
	}
	f.body = body.Bytes()
	return f, nil
}

// appendFrame appends a frame as it goes on the wire.
func appendFrame(b []byte, body []byte, flags byte) []byte {
	if len(body) > 255 {
		b = append(b, flags|flagLong)
		b = binary.BigEndian.AppendUint64(b, uint64(len(body)))
	} else {
		b = append(b, flags, byte(len(body)))
	}
	return append(b, body...)
}

// appendMessage appends the frames of a message as they go on the wire.
func appendMessage(b []byte, frames [][]byte) []byte {
	size := 0
	for _, f := range frames {
		size += len(f) + 9
	}
	b = slices.Grow(b, size)
	for i, f := range frames {
		var flags byte
		if i < len(frames)-1 {
			flags = flagMore
		}
		b = appendFrame(b, f, flags)
	}
	return b
}

// ready is the command that ends the handshake.
func ready(socketType string) []byte {
	b := append([]byte{5}, "READY"...)
	b = appendProperty(b, "Socket-Type", socketType)
	b = appendProperty(b, "Identity", "")
	return appendFrame(nil, b, flagCommand)
}

func appendProperty(b []byte, name, value string) []byte {
	b = append(b, byte(len(name)))
	b = append(b, name...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	return append(b, value...)
}

// parseReady returns what a peer says of itself, by lower-case name.
func parseReady(body []byte) (map[string]string, error) {
	rest, ok := bytes.CutPrefix(body, append([]byte{5}, "READY"...))
	if !ok {
		return nil, errors.New("zmtp: the handshake was refused")
	}
	properties := map[string]string{}
	for len(rest) > 0 {
		n := int(rest[0])
		if len(rest) < 1+n+4 {
			return nil, errors.New("zmtp: damaged handshake")
		}
		name := string(bytes.ToLower(rest[1 : 1+n]))
		size := binary.BigEndian.Uint32(rest[1+n:])
		rest = rest[1+n+4:]
		if uint64(size) > uint64(len(rest)) {
			return nil, errors.New("zmtp: damaged handshake")
		}
		properties[name] = string(rest[:size])
		rest = rest[size:]
	}
	return properties, nil
}
