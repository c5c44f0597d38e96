package store

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/kernelext/session/internal/fds"
)

// Tensors in a device's memory. Their words stay in the file, and are written as those of the host are; what a word says must be true
// though the device works behind the host's back. So a commit waits for the device before it says that elements are in place, and a
// change begins only when the copies that the anchor needs are made. The commits of training steps wait for nothing: see later.go.

// SetKeeper names who keeps memory of devices, before there is any.
func (s *Store) SetKeeper(k Keeper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keeper = k
}

// CanShare says whether tensors on a device stay there between processes.
func (s *Store) CanShare(device string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keeper == nil {
		return false
	}
	_, err := s.sharer(device)
	return err == nil
}

// sharer returns a device that can share memory.
func (s *Store) sharer(name string) (amp.Sharer, error) {
	d := s.devices[name]
	if d == nil {
		var err error
		if d, _, err = amp.OpenDevice(name); err != nil {
			return nil, fmt.Errorf("session: it is on %s, which can't be opened here: %w", name, err)
		}
		if d.Name() != name {
			return nil, fmt.Errorf("session: it is on %s, here there is %s", name, d.Name())
		}
		if s.devices == nil {
			s.devices = map[string]amp.Device{}
		}
		s.devices[name] = d
	}
	if sh, ok := d.(amp.Sharer); ok && sh.CanShare() {
		return sh, nil
	}
	return nil, fmt.Errorf("session: %w: %s does not share memory between processes", errors.ErrUnsupported, name)
}

// roomFar allocates memory of a device and gives it back.
func (s *Store) roomFar(device string, bytes int64) error {
	m, err := s.share(device, bytes)
	if err == nil {
		err = m.Close()
	}
	return err
}

// share allocates memory of a device.
func (s *Store) share(device string, bytes int64) (amp.Shared, error) {
	d, err := s.sharer(device)
	if err != nil {
		return nil, err
	}
	m, err := d.Share(bytes)
	if errors.Is(err, amp.ErrMemory) {
		return nil, fmt.Errorf("session: %w: %d bytes (%s) are wanted on %s, copies included: %w; free some with session.Drop or %%amp session drop, or make the model smaller",
			ErrSpace, bytes, Bytes(bytes), device, err)
	}
	return m, err
}

// newFar gives an extent memory of its device, and the keeper the memory.
func (s *Store) newFar(e *Extent) error {
	if s.keeper == nil {
		return fmt.Errorf("session: %w: nobody keeps memory of %s", errors.ErrUnsupported, e.Device)
	}
	m, err := s.share(e.Device, e.Far)
	if err != nil {
		return err
	}
	files, err := m.Files()
	if err == nil {
		err = s.keeper.Put(e.Handle, files)
	}
	fds.Close(files)
	if err != nil {
		_ = m.Close()
		return fmt.Errorf("session: handing memory of %s to the kernel: %w", e.Device, err)
	}
	e.far, e.Far, s.usesFar = m, m.Len(), true
	return nil
}

// attachFar maps an extent's memory, and brings tensors of an object back that a killed process was changing.
func (s *Store) attachFar(o *Object, e *Extent) error {
	if e.Device == "" {
		return nil
	}
	if e.far == nil {
		d, err := s.sharer(e.Device)
		if err != nil {
			return err
		}
		files, err := s.Files(e)
		if err != nil {
			return err
		}
		defer fds.Close(files)
		if e.far, err = d.OpenShared(files, e.Far); err != nil {
			return fmt.Errorf("session: mapping %s of %s: %w", Bytes(e.Far), e.Device, err)
		}
	}
	var back []*Block
	var moves []amp.Move
	for _, b := range blocksOf([]*Object{o}) {
		if k := b.copyOf(b.need); b.ext == e && !b.dirty.Load() && b.work != b.need && k >= 0 {
			b.setWork(0)
			back = append(back, b)
			moves = append(moves, amp.Move{To: b.t.At, From: e.copyFar(k, b.t.At), Bytes: b.t.Size})
		}
	}
	if len(back) == 0 {
		return nil
	}
	if err := e.far.Copy(moves); err != nil {
		return err
	}
	for _, b := range back {
		b.setWork(b.need)
	}
	return nil
}

