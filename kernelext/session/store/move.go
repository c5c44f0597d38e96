package store

import "slices"

// Move brings an object's tensors to other places: devices[i] is the i-th one's, "" for the host. Nobody may have the object's memory in
// use. It is committed at once.
func (s *Store) Move(o *Object, devices []string) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(o.Tensors, func(t *Tensor) bool { return t.Device != devices[slices.Index(o.Tensors, t)] }) {
		return nil
	}
	if err := s.finish(); err != nil {
		return err
	}
	if err := s.attachObject(o); err != nil {
		return err
	}
	var tensors []*Tensor
	var elements [][]byte
	for i, t := range o.Tensors {
		mem := slices.Clone(t.small)
		if !t.Small() {
			mem = make([]byte, t.Size)
			if err := t.block.Read(mem); err != nil {
				return err
			}
		}
		elements = append(elements, mem)
		tensors = append(tensors, &Tensor{Name: t.Name, DType: t.DType, Shape: t.Shape, Size: t.Size, Device: devices[i]})
	}
	was := *o
	o.Tensors, o.Extents, o.state = nil, nil, slices.Clone(o.state)
	err = s.extend(o, tensors, false)
	for i, t := range tensors {
		if err != nil {
			break
		}
		if t.Small() {
			t.small = elements[i]
		} else {
			err = t.block.Write(elements[i])
		}
	}
	if err == nil {
		err = s.restructure(false)
	}
	if err != nil {
		fresh := o.Extents
		o.Tensors, o.Extents, o.state = was.Tensors, was.Extents, was.state
		s.abandon(fresh)
		if dir, e := directory(s.objects); e == nil {
			s.dir = dir
		}
	}
	return err
}
