package admin

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/safetensors"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// A saved session is a safetensors file. Its tensors are named as in the object when there is one object, so that the weights of a model
// are a state dict to other programs, and "object/tensor" when there are several; the metadata says what belongs together.
const (
	formatKey  = "format"
	format     = "halftone.session/1"
	objectsKey = "objects"
)

// A saved object is its entry in the metadata.
type saved struct {
	Name      string            `json:"name"`
	Kind      string            `json:"kind"`
	Type      string            `json:"type,omitempty"`
	Structure string            `json:"structure,omitempty"`
	Birth     uint64            `json:"birth"`
	Of        map[string]uint64 `json:"of,omitempty"`
	State     string            `json:"state,omitempty"` // base64
	Fixed     bool              `json:"fixed,omitempty"`
	Tensors   []savedTensor     `json:"tensors,omitempty"`
}

type savedTensor struct {
	Name  string `json:"name"`
	Key   string `json:"key"`             // in the file
	Plain bool   `json:"plain,omitempty"` // bytes that are no tensor
}

func (f *files) Save(name, file string) error {
	s, err := f.open()
	if err != nil {
		return err
	}
	defer s.Close()
	objects := s.Objects()
	if !everything(name) {
		o := s.Find(name)
		if o == nil {
			return unknown(s, name)
		}
		objects = []*store.Object{o}
	}
	tensors := map[string]*amp.Tensor{}
	defer func() {
		for _, t := range tensors {
			t.Free()
		}
	}()
	var list []saved
	for _, o := range objects {
		if err := s.MapHost(o); err != nil {
			return err
		}
		far, err := f.fetch(s, o)
		if err != nil {
			return err
		}
		v := saved{Name: o.Name, Kind: o.Kind, Type: o.Type, Structure: o.Structure, Birth: o.Birth, Of: o.Of, State: base64.StdEncoding.EncodeToString(o.State())}
		for _, t := range o.Tensors {
			key := t.Name
			if len(objects) > 1 {
				key = o.Name + "/" + key
			}
			at, err := read(t, far[t])
			if err != nil {
				return fmt.Errorf("session: %s: %w", o.Name, err)
			}
			tensors[key] = at
			v.Fixed = v.Fixed || t.Block() != nil && t.Block().Fixed()
			v.Tensors = append(v.Tensors, savedTensor{t.Name, key, t.DType == ""})
		}
		list = append(list, v)
	}
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return safetensors.Save(file, tensors, map[string]string{formatKey: format, objectsKey: string(b)})
}

// fetch copies what is in memory of devices.
func (f *files) fetch(s *store.Store, o *store.Object) (map[*store.Tensor][]byte, error) {
	out := map[*store.Tensor][]byte{}
	for _, e := range o.Extents {
		if e.Device == "" {
			continue
		}
		if f.far == nil {
			return nil, fmt.Errorf("session: %s is on %s, and nothing here reads that: keep it with package amp/checkpoint in a cell", o.Name, e.Device)
		}
		var tensors []*store.Tensor
		var parts [][2]int64
		for _, t := range o.Tensors {
			if b := t.Block(); b != nil && b.Device() == e.Device {
				if of, at := b.Place(); of == e {
					tensors, parts = append(tensors, t), append(parts, [2]int64{at, t.Size})
				}
			}
		}
		files, err := s.Files(e)
		if err != nil {
			return nil, err
		}
		all, err := f.far(e.Device, files, e.Far, parts)
		for _, file := range files {
			_ = file.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("session: reading %s from %s: %w", o.Name, e.Device, err)
		}
		for i, t := range tensors {
			if int64(len(all)) < parts[i][1] {
				return nil, fmt.Errorf("session: reading %s from %s: it ends within %s", o.Name, e.Device, t.Name)
			}
			out[t], all = all[:parts[i][1]], all[parts[i][1]:]
		}
	}
	return out, nil
}

