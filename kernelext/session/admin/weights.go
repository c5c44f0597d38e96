package admin

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/safetensors"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// loadWeights makes the tensors of a file the weights of a model: of one that is there, which they must fit and whose optimizer keeps
// its state, or of one that a later session.Model builds.
func loadWeights(s *store.Store, name string, in *safetensors.Reader) error {
	if everything(name) {
		return errors.New("session: the file was not saved from a session; name the model that its tensors are the weights of")
	}
	tensors, err := in.All(safetensors.Widen())
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	o := &store.Object{Name: name, Kind: store.KindModel}
	var names []string
	if old := s.Find(name); old != nil {
		if old.Kind != store.KindModel {
			return fmt.Errorf("session: %q is a %s, no model; load the weights under another name", name, old.Kind)
		}
		if err := fits(old, tensors); err != nil {
			return err
		}
		o.Type, o.Structure, o.Birth = old.Type, old.Structure, old.Birth
		for _, t := range old.Tensors {
			names = append(names, t.Name)
		}
	} else {
		for n := range tensors {
			names = append(names, n)
		}
		slices.Sort(names)
	}
	var list []*store.Tensor
	var c content
	for _, n := range names {
		b := raw(tensors[n], false)
		list = append(list, &store.Tensor{Name: n, DType: tensors[n].DType().String(), Shape: tensors[n].Shape(), Size: int64(len(b))})
		c.elements = append(c.elements, b)
	}
	return replace(s, o, list, c, false)
}

// fits compares what a file holds with a model, and rounds its tensors to the model's dtypes.
func fits(o *store.Object, tensors map[string]*amp.Tensor) error {
	var faults []string
	for _, want := range o.Tensors {
		got := tensors[want.Name]
		dt, err := amp.ParseDType(want.DType)
		switch {
		case got == nil:
			faults = append(faults, want.Name+" is missing in it")
		case err != nil || !slices.Equal(got.Shape(), want.Shape):
			faults = append(faults, fmt.Sprintf("%s is %v in it, the model's %v", want.Name, got.Shape(), want.Shape))
		case got.DType() != dt:
			rounded, err := amp.FromRaw(bytes.NewReader(make([]byte, want.Size)), dt, want.Shape)
			if err != nil {
				return err
			}
			amp.Assign(rounded, got)
			tensors[want.Name] = rounded
		}
	}
	for name := range tensors {
		if !slices.ContainsFunc(o.Tensors, func(t *store.Tensor) bool { return t.Name == name }) {
			faults = append(faults, name+" is in it, and not in the model")
		}
	}
	if len(faults) == 0 {
		return nil
	}
	slices.Sort(faults)
	if more := len(faults) - 8; more > 0 {
		faults = append(faults[:8], fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("session: the file does not fit %s: %s; load it under another name, or drop %s first", o.Name, strings.Join(faults, "; "), o.Name)
}
