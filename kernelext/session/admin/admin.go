// Package admin is what `%amp session` does: it lists what a notebook's session keeps, drops it, and saves and loads it as safetensors.
// It is used by the kernel, between cells; see package session for what cells do.
package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// Admin manages one notebook's session.
type Admin interface {
	// List returns what the session keeps, sorted by kind and name, as of the last commit; also while a cell runs.
	List() ([]Entry, error)
	// Drop removes an object and returns its memory to the system; an error that wraps ErrUnknown if there is none of that name. The
	// name "*" stands for all. Like Save and Load it fails, with an error that wraps store.ErrBusy, while a cell uses the session.
	Drop(name string) error
	// Save writes an object to a safetensors file, or with "*" or "" all of them; Load reads either.
	Save(name, file string) error
	// Load puts what a file holds into the session: of a file that Save wrote, the object of that name, or with "*" or "" all; of any
	// other safetensors file the tensors, as the weights of the model name. An object that is there is replaced; the weights of a
	// model must fit it.
	Load(name, file string) error
}

// ErrUnknown is wrapped where there is no object of a name.
var ErrUnknown = errors.New("the session keeps nothing of that name")

// An Entry describes one object.
type Entry struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`              // "model", "optimizer", "tensor", "value", "position", "trace"
	Type    string   `json:"type"`              // Go type, or dtype and shape of a tensor
	Tensors int      `json:"tensors"`           // number
	Bytes   int64    `json:"bytes"`             // of elements and numbers; commits keep a second copy of what changes
	DTypes  []string `json:"dtypes,omitempty"`  // of its tensors, sorted
	Devices []string `json:"devices,omitempty"` // in whose memory they are; none for the host's alone
	Numbers string   `json:"numbers,omitempty"` // its state as JSON, where it is short: the scale, a position
}

// Size is Bytes for people: "1.5 MB".
func (e Entry) Size() string { return store.Bytes(e.Bytes) }

// Detail describes the object in a few words: "*nn.Sequential · 6 tensors · float32".
func (e Entry) Detail() string {
	var words []string
	if e.Type != "" {
		words = append(words, e.Type)
	}
	if e.Tensors > 0 && e.Kind != store.KindTensor && e.Kind != store.KindTrace {
		words = append(words, fmt.Sprintf("%d tensors", e.Tensors), strings.Join(e.DTypes, ", "))
	}
	if len(e.Devices) > 0 {
		words = append(words, "on "+strings.Join(e.Devices, ", "))
	}
	if e.Numbers != "" {
		words = append(words, e.Numbers)
	}
	return strings.Join(words, " · ")
}

// A Reader reads parts of memory of a device, each [2]int64{place, bytes}, one behind the other: memory of so many bytes that the
// files stand for.
type Reader func(device string, files []*os.File, bytes int64, parts [][2]int64) ([]byte, error)

// New returns the admin of the session in a file, see store.Owner.Path, and of memory of devices that keeper has and read reads; both
// may be nil.
func New(path string, keeper store.Keeper, read Reader) Admin { return &files{path, keeper, read} }

type files struct {
	path   string
	keeper store.Keeper
	far    Reader
}

// kinds in the order that lists show.
var kinds = []string{store.KindModel, store.KindOptimizer, store.KindTensor, store.KindValue, store.KindPosition, store.KindTrace}

func (f *files) List() ([]Entry, error) {
	objects, err := store.Peek(f.path)
	if err != nil {
		return nil, err
	}
	list := []Entry{}
	for _, o := range objects {
		list = append(list, describe(o))
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), strings.Compare(a.Name, b.Name))
	})
	return list, nil
}

// longestNumbers is the longest state that is worth showing.
const longestNumbers = 200

func describe(o *store.Object) Entry {
	e := Entry{Name: o.Name, Kind: o.Kind, Type: o.Type, Tensors: len(o.Tensors), Bytes: o.Size()}
	for _, t := range o.Tensors {
		if t.DType != "" && !slices.Contains(e.DTypes, t.DType) {
			e.DTypes = append(e.DTypes, t.DType)
		}
		if t.Device != "" && !slices.Contains(e.Devices, t.Device) {
			e.Devices = append(e.Devices, t.Device)
		}
	}
	slices.Sort(e.DTypes)
	slices.Sort(e.Devices)
	if o.Kind == store.KindTensor && len(o.Tensors) == 1 {
		e.Type = fmt.Sprintf("%s %v", o.Tensors[0].DType, o.Tensors[0].Shape)
	}
	if s := o.State(); o.Kind != store.KindOptimizer && len(s) <= longestNumbers && json.Valid(s) {
		e.Numbers = string(s)
	}
	return e
}

// open takes the session over for a moment. The kernel waits meanwhile.
func (f *files) open() (*store.Store, error) {
	s, err := store.OpenSoon(f.path, time.Second)
	if err == nil && f.keeper != nil {
		s.SetKeeper(f.keeper)
	}
	return s, err
}

func everything(name string) bool { return name == "" || name == "*" }

func (f *files) Drop(name string) error {
	s, err := f.open()
	if err != nil {
		return err
	}
	defer s.Close()
	if name == "*" {
		for _, o := range s.Objects() {
			if err := s.Remove(o.Name); err != nil {
				return err
			}
		}
		return nil
	}
	if s.Find(name) == nil {
		return unknown(s, name)
	}
	return s.Remove(name)
}

// unknown words the error for a name, with those that there are.
func unknown(s *store.Store, name string) error {
	var names []string
	for _, o := range s.Objects() {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return fmt.Errorf("%w: %q; it is empty", ErrUnknown, name)
	}
	return fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(names, ", "))
}
