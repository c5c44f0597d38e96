// Package remote is a device for tests whose memory the host can't reach, as a GPU's: what amp reads or writes behind its back fails at
// once, and what it copies is counted. The memory is a file of bytes that only the copies see; ops run on the host through
// amp.RunOnHost, so results are the CPU's bit for bit. Importing it registers the device "remote"; FromEnv makes it, or another one,
// the default device of the test binary.
package remote

import (
	"fmt"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
)

// Env names the variable that makes a registered device the default one of a test binary.
const Env = "HALFTONE_TEST_DEVICE"

// Memory is the largest block there is.
const Memory = 8 << 30

func init() {
	amp.RegisterDevice("remote", func(index int) (amp.Device, error) {
		return &Device{name: fmt.Sprintf("remote:%d", index), free: map[int][][]byte{}}, nil
	})
}

// FromEnv makes the device that HALFTONE_TEST_DEVICE names, such as "remote" or "cuda:0", the default one.
func FromEnv() {
	if name := os.Getenv(Env); name != "" {
		amp.SetDefaultDevice(name)
	}
}

// A Device hides its memory from the host.
type Device struct {
	name    string
	Ops     atomic.Int64 // calls of Run
	Syncs   atomic.Int64 // times the host waited: calls of CopyOut and Sync
	Read    atomic.Int64 // bytes that CopyOut was asked for
	Uploads atomic.Int64 // calls of CopyIn
	Fills   atomic.Int64
	blocks  atomic.Int64
	bytes   atomic.Int64

	mu   sync.Mutex
	free map[int][][]byte // by size
}

// Open returns the device "remote:0".
func Open() *Device {
	d, _, err := amp.OpenDevice("remote")
	if err != nil {
		panic(err)
	}
	return d.(*Device)
}

// A buffer keeps its bytes to itself; a freed one has none.
type buffer struct {
	dev *Device
	mu  sync.Mutex
	mem []byte
	n   int
}

func (b *buffer) Bytes() []byte { return nil }
func (b *buffer) Len() int      { return b.n }
func (b *buffer) Free() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mem == nil {
		panic("remote: a buffer is freed twice")
	}
	b.dev.mu.Lock()
	b.dev.free[len(b.mem)] = append(b.dev.free[len(b.mem)], b.mem)
	b.dev.mu.Unlock()
	b.mem = nil
}

// at returns n bytes from the given one on.
func at(of amp.Buffer, from, n int) ([]byte, error) {
	b := of.(*buffer)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mem == nil || from < 0 || from+n > len(b.mem) {
		return nil, fmt.Errorf("remote: bytes %d to %d of a block of %d", from, from+n, len(b.mem))
	}
	return b.mem[from : from+n], nil
}

// Name returns "remote:0".
func (d *Device) Name() string { return d.name }

// Alloc fills memory, new or used before, with what no program would want to read.
func (d *Device) Alloc(n int) (amp.Buffer, error) {
	if n > Memory {
		return nil, fmt.Errorf("a block of %d bytes, the device has %d", n, Memory)
	}
	size := max(8, 1<<bits.Len(uint(n)))
	d.mu.Lock()
	var mem []byte
	if l := d.free[size]; len(l) > 0 {
		mem, d.free[size] = l[len(l)-1], l[:len(l)-1]
	}
	d.mu.Unlock()
	if mem == nil {
		mem = make([]byte, size)
		d.blocks.Add(1)
		d.bytes.Add(int64(size))
	}
	for i := range mem {
		mem[i] = 0xA5
	}
	return &buffer{dev: d, mem: mem, n: n}, nil
}

// Reserved counts every block ever taken.
func (d *Device) Reserved() (blocks, bytes int64) { return d.blocks.Load(), d.bytes.Load() }

// Run has no kernels: every op runs on the host.
func (d *Device) Run(c *amp.Call) error {
	d.Ops.Add(1)
	return amp.RunOnHost(c, link{})
}

// CopyIn copies to the device.
func (d *Device) CopyIn(dst amp.Buffer, to int, src []byte) error {
	d.Uploads.Add(1)
	return link{}.CopyIn(dst, to, src)
}

// CopyOut copies to the host.
func (d *Device) CopyOut(dst []byte, src amp.Buffer, from int) error {
	d.Syncs.Add(1)
	d.Read.Add(int64(len(dst)))
	return link{}.CopyOut(dst, src, from)
}

// Copy copies within the device.
func (d *Device) Copy(dst amp.Buffer, to int, src amp.Buffer, from, n int) error {
	mem, err := at(src, from, n)
	if err != nil {
		return err
	}
	return link{}.CopyIn(dst, to, mem)
}

// Fill repeats a pattern.
func (d *Device) Fill(dst amp.Buffer, to int, pattern []byte, n int) error {
	d.Fills.Add(1)
	mem, err := at(dst, to, n*len(pattern))
	for i := 0; i < len(mem); i += len(pattern) {
		copy(mem[i:], pattern)
	}
	return err
}

// Sync has nothing to wait for.
func (d *Device) Sync() error { d.Syncs.Add(1); return nil }

// A link copies without being counted: what the device does for itself.
type link struct{}

func (link) CopyIn(dst amp.Buffer, to int, src []byte) error {
	mem, err := at(dst, to, len(src))
	copy(mem, src)
	return err
}

func (link) CopyOut(dst []byte, src amp.Buffer, from int) error {
	mem, err := at(src, from, len(dst))
	copy(dst, mem)
	return err
}

// Home returns the name of the default device, on which the tests of the binary run.
func Home() string {
	name := amp.SetDefaultDevice("cpu")
	amp.SetDefaultDevice(name)
	return name
}
