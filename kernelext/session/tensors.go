package session

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// A tensorPart is an object of tensors in this process: a model, a tensor, the state of an optimizer.
type tensorPart struct {
	o     *store.Object
	made  any
	small map[int]*smallBuffer // by place among the object's tensors
}

func (p *tensorPart) value() any { return p.made }

func (p *tensorPart) AppendState(b []byte) ([]byte, error) { return append(b, p.o.State()...), nil }

func (p *tensorPart) AppendSmall(b []byte, i int) ([]byte, error) {
	return append(b, p.small[i].mem[:p.o.Tensors[i].Size]...), nil
}

var errMoved = errors.New("its memory was given up, as amp.Initialize does where it casts a model without master weights; keep the model before it is cast, with master weights, or under another name")

func (p *tensorPart) prepare(*store.Store) error {
	for i, t := range p.o.Tensors {
		if b := t.Block(); b != nil && b.Freed() || p.small[i] != nil && p.small[i].freed.Load() {
			return errMoved
		}
	}
	return nil
}

// house gives a tensor the memory of one that is kept, with the elements in it.
func (p *tensorPart) house(c *session, t *amp.Tensor, kept *store.Tensor) {
	c.owners[t] = p.o
	if b := kept.Block(); b != nil {
		t.Rehome(b, false)
		return
	}
	if p.small == nil {
		p.small = map[int]*smallBuffer{}
	}
	b := newSmallBuffer(c.st, kept.Elements())
	for i, k := range p.o.Tensors {
		if k == kept {
			p.small[i] = b
		}
	}
	t.Rehome(b, false)
}

// newTensors makes an object of tensors and moves them into the session.
func (c *session) newTensors(op string, o *store.Object, l *list, made any) {
	p := &tensorPart{o: o, made: made, small: map[int]*smallBuffer{}}
	for i, t := range l.tensors {
		if t.Bytes() <= store.SmallLimit {
			p.small[i] = newSmallBuffer(c.st, make([]byte, t.Bytes()))
			read(t, p.small[i].mem)
		}
	}
	check(op, c.st.Add(o, l.specs, p, false, func() error {
		for i, s := range l.specs {
			if b := s.Block(); b != nil {
				read(l.tensors[i], b.Bytes())
			}
		}
		return nil
	}))
	for i, t := range l.tensors {
		p.house(c, t, l.specs[i])
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
		p := &tensorPart{o: o, made: t}
		check("Tensor", c.st.Attach(o, p))
		p.house(c, t, kept)
		c.add(name, p)
		return t
	}
	t := root.Keep(build(root))
	if !t.IsLeaf() {
		fail("Tensor", amp.ErrArgument, "return amp.Detach(s, t), or build it in s.NoGrad()", "%q is the result of an op that wants a gradient", name)
	}
	o := &store.Object{Name: name, Kind: store.KindTensor, Type: typeName(t)}
	if t.RequiresGrad() {
		o.Structure = wantsGrad
	}
	l := &list{}
	l.add("Tensor", t)
	c.newTensors("Tensor", o, l, t)
	return t
}

const wantsGrad = "wants a gradient"

// empty returns a tensor to be given a kept one's memory.
func (c *session) empty(op string, kept *store.Tensor) *amp.Tensor {
	dt, err := amp.ParseDType(kept.DType)
	check(op, err)
	t, err := amp.FromRaw(nothing{}, dt, kept.Shape)
	check(op, err)
	return t
}

// nothing gives zeros.
type nothing struct{}

func (nothing) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
