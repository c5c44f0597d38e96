package cudart

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Memory that processes share by file descriptors (amp.Sharer): an open descriptor keeps it, even with no process left that has the
// device open. So a notebook's kernel can own the memory of its cells without ever loading the driver.

// shared is one allocation, mapped here.
type shared struct {
	d   *device
	mem driver.Shared
}

// A sharedPart is device memory within it, as a tensor's buffer.
type sharedPart struct {
	block
	owner amp.PartOwner
}

func (p *sharedPart) Free()         { p.owner.Free() }
func (p *sharedPart) BeforeChange() { p.owner.BeforeChange() }

// The copies between parts run on a stream of their own: their callers see to the order, and steps that only read go on meanwhile.
type sharing struct {
	once   sync.Once
	stream driver.Stream
	err    error
}

// blockOf returns the device memory of a buffer, nil for one of another device.
func blockOf(b amp.Buffer) *block {
	switch b := b.(type) {
	case *block:
		return b
	case *sharedPart:
		return &b.block
	}
	return nil
}

// CanShare says whether the driver exports memory as file descriptors; under WSL it does not.
func (d *device) CanShare() bool { return d.props.ExportFD }

// Share allocates memory for several processes. What the cache of this one keeps is given back first where it is in the way.
func (d *device) Share(n int64) (amp.Shared, error) {
	if err := d.admit(); err != nil {
		return nil, err
	}
	defer d.finish()
	if err := d.refuse("memory can't be shared while a step is captured", "make it before Capture"); err != nil {
		return nil, err
	}
	m := &shared{d: d}
	take := func() (err error) {
		return d.do(func() error { m.mem, err = d.drv.Export(d.dev, uint64(n)); return err })
	}
	err := take()
	if errors.Is(err, driver.ErrMemory) {
		if err := d.Sync(); err != nil {
			return nil, err
		}
		if _, err := d.pool.memory().Trim(); err != nil {
			return nil, err
		}
		err = take()
	}
	if errors.Is(err, driver.ErrMemory) {
		return nil, d.full(n, err)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// full says what the device has left.
func (d *device) full(n int64, err error) error {
	text := fmt.Sprintf("%s has no %s left", d.name, driver.Bytes(uint64(n)))
	_ = d.do(func() error {
		if free, total, err := d.drv.MemInfo(); err == nil {
			text = fmt.Sprintf("%s has %s of %s left", d.name, driver.Bytes(free), driver.Bytes(total))
		}
		return nil
	})
	if st := d.pool.memory().Stats(); st.InUse > 0 {
		text += fmt.Sprintf(", tensors of this program have %s", driver.Bytes(st.InUse))
	}
	return fmt.Errorf("%w: %s: %w", amp.ErrMemory, text, err)
}

// OpenShared maps another process's memory.
func (d *device) OpenShared(files []*os.File, n int64) (amp.Shared, error) {
	if len(files) == 0 {
		return nil, errors.New("cudart: no file of shared memory")
	}
	if err := d.admit(); err != nil {
		return nil, err
	}
	defer d.finish()
	m := &shared{d: d}
	err := d.do(func() (err error) { m.mem, err = d.drv.Import(d.dev, int(files[0].Fd()), uint64(n)); return err })
	if errors.Is(err, driver.ErrMemory) {
		err = d.full(n, err)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (m *shared) Len() int64 { return int64(m.mem.Bytes) }

// Files returns the memory's descriptor, and those of the devices that this process has open: without a process that has it open, and
// without the persistence daemon, a GPU is shut down, and its memory with it.
func (m *shared) Files() ([]*os.File, error) {
	var fd int
	err := m.d.do(func() (err error) { fd, err = m.d.drv.ExportFD(m.mem); return err })
	if err != nil {
		return nil, err
	}
	return append([]*os.File{os.NewFile(uintptr(fd), "device memory")}, openNodes()...), nil
}

// openNodes opens the device nodes /dev/nvidia0 … that the driver has open in this process again.
func openNodes() (files []*os.File) {
	links, _ := filepath.Glob("/proc/self/fd/*")
	seen := map[string]bool{}
	for _, l := range links {
		node, err := os.Readlink(l)
		number := strings.TrimPrefix(node, "/dev/nvidia")
		if err != nil || number == node || number == "" || strings.Trim(number, "0123456789") != "" || seen[node] {
			continue
		}
		seen[node] = true
		if f, err := os.OpenFile(node, os.O_RDWR, 0); err == nil {
			files = append(files, f)
		}
	}
	return files
}

func (m *shared) Part(at, n int64, owner amp.PartOwner) amp.Buffer {
	ptr := m.mem.Ptr + driver.DevicePtr(at)
	return &sharedPart{block{dev: m.d, ptr: ptr, b: &driver.Block{Ptr: ptr, Bytes: uint64(n)}}, owner}
}

// apart calls f with the context bound and the stream of copies, on a thread of its own: that of the caller may be capturing a step.
func (m *shared) apart(f func(s driver.Stream) error) error {
	d := m.d
	done := make(chan error, 1)
	go func() {
		done <- d.do(func() error {
			d.sharing.once.Do(func() { d.sharing.stream, d.sharing.err = d.drv.NewStream() })
			if d.sharing.err != nil {
				return d.sharing.err
			}
			if err := f(d.sharing.stream); err != nil {
				return err
			}
			return d.drv.SyncStream(d.sharing.stream)
		})
	}()
	return <-done
}

func (m *shared) Copy(moves []amp.Move) error {
	return m.apart(func(s driver.Stream) error {
		for _, c := range moves {
			if err := m.move(c, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// move queues one copy; the context is bound.
func (m *shared) move(c amp.Move, s driver.Stream) error {
	if c.Bytes == 0 {
		return nil
	}
	return m.d.drv.CopyDtoD(m.mem.Ptr+driver.DevicePtr(c.To), m.mem.Ptr+driver.DevicePtr(c.From), uint64(c.Bytes), s)
}

func (m *shared) Write(at int64, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	return m.apart(func(s driver.Stream) error {
		return m.d.drv.CopyHtoDAsync(m.mem.Ptr+driver.DevicePtr(at), src, s)
	})
}

func (m *shared) Read(dst []byte, at int64) error {
	if len(dst) == 0 {
		return nil
	}
	return m.apart(func(s driver.Stream) error {
		return m.d.drv.CopyDtoHAsync(dst, m.mem.Ptr+driver.DevicePtr(at), s)
	})
}

func (m *shared) Close() error {
	return m.d.do(func() error { return m.d.drv.ReleaseShared(m.mem) })
}
