package cudart

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// What a Go program gives a kernel of its own, as the C type of its parameter.

// elementBytes are those of the kinds in kindOf.
var elementBytes = map[string]int{
	"float": 4, "double": 8, "bool": 1, "byte": 1, "short": 2, "int": 4, "unsigned": 4, "long long": 8, "unsigned long long": 8, "half": 2, "bfloat16": 2,
}

// bytesOf is what a parameter of the source takes; 0 if that can't be known.
func (p parameter) bytesOf() int {
	switch {
	case p.open:
		return 0
	case p.pointer:
		return 8
	}
	return elementBytes[p.kind]
}

// parameters returns a kernel's, as its source and the driver know them together; known is false if neither does. The driver is right
// where they differ, as where a macro is what the source says.
func (k *Kernel) parameters(sizes []int) (params []parameter, known bool) {
	if sizes == nil {
		return k.params, k.known
	}
	params = make([]parameter, len(sizes))
	agree := k.known && len(k.params) == len(sizes)
	for i, n := range sizes {
		if agree {
			params[i] = k.params[i]
			if b := params[i].bytesOf(); b != 0 && b != n {
				params[i].kind, params[i].pointer, params[i].readOnly, params[i].open = "", false, false, true
			}
		} else {
			params[i].open = true
		}
		params[i].bytes = n
	}
	return params, true
}

// tensor says why a tensor does not go with the parameter; nil if it does or that can't be known.
func (p parameter) tensor(t *amp.Tensor) error {
	switch {
	case p.bytes != 0 && p.bytes != 8, !p.pointer && p.kind != "":
		return errors.New("the kernel takes a number there; pass one, such as t.Item()")
	case p.kind == "" || p.kind == "void":
		return nil
	}
	for _, k := range elementKinds[t.DType()] {
		if k == p.kind {
			return nil
		}
	}
	return fmt.Errorf("a tensor of %v; cast it with amp.To, or declare the parameter as %s", t.DType(), pointerFor[t.DType()])
}

// pointerFor is how the parameter for a tensor is best declared; NVRTC knows types of halves by a header alone.
var pointerFor = map[amp.DType]string{
	amp.Float16: "unsigned short *", amp.BFloat16: "unsigned short *", amp.Float32: "float *", amp.Float64: "double *",
	amp.Int64: "long long *", amp.Bool: "bool *",
}

// number adds a Go value to a launch's parameters as the C type that the kernel declares. For a type of the source's own the driver's size
// decides about int; others have the Go type's size.
func (p parameter) number(a *driver.Args, v any) error {
	if p.pointer {
		if k := reflect.ValueOf(v).Kind(); k == reflect.Slice || k == reflect.Array {
			return fmt.Errorf("the kernel takes a pointer there, and a %T is not on the device; pass a tensor: amp.From(values, shape…).To(scope)", v)
		}
		return errors.New("the kernel takes a pointer there; pass a tensor")
	}
	n, ok := numberOf(v)
	switch {
	case !ok:
		return p.value(a, v)
	case p.kind == "":
		return n.addAs(a, p.bytes)
	case p.kind == "bool":
		return addBool(a, v)
	case p.kind == "float":
		a.Float32(float32(n.f))
		return nil
	case p.kind == "double":
		a.Float64(n.f)
		return nil
	}
	r, ok := rangeOf[p.kind]
	if !ok {
		return fmt.Errorf("a parameter of %s is not supported; declare it as int or float", p.kind)
	}
	if !n.in(r) {
		return fmt.Errorf("%v does not fit %s", v, p.kind)
	}
	n.add(a, elementBytes[p.kind])
	return nil
}

// A span is what integers a C type holds.
type span struct {
	low  int64
	high uint64
}

// rangeOf holds those of the kinds of integers; bytes and shorts are of either sign.
var rangeOf = map[string]span{
	"byte": {math.MinInt8, math.MaxUint8}, "short": {math.MinInt16, math.MaxUint16}, "int": {math.MinInt32, math.MaxInt32},
	"unsigned": {0, math.MaxUint32}, "long long": {math.MinInt64, math.MaxInt64}, "unsigned long long": {0, math.MaxUint64},
}

// A number is a Go number, of whatever type.
type number struct {
	v        any
	kind     reflect.Kind
	f        float64
	bits     uint64 // if it is whole
	whole    bool
	negative bool
}

