package session

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"reflect"
	"strings"

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
// Values are kept as encoding/gob writes them: numbers (NaN too), strings, slices, maps and structs of exported fields. It writes no zeros, so
// that a field which is an empty slice or map, or a pointer to a zero, is nil in the next cell. A struct with a field that would be lost, and
// a value that holds itself, are refused. A value of another type than the kept one, or of one whose fields were renamed, removed, added or
// given another type since, is refused with ErrStructure, and a message that names them; see Rebuild.
func Value[T any](name string, initial T, opts ...Option) *T {
	c := use("Value")
	if v, ok := live[*T](c, "Value", name); ok {
		return v
	}
	v := &initial
	p := &valuePart{v, mayCircle(reflect.TypeFor[T](), map[reflect.Type]bool{})}
	p.keepable(initial)
	typ, print := fmt.Sprintf("%T", initial), fingerprint(reflect.TypeFor[T]())
	if o := c.kept("Value", name, store.KindValue, typ, opts); o != nil {
		fault := decode(o, o.State(), print, v)
		if fault == "" {
			check("Value", c.st.Attach(o, p))
			if o.Structure == "" { // an older version has kept it
				o.Structure = print
				c.st.Describe(o)
			}
			c.add(name, p)
			return v
		}
		if !rebuild("Value", opts) {
			c.refuse("Value", name, fault)
		}
		check("Value", c.st.Remove(name))
	}
	check("Value", c.st.Add(&store.Object{Name: name, Kind: store.KindValue, Type: typ, Structure: print}, nil, p, false, nil))
	c.add(name, p)
	return v
}

// decode reads the kept value into v, which holds the initial one, or says why it does not fit.
func decode[T any](o *store.Object, state []byte, print string, v *T) (fault string) {
	if o.Structure != "" && o.Structure != print {
		return parted(o.Structure, print)
	}
	old := new(T) // gob leaves out what is zero
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(old); err != nil {
		return err.Error()
	}
	takeCode(reflect.ValueOf(old).Elem(), reflect.ValueOf(v).Elem())
	*v = *old
	return ""
}

// A valuePart is a value in this process.
type valuePart struct {
	v       any
	circles bool // it may hold itself
}

// keepable refuses what could not be kept, or not as a whole.
func (p *valuePart) keepable(initial any) {
	if fault := unkept(reflect.TypeOf(p.v).Elem()); fault != "" {
		misused("Value", "export the field, keep what it holds under a name of its own, or give the type GobEncode and GobDecode",
			"%T can't be kept as a whole: its field %s, so the next cell would not find it", initial, fault)
	}
	if _, err := p.AppendState(nil); errors.Is(err, errNested) {
		misused("Value", errNested.Error(), "%T can't be kept: %s", initial, strings.TrimSuffix(err.Error(), ": "+errNested.Error()))
	} else if err != nil {
		misused("Value", "use numbers, strings, slices, maps, or structs with exported fields", "%T can't be kept: %v", initial, err)
	}
}

func (p *valuePart) value() any                                  { return p.v }
func (p *valuePart) prepare(*store.Store) error                  { return nil }
func (p *valuePart) settled() bool                               { return true }
func (p *valuePart) AppendSmall(b []byte, _ int) ([]byte, error) { return b, nil }
func (p *valuePart) AppendState(b []byte) ([]byte, error) {
	if p.circles {
		if err := circle(p.v); err != nil {
			return b, err
		}
	}
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
