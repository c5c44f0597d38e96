package amp

import (
	"errors"
	"runtime"
	"strings"
	"testing"
)

// TestNoShapeOverflows: views and what is made of them have as many elements as an int can count, or the shape is refused by name, also where
// the number would wrap around to that of the input.
func TestNoShapeOverflows(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, none, one := From([]float32{1, 2, 3, 4}), Zeros(s, Float32, 0), Ones(s, Float32, 1, 1)
	for name, call := range map[string]func() *Tensor{
		"reshape wraps to 4":        func() *Tensor { return Reshape(s, x, 1<<62+1, 4) },
		"reshape wraps to 0":        func() *Tensor { return Reshape(s, none, 1<<33, 1<<33) },
		"reshape with -1":           func() *Tensor { return Reshape(s, x, -1, 1<<33, 1<<33) },
		"reshape nothing":           func() *Tensor { return Reshape(s, none, 0, 1<<33, 1<<33) },
		"zeros, nothing":            func() *Tensor { return Zeros(s, Float32, 0, 1<<40, 1<<40) },
		"expand wraps to 0":         func() *Tensor { return Expand(s, one, 1<<40, 1<<40) },
		"expand wraps below 0":      func() *Tensor { return Expand(s, one, 1<<32, 1<<31) },
		"expand nothing":            func() *Tensor { return Expand(s, Zeros(s, Float32, 0, 1, 1), 0, 1<<40, 1<<40) },
		"repeat":                    func() *Tensor { return Repeat(s, x, 1<<62) },
		"repeat_interleave":         func() *Tensor { return RepeatInterleave(s, x, 1<<62, 0) },
		"broadcast":                 func() *Tensor { return Add(s, Expand(s, one, 1<<40, 1), Expand(s, one, 1, 1<<40)) },
		"flatten of a long tensor":  func() *Tensor { return Flatten(s, Expand(s, one, 1<<62+1, 4), 0, 1) },
		"unsqueeze of a long shape": func() *Tensor { return Unsqueeze(s, Reshape(s, none, 0, 1<<47, 2, 2), 0) },
	} {
		err := Maybe(func() { t.Errorf("%s: gave a tensor of shape %v with %d elements", name, call().Shape(), call().Len()) })
		if !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), "has too many elements") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if y := Expand(s, one, 1<<20, 1<<20); y.Len() != 1<<40 || y.Bytes() != 1<<42 {
		t.Errorf("a long view has %d elements of %d bytes", y.Len(), y.Bytes())
	}
}

// TestOnlyNilInputsAreBlamed: a fault within an op that is no nil pointer passes as it is, though an optional input was left out.
func TestOnlyNilInputsAreBlamed(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Ones(s, Float32, 1, 1)
	fails := func(fault func()) (r any) {
		defer func() { r = recover() }()
		defer s.locate(opLinear, []*Tensor{x, x, nil})
		fault()
		return nil
	}
	var list []int
	if r, ok := fails(func() { _ = list[len(list)+3] }).(runtime.Error); !ok || !strings.Contains(r.Error(), "index out of range [3]") {
		t.Errorf("an index out of range became %v", r)
	}
	var none *Tensor
	if r, ok := fails(func() { _ = none.dt }).(*Error); !ok || r.Detail != "bias is nil" {
		t.Errorf("a nil input became %v", r)
	}
}
