//go:build linux && (amd64 || arm64)

package drivertest

import (
	"encoding/binary"
	"runtime"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// What cuDNN's backend takes and refuses, attribute by attribute, without a device. The table is what NVIDIA's library 9.28.0 was seen to
// do, so that the emulator's stand-in can be held to it.

// An attribute is one of a descriptor's, with a value that is right.
type attribute struct {
	number, kind int
	value        []int64 // by elements; a child's descriptor is made by make
	width        int     // bytes of an element
	child        string  // the descriptor that it refers to
	lenient      bool    // NVIDIA's library finalizes without it, though its documents call it required
}

func ints(number int, v ...int64) attribute {
	return attribute{number: number, kind: 3, value: v, width: 8}
}
func enum(number, kind int, v int64) attribute {
	return attribute{number: number, kind: kind, value: []int64{v}, width: 4, lenient: true}
}
func childOf(number int, name string) attribute {
	return attribute{number: number, kind: 15, value: []int64{0}, width: 8, child: name}
}
func lenient(a attribute) attribute { a.lenient = true; return a }

// tensorOf describes a float16 tensor in row-major order.
func tensorOf(id int64, dims ...int64) (int, []attribute) {
	strides, n := make([]int64, len(dims)), int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i], n = n, n*dims[i]
	}
	return 17, []attribute{lenient(ints(906, id)), enum(901, 1, 2), ints(900, 16), ints(902, dims...), ints(903, strides...)}
}

// operation describes one of the three convolutions: alpha and beta are 1 and 0 as float32.
func operation(kind, first int) (int, []attribute) {
	return kind, []attribute{enum(first, 4, 0x3f800000), enum(first+1, 4, 0), childOf(first+2, "convolution"), childOf(first+3, "w"), childOf(first+4, "x"), childOf(first+5, "y")}
}

// described returns a descriptor's kind and its attributes.
func described(name string) (int, []attribute) {
	switch name {
	case "x":
		return tensorOf(1, 2, 8, 6, 6)
	case "w":
		return tensorOf(2, 16, 8, 3, 3)
	case "y":
		return tensorOf(3, 2, 16, 6, 6)
	case "convolution":
		return 1, []attribute{ints(106, 2), enum(100, 1, 0), enum(101, 7, 1), ints(102, 1, 1), ints(103, 1, 1), lenient(ints(105, 1, 1)), lenient(ints(104, 1, 1))}
	case "forward":
		return operation(10, 700)
	case "backward data":
		return operation(12, 706)
	case "backward filter":
		return operation(11, 712)
	case "pointwise":
		return 0, []attribute{enum(0, 14, 0), enum(1, 1, 0)}
	}
	return 16, []attribute{ints(1000, 1, 2, 3), {number: 1001, kind: 6, value: []int64{4096, 8192, 12288}, width: 8}, {number: 1003, kind: 6, value: []int64{16384}, width: 8, lenient: true}}
}

// backend are cuDNN's functions, by their addresses.
type backend struct{ create, destroy, set, finalize uintptr }

// status is what a call returned, 0 for success.
func status(f uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(f, args...)
	return int32(r)
}

// make makes a descriptor, its children first, and returns it with the statuses of its attributes and of finalizing it. change edits the
// attributes before.
func (b *backend) make(t *testing.T, name string, change func([]attribute) []attribute) (desc uintptr, sets []int32, end int32) {
	t.Helper()
	kind, attributes := described(name)
	if change != nil {
		attributes = change(attributes)
	}
	out := new(uintptr)
	if r := status(b.create, uintptr(kind), uintptr(unsafe.Pointer(out))); r != 0 {
		t.Fatalf("%s: no descriptor: %d", name, r)
	}
	for _, a := range attributes {
		content := make([]byte, max(8, len(a.value)*a.width))
		for i, v := range a.value {
			if a.child != "" {
				c, _, r := b.make(t, a.child, nil)
				if r != 0 {
					t.Fatalf("%s: its %s: %d", name, a.child, r)
				}
				v = int64(c)
			}
			if a.width == 8 {
				binary.NativeEndian.PutUint64(content[8*i:], uint64(v))
			} else {
				binary.NativeEndian.PutUint32(content[4*i:], uint32(v))
			}
		}
		sets = append(sets, status(b.set, *out, uintptr(a.number), uintptr(a.kind), uintptr(len(a.value)), uintptr(unsafe.Pointer(unsafe.SliceData(content)))))
		runtime.KeepAlive(content)
	}
	return *out, sets, status(b.finalize, *out)
}

