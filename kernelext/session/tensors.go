package session

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// A tensorPart is an object of tensors in this process: a model, a tensor, the state of an optimizer. Tensors live in the session's
// memory, that of the host or of their device. Those of a device whose memory the session can't keep are mirrored: commits copy the ones
// that have changed to the host.
type tensorPart struct {
	o      *store.Object
	made   any
	at     map[int]*amp.Tensor // by place among the object's tensors
	small  map[int]*smallBuffer
	copied map[int]uint32 // versions of the mirrored ones that the session has
}

func newPart(o *store.Object, made any) tensorPart {
	return tensorPart{o, made, map[int]*amp.Tensor{}, map[int]*smallBuffer{}, map[int]uint32{}}
}

func (p *tensorPart) value() any { return p.made }

func (p *tensorPart) AppendState(b []byte) ([]byte, error) { return append(b, p.o.State()...), nil }

func (p *tensorPart) AppendSmall(b []byte, i int) ([]byte, error) {
	size := int(p.o.Tensors[i].Size)
	if _, mirrored := p.copied[i]; mirrored {
		b = append(b, make([]byte, size)...)
		read(p.at[i], b[len(b)-size:])
		return b, nil
	}
	return append(b, p.small[i].mem[:size]...), nil
}

// mirrors adds the devices of mirrored tensors; what is wrong with one prepare says.
func (p *tensorPart) mirrors(devices map[string]bool) {
	for i := range p.copied {
		_ = amp.Maybe(func() {
			if t := p.at[i]; !t.IsCPU() {
				devices[t.Device()] = true
			}
		})
	}
}

var errMoved = errors.New("its memory was given up, as amp.Initialize does where it casts a model without master weights; keep the model before it is cast, with master weights, or under another name")

// prepare brings mirrored tensors up to date.
func (p *tensorPart) prepare(*store.Store) (err error) {
	for i, t := range p.o.Tensors {
		b, s := t.Block(), p.small[i]
		version, mirrored := p.copied[i]
		if !mirrored && (b != nil && b.Freed() || s != nil && s.freed.Load()) {
			if e := amp.Maybe(func() { mirrored = !p.isAt(i) }); e != nil || !mirrored {
				return errMoved
			}
			version = p.at[i].Version() - 1 // it was moved to another device
		}
		if !mirrored {
			continue
		}
		e := amp.Maybe(func() {
			if now := p.at[i].Version(); now != version {
				if b != nil {
					b.BeforeChange()
					err = fill(b, p.at[i])
				}
				p.copied[i] = now
			}
		})
		if err = errors.Join(err, e); err != nil {
			return err
		}
	}
	return nil
}

// settled says whether every tensor is in its memory of the session, and none is mirrored.
func (p *tensorPart) settled() bool {
	if len(p.copied) > 0 {
		return false
	}
	for i, t := range p.o.Tensors {
		if b, s := t.Block(), p.small[i]; b != nil && b.Freed() || s != nil && s.freed.Load() {
			return false
		}
	}
	return true
}

// isAt says whether a tensor is on the device that its memory in the session is on.
func (p *tensorPart) isAt(i int) bool {
	if want := p.o.Tensors[i].Device; want != "" {
		return p.at[i].Device() == want
	}
	return p.at[i].IsCPU()
}

// fill copies a tensor, wherever it is, to memory of the session.
func fill(b *store.Block, t *amp.Tensor) error {
	if !b.IsFar() {
		read(t, b.Bytes())
		return nil
	}
	if t.IsContiguous() && t.Device() == b.Device() {
		return b.Take(t)
	}
	elements := make([]byte, t.Bytes())
	read(t, elements)
	return b.Write(elements)
}

// place returns the device in whose memory the session keeps a tensor, "" for the host's.
func (c *session) place(t *amp.Tensor) string {
	if t.Bytes() == 0 || t.IsCPU() || !c.st.CanShare(t.Device()) {
		return ""
	}
	return t.Device()
}

// settle brings an object's memory to where the tensors are that this cell has for it.
func (c *session) settle(op string, o *store.Object, tensors []*amp.Tensor) {
	var places []string
	for _, t := range tensors {
		places = append(places, c.place(t))
	}
	check(op, c.st.Move(o, places))
}

// house gives a tensor the memory of the i-th that is kept, with the elements in it, or a device's tensor the elements.
func (p *tensorPart) house(c *session, t *amp.Tensor, i int) error {
	kept := p.o.Tensors[i]
	c.owners[t], p.at[i] = p.o, t
	b := kept.Block()
	switch {
	case b != nil && b.IsFar():
		t.Rehome(b.Buffer(), false)
	case !t.IsCPU():
		elements := kept.Elements()
		if b != nil {
			elements = b.Bytes()
		}
		if err := amp.ReadRaw(bytes.NewReader(elements), t); err != nil {
			return err
		}
		p.copied[i] = t.Version()
	case b != nil:
		t.Rehome(b, false)
	default:
		p.small[i] = newSmallBuffer(c.st, kept.Elements())
		t.Rehome(p.small[i], false)
	}
	return nil
}