// read copies a tensor out of the session; far are the elements of one on a device. Plain bytes are filled up to whole int64; the last
// byte says with how many.
func read(t *store.Tensor, far []byte) (*amp.Tensor, error) {
	elements := t.Elements()
	if b := t.Block(); b != nil && b.IsFar() {
		elements = far
	} else if b != nil {
		elements = b.Bytes()
	}
	if t.DType == "" {
		padded := append(slices.Clone(elements), make([]byte, 8-len(elements)%8)...)
		padded[len(padded)-1] = byte(8 - len(elements)%8)
		return amp.FromRaw(bytes.NewReader(padded), amp.Int64, []int{len(padded) / 8})
	}
	dt, err := amp.ParseDType(t.DType)
	if err != nil {
		return nil, err
	}
	return amp.FromRaw(bytes.NewReader(elements), dt, t.Shape)
}

// raw returns a tensor's elements as bytes; of plain ones those that read was given.
func raw(t *amp.Tensor, plain bool) []byte {
	var b bytes.Buffer
	_ = amp.WriteRaw(&b, t)
	if plain && b.Len() > 0 {
		b.Truncate(b.Len() - int(b.Bytes()[b.Len()-1]))
	}
	return b.Bytes()
}

func (f *files) Load(name, file string) error {
	r, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return err
	}
	in, err := safetensors.NewReader(r, info.Size())
	if err != nil {
		return fmt.Errorf("session: %s: %w", file, err)
	}
	s, err := f.open()
	if err != nil {
		return err
	}
	defer s.Close()
	if in.Metadata()[formatKey] != format {
		return loadWeights(s, name, in)
	}
	var list []saved
	if err := json.Unmarshal([]byte(in.Metadata()[objectsKey]), &list); err != nil {
		return fmt.Errorf("session: %s: %w", file, err)
	}
	found := 0
	for _, v := range list {
		if !everything(name) && v.Name != name && len(list) > 1 {
			continue
		}
		if !everything(name) {
			v.Name = name
		}
		if err := put(s, v, in); err != nil {
			return err
		}
		found++
	}
	if found == 0 {
		var names []string
		for _, v := range list {
			names = append(names, v.Name)
		}
		return fmt.Errorf("session: %s holds no %q; it holds %s", file, name, strings.Join(names, ", "))
	}
	return nil
}

// put replaces or adds one object.
func put(s *store.Store, v saved, in *safetensors.Reader) error {
	state, err := base64.StdEncoding.DecodeString(v.State)
	if err != nil {
		return fmt.Errorf("session: %s: %w", v.Name, err)
	}
	o := &store.Object{Name: v.Name, Kind: v.Kind, Type: v.Type, Structure: v.Structure, Birth: v.Birth, Of: v.Of}
	c := content{state: state}
	var tensors []*store.Tensor
	for _, t := range v.Tensors {
		at, err := in.Tensor(t.Key)
		if err != nil {
			return fmt.Errorf("session: %s: %w", v.Name, err)
		}
		b := raw(at, t.Plain)
		st := &store.Tensor{Name: t.Name, Shape: at.Shape(), Size: int64(len(b))}
		if t.Plain {
			st.Shape = []int{len(b)}
		} else {
			st.DType = at.DType().String()
		}
		at.Free()
		tensors = append(tensors, st)
		c.elements = append(c.elements, b)
	}
	return replace(s, o, tensors, c, v.Fixed)
}

// replace puts an object in the place of the one of its name.
func replace(s *store.Store, o *store.Object, tensors []*store.Tensor, c content, fixed bool) error {
	size := int64(0)
	for _, t := range tensors {
		size += t.Size
	}
	if err := s.Room("", size); err != nil { // before the old one goes
		return err
	}
	if err := s.Remove(o.Name); err != nil {
		return err
	}
	return s.Add(o, tensors, c, fixed, func() error {
		for i, t := range tensors {
			if b := t.Block(); b != nil {
				copy(b.Bytes(), c.elements[i])
			}
		}
		return nil
	})
}

// content is an object as a file holds it.
type content struct {
	state    []byte
	elements [][]byte
}

func (c content) AppendState(b []byte) ([]byte, error) { return append(b, c.state...), nil }
func (c content) AppendSmall(b []byte, i int) ([]byte, error) {
	return append(b, c.elements[i]...), nil
}
