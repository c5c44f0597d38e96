package store

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
)

func unmap(mem []byte) { _ = syscall.Munmap(mem) }

// place reserves bytes of the file that nothing uses and returns where.
func (s *Store) place(size int64) (int64, error) {
	off := pageSize
	for _, u := range s.used() {
		if u[0]-off >= size {
			break
		}
		off = max(off, u[0]+u[1])
	}
	return off, s.b.reserve(off, size)
}

// used lists the parts of the file that are in use, by offset.
func (s *Store) used() [][2]int64 {
	var out [][2]int64
	for i := range s.slots {
		if s.slots[i].size > 0 {
			out = append(out, [2]int64{s.slots[i].off, s.slots[i].size})
		}
	}
	for _, e := range s.extents {
		out = append(out, [2]int64{e.Off, e.Len})
	}
	slices.SortFunc(out, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	return out
}

// sweep gives back to the system what neither the current record nor the anchor nor a tensor of this process needs.
func (s *Store) sweep() {
	var keep []*Extent
	add := func(e *Extent) {
		if !slices.ContainsFunc(keep, func(k *Extent) bool { return k.Off == e.Off }) {
			keep = append(keep, e)
		}
	}
	for _, o := range s.objects {
		for _, e := range o.Extents {
			add(e)
		}
	}
	for _, list := range [][]*Extent{s.anchorExtents, s.pinned} {
		for _, e := range list {
			add(e)
		}
	}
	for _, e := range s.extents {
		if e.far != nil && !slices.ContainsFunc(keep, func(k *Extent) bool { return k.Handle == e.Handle }) {
			e.detach()
		}
	}
	s.extents = keep
	s.keepFar()
	info, err := s.b.f.Stat()
	if err != nil {
		return
	}
	off := pageSize
	for _, u := range s.used() {
		if u[0] > off {
			s.b.release(off, u[0]-off)
		}
		off = max(off, u[0]+u[1])
	}
	if info.Size() > off {
		s.b.release(off, info.Size()-off)
	}
}

// Room checks that there is space for new tensors of so many bytes on a device, "" for the host, with their copies.
func (s *Store) Room(device string, size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if device != "" && size > 0 {
		return s.roomFar(device, roundUp(3*size, pageSize))
	}
	want := roundUp(2*size, pageSize)
	if want == 0 {
		return nil
	}
	off, err := s.place(want)
	if err == nil {
		s.b.release(off, want)
	}
	return err
}

// Add puts a new object into the session and commits it, with everything else as it was committed last. fill is called once the
// memory of the large tensors is there, and writes all of it. With fixed set the tensors never change, and have no copies.
// An object of that name must have been removed before. What making the object has moved, a random stream, is committed along with it.
func (s *Store) Add(o *Object, tensors []*Tensor, src Source, fixed bool, fill func() error, along ...*Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.finish(); err != nil {
		return err
	}
	s.along = along
	defer func() { s.along = nil }()
	if s.find(o.Name) != nil {
		return fmt.Errorf("session: %q is there already", o.Name)
	}
	if o.Birth == 0 {
		o.Birth = rand.Uint64()>>11 | 1 // exact in JSON
	}
	o.source = src
	s.objects = append(s.objects, o)
	err := s.extend(o, tensors, fixed)
	if err == nil && fill != nil {
		err = fill()
	}
	if err == nil {
		err = s.restructure(false)
	}
	if err != nil {
		s.objects = s.objects[:len(s.objects)-1]
		s.abandon(o.Extents)
		if dir, e := directory(s.objects); e == nil {
			s.dir = dir
		}
	}
	return err
}

// Extend gives an object more tensors, which the next commit makes part of it; Memory returns theirs at once.
func (s *Store) Extend(o *Object, tensors []*Tensor) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.finish(); err != nil {
		return err
	}
	had, extents := len(o.Tensors), len(o.Extents)
	err := s.extend(o, tensors, false)
	if err == nil {
		s.structure = true
		s.touchLocked()
		s.dir, err = directory(s.objects)
	}
	if err != nil {
		s.abandon(o.Extents[extents:])
		o.Tensors, o.Extents = o.Tensors[:had], o.Extents[:extents]
	}
	return err
}

// extend lays tensors out and reserves and maps their memory.
func (s *Store) extend(o *Object, tensors []*Tensor, fixed bool) error {
	first := len(o.Extents)
	layOut(o, tensors, fixed)
	for _, e := range o.Extents[first:] {
		off, err := s.place(e.Len)
		if err != nil {
			return err
		}
		e.Off = off
		s.extents = append(s.extents, e)
		if err := s.attach(e); err != nil {
			return err
		}
		clear(e.mem[:e.table()])
		if e.Device != "" {
			if err := s.newFar(e); err != nil {
				return err
			}
		}
	}
	for _, t := range tensors {
		if !t.Small() {
			t.block = &Block{s: s, ext: o.Extents[t.Extent], t: t}
		}
	}
	return nil
}

// abandon gives extents back that no record knows.
func (s *Store) abandon(extents []*Extent) {
	for _, e := range extents {
		if i := slices.Index(s.extents, e); i >= 0 {
			s.extents = slices.Delete(s.extents, i, i+1)
			e.detach()
			s.b.release(e.Off, e.Len)
		}
	}
	s.keepFar()
}

// detach unmaps an extent.
func (e *Extent) detach() {
	if e.mem != nil {
		unmap(e.mem)
		e.mem = nil
	}
	if e.far != nil {
		_ = e.far.Close()
		e.far = nil
	}
}

// restructure commits another set of objects.
func (s *Store) restructure(live bool) (err error) {
	if s.dir, err = directory(s.objects); err != nil {
		return err
	}
	s.structure = true
	return s.commit(live)
}

// Remove takes an object out of the session and commits that. Its memory goes back to the system at once, or when this process ends if
// tensors of it are there.
func (s *Store) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.find(name)
	if o == nil {
		return nil
	}
	if err := s.finish(); err != nil {
		return err
	}
	was := s.objects
	s.objects = slices.DeleteFunc(slices.Clone(was), func(x *Object) bool { return x == o })
	if o.source != nil {
		s.pinned = append(s.pinned, o.Extents...)
	}
	s.dirty = slices.DeleteFunc(s.dirty, func(b *Block) bool { return slices.Contains(o.Tensors, b.t) })
	if err := s.restructure(false); err != nil {
		s.objects = was
		if dir, e := directory(was); e == nil {
			s.dir = dir
		}
		return err
	}
	return nil
}

// Attach makes a source the one that commits ask for an object, and maps the object's memory.
func (s *Store) Attach(o *Object, src Source) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.finish(); err != nil {
		return err
	}
	if err := s.attachObject(o); err != nil {
		return err
	}
	o.source = src
	return nil
}

// MapHost maps those parts of an object that are in memory of the host, to be read.
func (s *Store) MapHost(o *Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range o.Extents {
		if err := s.attach(e); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) attachObject(o *Object) error {
	for _, e := range o.Extents {
		if err := s.attach(e); err != nil {
			return err
		}
		if err := s.attachFar(o, e); err != nil {
			return err
		}
	}
	return nil
}