// newTensors makes an object of tensors and moves them into the session.
func (c *session) newTensors(op string, o *store.Object, l *list, made any) {
	part := newPart(o, made)
	p := &part
	for i, t := range l.tensors {
		l.specs[i].Device = c.place(t)
		if housed := t.IsCPU() || l.specs[i].Device != ""; housed && (t.IsView() || !t.IsContiguous() || !t.IsLeaf()) {
			misused(op, "make it of amp.Clone(s.NoGrad(), t), which has memory of its own", "tensor %q of %q is a view or the result of an op", t.Name(), o.Name)
		}
		if l.specs[i].Device == "" && t.Bytes() <= store.SmallLimit {
			p.small[i] = newSmallBuffer(c.st, make([]byte, t.Bytes()))
			read(t, p.small[i].mem)
		}
	}
	check(op, c.st.Add(o, l.specs, p, false, func() error {
		for i, s := range l.specs {
			if b := s.Block(); b != nil {
				if err := fill(b, l.tensors[i]); err != nil {
					return err
				}
			}
		}
		return nil
	}, c.stream()))
	for i, t := range l.tensors {
		check(op, p.house(c, t, i))
	}
	c.add(o.Name, p)
}

// read copies the elements of a tensor to dst.
func read(t *amp.Tensor, dst []byte) {
	w := filler(dst)
	_ = amp.WriteRaw(&w, t)
}

// A filler is a writer into memory that is there.
type filler []byte

func (f *filler) Write(p []byte) (int, error) {
	n := copy(*f, p)
	*f = (*f)[n:]
	return n, nil
}

// A smallBuffer is memory of this process whose content commits copy.
type smallBuffer struct {
	st    *store.Store
	mem   []byte
	freed atomic.Bool
}

func newSmallBuffer(st *store.Store, elements []byte) *smallBuffer {
	raw := make([]byte, len(elements)+127)
	skip := int(-uintptr(unsafe.Pointer(&raw[0])) & 63)
	b := &smallBuffer{st: st, mem: raw[skip : skip+len(elements) : len(raw)]}
	copy(b.mem, elements)
	return b
}

func (b *smallBuffer) Bytes() []byte { return b.mem }
func (b *smallBuffer) Len() int      { return len(b.mem) }
func (b *smallBuffer) Free()         { b.freed.Store(true) }
func (b *smallBuffer) BeforeChange() { b.st.Touch() }

// Tensor returns the tensor that the session keeps under name; the first time what build returns, which is not called again. A leaf that
// wants a gradient does so in later cells. Tensors that are no parameters of a model are kept this way: data, running means.
func Tensor(name string, build func(s *amp.Scope) *amp.Tensor, opts ...Option) *amp.Tensor {
	c := use("Tensor")
	if t, ok := live[*amp.Tensor](c, "Tensor", name); ok {
		return t
	}
	root := c.scope("Tensor")
	if o := c.kept("Tensor", name, store.KindTensor, "", opts); o != nil {
		kept := o.Tensors[0]
		t := c.empty("Tensor", kept).SetName(kept.Name)
		if o.Structure == wantsGrad {
			t.RequireGrad()
		}
		p := newPart(o, t)
		c.settle("Tensor", o, []*amp.Tensor{t})
		check("Tensor", c.st.Attach(o, &p))
		check("Tensor", p.house(c, t, 0))
		c.add(name, &p)
		return t
	}
	t := build(root)
	if t == nil {
		misused("Tensor", "return the tensor to keep", "build of %q has returned nil", name)
	}
	if !t.IsLeaf() {
		misused("Tensor", "return amp.Detach(s, t), or build it in s.NoGrad()", "%q is the result of an op that wants a gradient", name)
	}
	c.unowned("Tensor", name, t)
	t = root.Keep(whole(root, t))
	o := &store.Object{Name: name, Kind: store.KindTensor, Type: typeName(t)}
	if t.RequiresGrad() {
		o.Structure = wantsGrad
	}
	l := &list{}
	l.add(t)
	c.newTensors("Tensor", o, l, t)
	return t
}

// whole returns a tensor with memory of its own: a copy of a view or a transpose, which can't be moved without what it is a view of.
func whole(root *amp.Scope, t *amp.Tensor) *amp.Tensor {
	if !t.IsView() && t.IsContiguous() {
		return t
	}
	own := amp.Clone(root.NoGrad(), t).SetName(t.Name())
	if t.RequiresGrad() {
		own.RequireGrad()
	}
	return own
}

// unowned refuses to keep tensors under a second name: their memory would be that of the second, and the first be committed as it was.
func (c *session) unowned(op, name string, tensors ...*amp.Tensor) {
	for _, t := range tensors {
		if o := c.owners[t]; o != nil && c.st.Find(o.Name) == o {
			misused(op, "use "+fmt.Sprintf("%q", o.Name)+" for both, or keep a copy: amp.Clone(s, t)", "%q would keep a tensor that the session keeps in %q already", name, o.Name)
		}
	}
}

const wantsGrad = "wants a gradient"

// empty returns a tensor on the joined scope's device to be given a kept one's memory, which nothing has been written to.
func (c *session) empty(op string, kept *store.Tensor) *amp.Tensor {
	dt, err := amp.ParseDType(kept.DType)
	check(op, err)
	if dt.IsFloat() {
		return amp.Rand(c.scope(op).SkipInit(), dt, 0, 1, kept.Shape...)
	}
	return amp.Full(c.scope(op), dt, 0, kept.Shape...)
}

// Memory of the host is watched as that of devices is.
var _ amp.WatchedBuffer = (*smallBuffer)(nil)
