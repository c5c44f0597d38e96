package nn

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// String shows the modules as an indented tree, as torch prints a Sequential. A layer is its type with the shapes of its parameters
// and buffers; one with a String method of its own shows itself. Summary has dtypes, sizes and costs.
func (q *Sequential) String() string {
	if len(q.parts) == 0 {
		return "Sequential()"
	}
	return tree(q, "Sequential")
}

// String is the name of the function, such as ReLU; "Func" for a function literal, which has none.
func (f Func) String() string {
	if f == nil {
		return "Func(nil)"
	}
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	name = name[strings.LastIndexByte(name, '/')+1:] // package.name, package.maker.func1
	if parts := strings.Split(name, "."); len(parts) == 2 {
		return parts[1] + "()"
	}
	return "Func()"
}

// describe is what String shows of a module.
func describe(m Module) string {
	if s, ok := m.(fmt.Stringer); ok {
		return s.String()
	}
	return layer(m)
}

// indented is describe for a line of a tree.
func indented(m Module) string { return strings.ReplaceAll(describe(m), "\n", "\n  ") }

// layer is a module's type with the shapes of its parameters and buffers.
func layer(m Module) string {
	parts := shapesOf(append(m.Parameters(), Buffers(m)...))
	if n := len(parts); n > 6 {
		parts = append(parts[:6], fmt.Sprintf("… %d more", n-6))
	}
	if by := parametrizedBy(held(m)); by != "" {
		parts = append(parts, by)
	}
	return kindName(m) + "(" + strings.Join(parts, ", ") + ")"
}

// shapesOf are the shapes of tensors, but of counters, which are no part of a layer's shape.
func shapesOf(tensors []*amp.Tensor) (parts []string) {
	for _, p := range tensors {
		if p.Rank() > 0 {
			parts = append(parts, shapeOf(p))
		}
	}
	return parts
}

// kindName is the name of a module's type, such as "Linear".
func kindName(m Module) string {
	t := reflect.TypeOf(held(m))
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// shapeOf is the last part of a tensor's name, which says what it is within its layer, and its shape; the dtype where it is not float32.
func shapeOf(p *amp.Tensor) string {
	text := fmt.Sprintf("%s=%v", p.Name()[strings.LastIndexByte(p.Name(), '.')+1:], p.Shape())
	if p.DType() != amp.Float32 {
		text += " " + p.DType().String()
	}
	return text
}