// numberOf takes a number apart.
func numberOf(v any) (n number, ok bool) {
	r := reflect.ValueOf(v)
	n = number{v: v, kind: r.Kind(), whole: true}
	switch {
	case r.CanInt():
		n.bits, n.f, n.negative = uint64(r.Int()), float64(r.Int()), r.Int() < 0
	case r.CanUint():
		n.bits, n.f = r.Uint(), float64(r.Uint())
	case r.CanFloat():
		n.f = r.Float()
		n.negative = n.f < 0
		switch n.whole = n.f == math.Trunc(n.f) && n.f >= -1<<63 && n.f < 1<<64; {
		case n.whole && n.negative:
			n.bits = uint64(int64(n.f))
		case n.whole:
			n.bits = uint64(n.f)
		}
	case r.Kind() == reflect.Bool:
		if r.Bool() {
			n.bits, n.f = 1, 1
		}
	default:
		return n, false
	}
	return n, true
}

// in says whether a type of that range holds the number.
func (n number) in(r span) bool {
	if n.negative {
		return n.whole && int64(n.bits) >= r.low
	}
	return n.whole && n.bits <= r.high
}

// add adds a whole number's lowest bytes, which come first in a word.
func (n number) add(a *driver.Args, bytes int) {
	if bytes == 8 {
		a.Uint64(n.bits)
		return
	}
	a.Int32(int32(uint32(n.bits)))
}

// fixedBytes are those of the kinds that have the same size in C on every machine.
var fixedBytes = map[reflect.Kind]int{
	reflect.Int8: 1, reflect.Uint8: 1, reflect.Int16: 2, reflect.Uint16: 2, reflect.Int32: 4, reflect.Uint32: 4, reflect.Int64: 8, reflect.Uint64: 8,
	reflect.Float32: 4, reflect.Float64: 8, reflect.Bool: 1,
}

// addAs adds a number to a parameter of the source's own type and of some bytes, 0 if they are not known.
func (n number) addAs(a *driver.Args, bytes int) error {
	own := fixedBytes[n.kind]
	switch {
	case own == 0 && bytes == 0:
		return fmt.Errorf("the size of a Go %T in C is not known; pass int32(…) or int64(…)", n.v)
	case own == 0 && bytes <= 8: // int, which is as long as it has to be
		if own = bytes; !n.in(span{-1 << (8*bytes - 1), math.MaxUint64 >> (64 - 8*bytes)}) {
			return fmt.Errorf("%v does not fit the %d bytes of the parameter", n.v, bytes)
		}
	case bytes != 0 && own != bytes:
		return fmt.Errorf("the parameter has %d bytes, and a Go %T has %d; pass %s", bytes, n.v, reflect.TypeOf(n.v).Size(), typeOf(bytes))
	}
	switch n.kind {
	case reflect.Float32:
		a.Float32(float32(n.f))
	case reflect.Float64:
		a.Float64(n.f)
	default:
		n.add(a, own)
	}
	return nil
}

// typeOf are the Go types of so many bytes, for advice.
func typeOf(bytes int) string {
	switch bytes {
	case 1:
		return "an int8, a uint8 or a bool"
	case 2:
		return "an int16 or a uint16"
	case 4:
		return "a float32, an int32 or a uint32"
	case 8:
		return "a float64, an int64 or a uint64"
	}
	return "a struct or an array of that size"
}

func addBool(a *driver.Args, v any) error {
	b := reflect.ValueOf(v)
	if b.Kind() != reflect.Bool {
		return fmt.Errorf("%v is not a bool; pass true or false", v)
	}
	a.Int32(0) // a byte in a word of zeros
	if b.Bool() {
		*(*byte)(a.Param(a.Len() - 1)) = 1
	}
	return nil
}

// value adds a struct or an array to a parameter of the source's own type.
func (p parameter) value(a *driver.Args, v any) error {
	r := reflect.ValueOf(v)
	if k := r.Kind(); k != reflect.Struct && k != reflect.Array {
		return fmt.Errorf("a %T can't be passed; pass a tensor or a number", v)
	}
	switch bytes := int(r.Type().Size()); {
	case p.kind != "":
		return fmt.Errorf("a %T can't be passed; pass a number", v)
	case !plain(r.Type()):
		return fmt.Errorf("a %T can't be passed, since not all in it are numbers of fixed size, such as int32 and float32; pass tensors as arguments of their own", v)
	case p.bytes == 0:
		return fmt.Errorf("a %T can't be passed, since this driver does not tell the parameter's size (CUDA 12.4 and newer do); pass its fields one by one, or in a tensor", v)
	case p.bytes != bytes:
		return fmt.Errorf("a %T has %d bytes, and the parameter %d; declare the same fields in the same order, with types of the same size", v, bytes, p.bytes)
	}
	c := reflect.New(r.Type())
	c.Elem().Set(r)
	a.Struct(c.UnsafePointer(), r.Type().Size())
	return nil
}

// plain says whether values of a type are what C has, too: numbers of fixed size, and structs and arrays of them.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return fixedBytes[t.Kind()] > 0
}
