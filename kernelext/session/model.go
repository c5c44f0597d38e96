package session

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// Model returns the model that the session keeps under name: the weights and buffers of earlier cells, in memory that all cells share.
// The first time it is what build returns.
//
// build makes the model with the scope it is given, and may be called twice: once to see what there is to keep, with random
// initial values left out (see amp.Scope.SkipInit), and a second time if nothing is kept. Its tensors need names of their own, as
// nn.NewSequential gives them.
//
// A model that is built otherwise than the kept one, in names, shapes, dtypes or structure, is refused with ErrStructure, and a message
// that says what differs; see Rebuild. So is one that does not fit into memory, with ErrSpace, before any of it is made.
func Model[M amp.Model](name string, build func(s *amp.Scope) M, opts ...Option) M {
	c := use("Model")
	if m, ok := live[M](c, "Model", name); ok {
		return m
	}
	root := c.scope("Model")
	var m M
	var l *list
	attached := false
	withoutGC(func() {
		m = build(root.SkipInit())
		l = listOf("Model", m)
		c.unowned("Model", name, l.tensors...)
		attached = c.attachModel(name, m, l, opts)
	})
	if attached {
		return m
	}
	for device, size := range c.sizes(l) {
		check("Model", c.st.Room(device, size))
	}
	for _, t := range l.tensors {
		t.Free()
	}
	m = build(root)
	again := listOf("Model", m)
	c.unowned("Model", name, again.tensors...)
	if d := compare(l.specs, again.specs); d != "" {
		misused("Model", "build the same model each time", "build made two different models: %s", d)
	}
	c.newModel(name, m, again)
	return m
}

// withoutGC calls f. The tensors of a first build are memory that nobody touches and most of which is given up at once: no reason to
// collect garbage, which would take longer than all the rest.
func withoutGC(f func()) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	f()
}

// A list is what there is to keep of a model.
type list struct {
	tensors   []*amp.Tensor
	specs     []*store.Tensor
	structure string
}

// sizes returns the bytes that there are to keep, by the device in whose memory.
func (c *session) sizes(l *list) map[string]int64 {
	by := map[string]int64{}
	for i, t := range l.tensors {
		by[c.place(t)] += l.specs[i].Size
	}
	return by
}

// listOf lists parameters and buffers.
func listOf(op string, m amp.Model) *list {
	l := &list{structure: describe(m)}
	all := append(slices.Clone(m.Parameters()), amp.BuffersOf(m)...)
	names := map[string]*amp.Tensor{}
	for _, t := range all {
		if other := names[t.Name()]; other == t {
			continue
		} else if t.Name() == "" || other != nil {
			misused(op, "name the tensors with SetName, or their modules with nn.Prefix or nn.NewSequential", "name %q is empty or used twice", t.Name())
		}
		names[t.Name()] = t
		l.add(t)
	}
	return l
}

func (l *list) add(t *amp.Tensor) {
	l.tensors = append(l.tensors, t)
	l.specs = append(l.specs, spec(t.Name(), t))
}

func spec(name string, t *amp.Tensor) *store.Tensor {
	return &store.Tensor{Name: name, DType: t.DType().String(), Shape: t.Shape(), Size: t.Bytes()}
}

// compare says how what is to be kept differs from what is.
func compare(kept, built []*store.Tensor) string {
	var faults []string
	old := map[string]*store.Tensor{}
	for _, t := range kept {
		old[t.Name] = t
	}
	for _, t := range built {
		switch k := old[t.Name]; {
		case k == nil:
			faults = append(faults, fmt.Sprintf("%s %s %v is new", t.Name, t.DType, t.Shape))
		case k.DType != t.DType || !slices.Equal(k.Shape, t.Shape):
			faults = append(faults, fmt.Sprintf("%s is %s %v in the session, %s %v here", t.Name, k.DType, k.Shape, t.DType, t.Shape))
		}
		delete(old, t.Name)
	}
	for _, t := range kept {
		if old[t.Name] != nil {
			faults = append(faults, fmt.Sprintf("%s %s %v is in the session, and not here", t.Name, t.DType, t.Shape))
		}
	}
	if more := len(faults) - 3; more > 0 {
		faults = append(faults[:3], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(faults, "; ")
}

// attachModel gives a model the memory of the kept one; false if none is kept.
func (c *session) attachModel(name string, m amp.Model, l *list, opts []Option) bool {
	typ := typeName(m)
	o := c.kept("Model", name, store.KindModel, typ, opts)
	if o == nil {
		return false
	}
	fault := compare(o.Tensors, l.specs)
	if fault == "" && o.Structure != "" && o.Structure != l.structure {
		fault = difference(o.Structure, l.structure)
	}
	if fault != "" {
		if !rebuild("Model", opts) {
			c.refuse("Model", name, fault)
		}
		check("Model", c.st.Remove(name))
		return false
	}
	p := newPart(o, m)
	byName := map[string]*amp.Tensor{}
	for _, t := range l.tensors {
		byName[t.Name()] = t
	}
	var order []*amp.Tensor
	for _, kept := range o.Tensors {
		order = append(order, byName[kept.Name])
	}
	c.settle("Model", o, order)
	check("Model", c.st.Attach(o, &p))
	for i, kept := range o.Tensors {
		check("Model", p.house(c, byName[kept.Name], i))
	}
	c.add(name, &p)
	return true
}

// newModel moves a new model into the session.
func (c *session) newModel(name string, m amp.Model, l *list) {
	c.newTensors("Model", &store.Object{Name: name, Kind: store.KindModel, Type: typeName(m), Structure: l.structure}, l, m)
}
