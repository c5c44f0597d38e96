package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
)

// Kinds of objects.
const (
	KindModel     = "model"
	KindOptimizer = "optimizer"
	KindTensor    = "tensor"
	KindValue     = "value"
	KindPosition  = "position" // of a random stream, a loader, a schedule, a scaler
	KindTrace     = "trace"
)

// An Object is what a session keeps under one name. Its exported fields are fixed once it was committed.
type Object struct {
	Name      string            `json:"name"`
	Kind      string            `json:"kind"`
	Type      string            `json:"type,omitempty"`      // Go type
	Structure string            `json:"structure,omitempty"` // of a model, one line per part
	Birth     uint64            `json:"birth"`               // differs between two objects of one name
	Of        map[string]uint64 `json:"of,omitempty"`        // names and births of the models whose parameters an optimizer moves
	Tensors   []*Tensor         `json:"tensors,omitempty"`
	Extents   []*Extent         `json:"extents,omitempty"`

	state  []byte // as committed; in the slot of the record that is current
	source Source
}

// State returns the object's numbers as they were committed last. The bytes are valid until the next commit.
func (o *Object) State() []byte { return o.state }

// Size returns the bytes of the object's elements and numbers.
func (o *Object) Size() int64 {
	n := int64(len(o.state))
	for _, t := range o.Tensors {
		n += t.Size
	}
	return n
}

// A Source is what this process has made of an object: where the next commit finds it.
type Source interface {
	// AppendState appends the numbers.
	AppendState(b []byte) ([]byte, error)
	// AppendSmall appends the elements of tensor i, one that is Small.
	AppendSmall(b []byte, i int) ([]byte, error)
}

// A Tensor is a tensor of an object. A small one is written into every record; a large one lies in an extent, where every process
// works on it in place.
type Tensor struct {
	Name   string `json:"name"`
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"`
	Size   int64  `json:"size"`             // bytes
	Extent int    `json:"extent"`           // among the object's; -1 for a small one
	At     int64  `json:"at,omitempty"`     // within the extent
	Index  int    `json:"index,omitempty"`  // among the extent's versions
	Device string `json:"device,omitempty"` // where its elements lie; "" for memory of the host

	small []byte // as committed, of a small one
	block *Block // of a large one
}

// SmallLimit is the size up to which copying a tensor at each commit is cheaper than watching it.
const SmallLimit = 32 << 10

// Small says whether records hold the tensor.
func (t *Tensor) Small() bool { return t.Extent < 0 }

// Elements returns the committed elements of a small tensor, valid until the next commit.
func (t *Tensor) Elements() []byte { return t.small }

// Block returns the memory of a large tensor.
func (t *Tensor) Block() *Block { return t.block }

func (t *Tensor) fault() string {
	if t.Size < 0 || t.Small() && t.Size > SmallLimit {
		return fmt.Sprintf("tensor %q of %d bytes", t.Name, t.Size)
	}
	return ""
}

// An Extent is a page-aligned part of the file: words for each tensor that say what its places hold, the places that processes map and
// work in, and the copies. Of an extent on a device the words alone are in the file; the places are in memory of the device, which the
// keeper has, and there is room for two copies of each tensor: the one that the anchor needs, and one that the device is making.
type Extent struct {
	Off      int64 `json:"off"`
	Len      int64 `json:"len"`
	Versions int   `json:"versions"` // tensors
	Copies   int64 `json:"copies"`   // where the copies begin, from Off on, or in the device's memory; 0: what never changes has none

	Device string `json:"device,omitempty"` // "" for the file
	Handle uint64 `json:"handle,omitempty"` // the keeper's name of the memory
	Far    int64  `json:"far,omitempty"`    // its bytes

	mem []byte     // up to the copies, once mapped
	far amp.Shared // once mapped
}

// words is the number of words of a tensor: for the working place and for each copy.
func (e *Extent) words() int {
	if e.Device != "" {
		return 3
	}
	return 2
}

// table is the length of the words.
func (e *Extent) table() int64 { return roundUp(int64(e.Versions*e.words())*8, 64) }

// copyFar returns where in a device's memory the k-th copy of what is at a place begins.
func (e *Extent) copyFar(k int, at int64) int64 { return e.Copies*int64(1+k) + at }

// A Block is the memory of a large tensor. It is a buffer as package amp wants them.
type Block struct {
	s   *Store
	ext *Extent
	t   *Tensor

	need, anchor uint64     // versions that the current record and the anchor ask for
	work         uint64     // version that the working place holds; 0: being changed
	copied       [2]uint64  // versions that the copies hold; 0: none, or being made. The host has the first alone
	making       uint64     // version that the device is copying, 0 for none
	into         int        // which copy that becomes
	part         amp.Buffer // on a device
	dirty        atomic.Bool
	freed        atomic.Bool
}

// layOut places tensors in new extents, one for the host and one for each device, which have no memory yet, and those of the host that
// are small in records.
func layOut(o *Object, tensors []*Tensor, fixed bool) {
	layOutHost(o, tensors, fixed)
	for _, t := range tensors {
		if t.Device != "" && t.Extent < 0 {
			layOutFar(o, tensors, t.Device)
		}
	}
	o.Tensors = append(o.Tensors, tensors...)
}

// farAlign is where tensors begin in a device's memory.
const farAlign = 512

// layOutFar places the tensors of one device in its memory.
func layOutFar(o *Object, tensors []*Tensor, device string) {
	e := &Extent{Device: device, Handle: rand.Uint64()>>11 | 1}
	at := int64(0)
	for _, t := range tensors {
		if t.Device == device {
			t.Extent, t.Index, t.At = len(o.Extents), e.Versions, at
			e.Versions++
			at = roundUp(at+t.Size, farAlign)
		}
	}
	e.Copies, e.Far = at, 3*at
	e.Len = roundUp(e.table(), pageSize)
	o.Extents = append(o.Extents, e)
}

func layOutHost(o *Object, tensors []*Tensor, fixed bool) {
	e := &Extent{}
	for _, t := range tensors {
		t.Extent = -1
		if t.Device == "" && (t.Size > SmallLimit || fixed) {
			t.Extent, t.Index = len(o.Extents), e.Versions
			e.Versions++
		}
	}
	if e.Versions > 0 {
		at := e.table()
		for _, t := range tensors {
			if !t.Small() && t.Device == "" {
				t.At = at
				at = roundUp(at+t.Size, 64)
			}
		}
		e.Len = roundUp(at, pageSize)
		if !fixed {
			e.Copies = e.Len
			e.Len += roundUp(at-e.table(), pageSize)
		}
		o.Extents = append(o.Extents, e)
	}
}

// directory writes what is fixed of objects.
func directory(objects []*Object) ([]byte, error) { return json.Marshal(objects) }