// RunDNNDescriptors checks what cuDNN's backend, the library at path, says of descriptors that are right and of those that are wrong in
// one way. strict says that it also refuses what NVIDIA's library lets pass.
func RunDNNDescriptors(t *testing.T, path string, strict bool) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		t.Fatal(err)
	}
	b := &backend{}
	for name, to := range map[string]*uintptr{"cudnnBackendCreateDescriptor": &b.create, "cudnnBackendDestroyDescriptor": &b.destroy,
		"cudnnBackendSetAttribute": &b.set, "cudnnBackendFinalize": &b.finalize} {
		if *to, err = purego.Dlsym(h, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"x", "convolution", "forward", "backward data", "backward filter", "pointwise", "pack"} {
		d, sets, end := b.make(t, name, nil)
		for i, r := range sets {
			if r != 0 {
				t.Errorf("%s: attribute %d of those that are right: %d", name, i, r)
			}
		}
		if end != 0 {
			t.Errorf("%s: not finalized: %d", name, end)
		}
		if r := status(b.finalize, d); r == 0 {
			t.Errorf("%s is finalized twice", name)
		}
		_, attributes := described(name)
		for i, a := range attributes {
			edit := func(f func(*attribute)) func([]attribute) []attribute {
				return func(list []attribute) []attribute { f(&list[i]); return list }
			}
			if !a.lenient || strict {
				if _, _, end := b.make(t, name, func(list []attribute) []attribute { return append(list[:i:i], list[i+1:]...) }); end == 0 {
					t.Errorf("%s is finalized without attribute %d", name, a.number)
				}
			}
			if a.kind != 4 || strict { // NVIDIA's takes other types for alpha and beta
				if _, sets, _ := b.make(t, name, edit(func(a *attribute) { a.kind = 23 })); sets[i] == 0 {
					t.Errorf("%s takes attribute %d as another type", name, a.number)
				}
			}
			if _, sets, end := b.make(t, name, edit(func(a *attribute) { a.value = append(a.value, a.value[0]) })); sets[i] == 0 && end == 0 && (strict || a.child == "") {
				t.Errorf("%s takes attribute %d with an element more", name, a.number)
			}
		}
		if r := status(b.destroy, d); r != 0 {
			t.Errorf("%s: not destroyed: %d", name, r)
		}
	}
	for what, shape := range map[string][]int64{"another size": {2, 16, 7, 6}, "other channels": {2, 15, 6, 6}, "another batch": {1, 16, 6, 6}, "fewer dimensions": {2, 16, 36}} {
		b.refuses(t, what, shape)
	}
}

// refuses says that a forward convolution whose result has another shape can't be described.
func (b *backend) refuses(t *testing.T, what string, shape []int64) {
	t.Helper()
	y, _, end := b.make(t, "y", func([]attribute) []attribute { _, list := tensorOf(3, shape...); return list })
	if end != 0 {
		t.Fatalf("a tensor of %v: %d", shape, end)
	}
	_, sets, end := b.make(t, "forward", func(list []attribute) []attribute {
		list[5].child, list[5].value = "", []int64{int64(y)}
		return list
	})
	if sets[5] != 0 || end == 0 {
		t.Errorf("a convolution with %s of its result is finalized: %v, %d", what, sets, end)
	}
}
