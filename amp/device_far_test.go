package amp

import (
	"slices"
	"testing"
)

// Inputs whose elements lie farther apart than 2³¹ elements: what computes their places in 32 bits reads elsewhere. Of the storage, more
// than 4 GB of float16, little is ever touched, so that it takes addresses and not memory.

const farElements = 1<<31 + 1<<20

// A farStore is memory of one device for inputs of that kind.
type farStore struct {
	whole *Tensor
	used  map[int]bool // places of elements
	next  int
}

func newFarStore(s *Scope) *farStore {
	return &farStore{whole: s.born(alloc("far", s.root.dev, Float16, []int{farElements})), used: map[int]bool{}}
}

// far returns a view of the storage that holds x's elements, 2³¹ elements between the first and the last along dimension d, the others without gaps.
// It belongs to s.
func (f *farStore) far(s *Scope, x *Tensor, d int) *Tensor {
	shape, strides := slices.Clone(x.shape), make([]int, x.Rank())
	step := 1
	for k := x.Rank() - 1; k >= 0; k-- {
		if k != d {
			strides[k] = step
			step *= shape[k]
		}
	}
	base := 0
	if d >= 0 && shape[d] > 1 {
		strides[d] = (1<<31 + shape[d] - 2) / (shape[d] - 1)
	} else {
		base = 1 << 31
	}
	v := f.whole.alias(shape, strides)
	v.scope = s
	s.arena.own(v)
	for v.off = base + f.next; f.taken(v); v.off += 64 { // another input's elements lie here
	}
	f.next = (v.off - base + 4096) % (1 << 18)
	k, last := 0, 0
	v.each(func(off int) {
		one, from := f.whole.alias(nil, nil), x.alias(nil, nil)
		one.off, from.off = off, k
		Assign(one, from)
		one.release()
		from.release()
		f.used[off] = true
		last = max(last, off)
		k++
	})
	if last < 1<<31 {
		panic("the elements are not far apart")
	}
	return v
}

func (f *farStore) taken(v *Tensor) (yes bool) {
	v.each(func(off int) { yes = yes || f.used[off] })
	return yes
}

// runFar is runOn with the elements of every input far apart, along the first dimension of more than one element or along the last.
func (c opCase) runFar(device string, f *farStore, last bool) outcome {
	before := SetDefaultDevice(device)
	defer SetDefaultDevice(before)
	root := NewScope(Seed(9))
	defer root.Close()
	clear(f.used)
	in := c.draws(root, Float16, 5)
	for i, x := range in {
		d := x.Rank() - 1
		for k := 0; k < d && !last; k++ {
			if x.shape[k] > 1 {
				d = k
			}
		}
		in[i] = f.far(root, x, d).SetName(x.name).RequireGrad()
	}
	return c.outcomeOf(root, in, func(y *Tensor) *Tensor { return project(root, y, 7) })
}

// compareFar compares every case of every row on inputs that lie far apart, on a device, with what the CPU makes of inputs without gaps.
func compareFar(t *testing.T, device string) {
	before := SetDefaultDevice(device)
	s := NewScope()
	SetDefaultDevice(before)
	defer s.Close()
	var f *farStore
	if err := Maybe(func() { f = newFarStore(s) }); err != nil {
		t.Skip(err)
	}
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		if slices.ContainsFunc(c.inputs, func(in input) bool { return count("", in.shape) == 0 }) {
			t.Skip("no elements")
		}
		want := c.runOn(t, "cpu", Float16)
		for _, last := range []bool{false, true} {
			c.agree(t, want, c.runFar(device, f, last), 0x1p-11, 4*max(o.Bound, 1))
		}
	})
}

// TestFarApartOnDevice gives every row inputs whose elements lie 2³¹ elements apart, on the device of HALFTONE_COMPARE_DEVICE.
func TestFarApartOnDevice(t *testing.T) {
	device := compared(t)
	onDeviceAlone(t, func() { compareFar(t, device) })
}
