package session

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// Value returns a pointer to the value that the session keeps under name; the first time it is initial. What it points to is committed
// together with everything else, so that a loss curve belongs to the weights it was measured with:
//
//	losses := session.Value("losses", []float64{})
//	for s := range root.Steps(100) {
//		…
//		*losses = append(*losses, loss.Item())
//	}
//
// Values are kept as encoding/gob writes them: numbers (NaN too), strings, slices, maps and the exported fields of structs. A value of
// another type than the kept one is refused with ErrStructure; see Rebuild.
func Value[T any](name string, initial T, opts ...Option) *T {
	c := use("Value")
	if v, ok := live[*T](c, "Value", name); ok {
		return v
	}
	v := &initial
	p := &valuePart{v}
	if _, err := p.AppendState(nil); err != nil {
		misused("Value", "use numbers, strings, slices, maps, or structs with exported fields", "%T can't be kept: %v", initial, err)
	}
	typ := fmt.Sprintf("%T", initial)
	if o := c.kept("Value", name, store.KindValue, typ, opts); o != nil {
		old := new(T) // gob leaves out what is zero
		err := gob.NewDecoder(bytes.NewReader(o.State())).Decode(old)
		if err == nil {
			*v = *old
			check("Value", c.st.Attach(o, p))
			c.add(name, p)
			return v
		}
		if !rebuild("Value", opts) {
			c.refuse("Value", name, err.Error())
		}
		check("Value", c.st.Remove(name))
	}
	check("Value", c.st.Add(&store.Object{Name: name, Kind: store.KindValue, Type: typ}, nil, p, false, nil))
	c.add(name, p)
	return v
}

// A valuePart is a value in this process.
type valuePart struct{ v any }

func (p *valuePart) value() any                                  { return p.v }
func (p *valuePart) prepare(*store.Store) error                  { return nil }
func (p *valuePart) settled() bool                               { return true }
func (p *valuePart) AppendSmall(b []byte, _ int) ([]byte, error) { return b, nil }
func (p *valuePart) AppendState(b []byte) ([]byte, error) {
	w := bytes.NewBuffer(b)
	err := gob.NewEncoder(w).Encode(p.v)
	return w.Bytes(), err
}

// KeepTrace keeps a trace under name, in place of the one that was there; Trace returns it in a later cell, to be drawn or compared.
func KeepTrace(name string, t *amp.Trace) {
	c := use("KeepTrace")
	if o := c.kept("KeepTrace", name, store.KindTrace, "", nil); o != nil {
		check("KeepTrace", c.st.Remove(name))
	}
	var b bytes.Buffer
	check("KeepTrace", t.WriteJSON(&b))
	spec := &store.Tensor{Name: "json", Shape: []int{b.Len()}, Size: int64(b.Len())}
	o := &store.Object{Name: name, Kind: store.KindTrace, Type: fmt.Sprintf("%d events", len(t.Events))}
	check("KeepTrace", c.st.Add(o, []*store.Tensor{spec}, nil, true, func() error {
		copy(spec.Block().Bytes(), b.Bytes())
		return nil
	}))
}

// Trace returns a copy of the trace that KeepTrace has kept under name, nil if there is none.
func Trace(name string) *amp.Trace {
	c := use("Trace")
	o := c.kept("Trace", name, store.KindTrace, "", nil)
	if o == nil {
		return nil
	}
	check("Trace", c.st.Attach(o, nil))
	t, err := amp.ReadTrace(bytes.NewReader(o.Tensors[0].Block().Bytes()))
	check("Trace", err)
	return t
}