// Files returns new descriptors of an extent's memory on its device.
func (s *Store) Files(e *Extent) ([]*os.File, error) {
	if s.keeper == nil {
		return nil, fmt.Errorf("session: %w: it is on %s, and nobody here keeps that memory", errors.ErrUnsupported, e.Device)
	}
	files, err := s.keeper.Get(e.Handle)
	if err != nil {
		return nil, fmt.Errorf("session: memory of %s: %w", e.Device, err)
	}
	return files, nil
}

// saveFar copies what the anchor needs of an extent to its other place, all at once.
func (s *Store) saveFar(e *Extent) error {
	start := time.Now()
	var saved []*Block
	var places []int
	var moves []amp.Move
	for _, b := range blocksOf(s.objects) {
		if b.ext == e && b.unsaved() {
			k := b.spare()
			b.setCopied(k, 0)
			saved, places = append(saved, b), append(places, k)
			moves = append(moves, amp.Move{To: e.copyFar(k, b.t.At), From: b.t.At, Bytes: b.t.Size})
		}
	}
	if err := e.far.Copy(moves); err != nil {
		return fmt.Errorf("session: copying on %s: %w", e.Device, err)
	}
	for i, b := range saved {
		b.setCopied(places[i], b.work)
	}
	s.copyCost += time.Since(start)
	return nil
}

// arrive waits until the devices have done what was queued: only then are elements what the host takes them for.
func (s *Store) arrive() error {
	var done []string
	for _, e := range s.extents {
		if e.far == nil || slices.Contains(done, e.Device) {
			continue
		}
		done = append(done, e.Device)
		if err := s.devices[e.Device].Sync(); err != nil {
			return fmt.Errorf("session: %s: %w; what was committed before stays", e.Device, err)
		}
	}
	return nil
}

// Arrive waits for the devices of the session, before a commit: they compute meanwhile, so that this is not what the commit costs.
func (s *Store) Arrive() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrive()
}

// keepFar tells the keeper which memory is still needed.
func (s *Store) keepFar() {
	if s.keeper == nil || !s.usesFar {
		return
	}
	var handles []uint64
	for _, e := range s.extents {
		if e.Device != "" {
			handles = append(handles, e.Handle)
		}
	}
	_ = s.keeper.Keep(handles) // what it can't be told now it finds when this process ends
}

// IsFar says whether the elements are in a device's memory.
func (b *Block) IsFar() bool { return b.ext.Device != "" }

// Device names the device that the elements are on, "" for the host.
func (b *Block) Device() string { return b.ext.Device }

// Buffer returns the memory for Tensor.Rehome.
func (b *Block) Buffer() amp.Buffer {
	if !b.IsFar() {
		return b
	}
	if b.part == nil {
		b.part = b.ext.far.Part(b.t.At, b.t.Size, b)
	}
	return b.part
}

// Write replaces the elements, which the caller has announced with BeforeChange, or which are new.
func (b *Block) Write(elements []byte) error {
	if b.IsFar() {
		return b.ext.far.Write(b.t.At, elements)
	}
	copy(b.Bytes(), elements)
	return nil
}

// Take copies the elements of a tensor, which lie without gaps; on a device that is queued, and the next commit waits for it.
func (b *Block) Take(t *amp.Tensor) error {
	l := t.Layout()
	size := t.DType().Size()
	if !b.IsFar() || t.Device() != b.ext.Device {
		return b.Write(l.Buffer.Bytes()[l.Offset*size:][:b.t.Size])
	}
	return b.s.devices[b.ext.Device].Copy(b.Buffer(), 0, l.Buffer, l.Offset*size, int(b.t.Size))
}

// Read copies the elements, which must be in place: those of an object that was attached.
func (b *Block) Read(dst []byte) error {
	if b.IsFar() {
		return b.ext.far.Read(dst, b.t.At)
	}
	copy(dst, b.Bytes())
	return nil
}

// Place says where in the memory of its extent the committed elements are.
func (b *Block) Place() (e *Extent, at int64) {
	k := b.copyOf(b.need)
	if b.work == b.need || k < 0 {
		return b.ext, b.t.At
	}
	return b.ext, b.ext.copyFar(k, b.t.At)
}
