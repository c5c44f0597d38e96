package session

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// The structure of a model, as text: one line per part, with what its fields hold. Two models of the same text compute the same function
// of the same weights, as far as data can tell; of functions only the names of those declared in packages are known.

const (
	deepest  = 24
	mostText = 1 << 20
)

// describe writes the structure of a model.
func describe(m any) string {
	d := &describer{seen: map[uintptr]bool{}}
	d.value("", reflect.ValueOf(m), 0)
	return d.out.String()
}

type describer struct {
	out  strings.Builder
	seen map[uintptr]bool
}

func (d *describer) line(depth int, name, text string) {
	if d.out.Len() > mostText {
		return
	}
	d.out.WriteString(strings.Repeat("  ", depth))
	if name != "" {
		d.out.WriteString(name + ": ")
	}
	d.out.WriteString(text + "\n")
}

var tensorType = reflect.TypeFor[amp.Tensor]()

// isNamed says whether a type is nn.Named, which programs that keep no model need not link.
func isNamed(t reflect.Type) bool {
	return t.Name() == "Named" && t.PkgPath() == tensorType.PkgPath()+"/nn"
}

// value writes one value and what it holds.
func (d *describer) value(name string, v reflect.Value, depth int) {
	if depth > deepest || !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		d.pointer(name, v, depth)
	case reflect.Struct:
		if isNamed(v.Type()) { // a part under its name, as any field is
			d.value(v.FieldByName("Name").String(), v.FieldByName("Module"), depth)
			return
		}
		d.line(depth, name, v.Type().String())
		for i := range v.NumField() {
			d.value(v.Type().Field(i).Name, v.Field(i), depth+1)
		}
	case reflect.Slice, reflect.Array:
		if v.Len() == 0 {
			return
		}
		if k := v.Type().Elem().Kind(); k <= reflect.Complex128 || k == reflect.String {
			d.line(depth, name, text(v))
			return
		}
		d.line(depth, name, v.Type().String())
		for i := range v.Len() {
			d.value(fmt.Sprint(i), v.Index(i), depth+1)
		}
	case reflect.Map:
		d.mapped(name, v, depth)
	case reflect.Func:
		if !v.IsNil() {
			d.line(depth, name, funcName(v))
		}
	case reflect.Chan, reflect.UnsafePointer, reflect.Uintptr:
	default:
		if !v.IsZero() {
			d.line(depth, name, text(v))
		}
	}
}

func (d *describer) pointer(name string, v reflect.Value, depth int) {
	if v.IsNil() {
		return
	}
	if v.Kind() == reflect.Interface {
		d.value(name, v.Elem(), depth)
		return
	}
	if v.Type().Elem() == tensorType {
		return // parameters and buffers are compared one by one, and others are made by build
	}
	if v.Type().Elem().Size() > 0 { // what holds nothing lies where everything else does that holds nothing
		if d.seen[v.Pointer()] {
			d.line(depth, name, "as above")
			return
		}
		d.seen[v.Pointer()] = true
	}
	d.value(name, v.Elem(), depth)
}

func (d *describer) mapped(name string, v reflect.Value, depth int) {
	if v.Len() == 0 {
		return
	}
	d.line(depth, name, v.Type().String())
	keys := v.MapKeys()
	if k := v.Type().Key().Kind(); k > reflect.Complex128 && k != reflect.String {
		d.line(depth+1, "", fmt.Sprintf("%d entries", len(keys)))
		return
	}
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(text(a), text(b)) })
	for _, k := range keys {
		d.value(text(k), v.MapIndex(k), depth+1)
	}
}

// text writes a number, a string or a list of them, of unexported fields too.
func text(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		var parts []string
		for i := range min(v.Len(), 16) {
			parts = append(parts, text(v.Index(i)))
		}
		if v.Len() > 16 {
			parts = append(parts, fmt.Sprintf("… %d in all", v.Len()))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Bool:
		return fmt.Sprint(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprint(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fmt.Sprint(v.Uint())
	case reflect.Float32, reflect.Float64:
		return fmt.Sprint(v.Float())
	case reflect.Complex64, reflect.Complex128:
		return fmt.Sprint(v.Complex())
	}
	return v.String()
}

// funcName names a declared function. Functions of a cell, and those made within functions, have names that change with the code
// around them.
func funcName(v reflect.Value) string {
	name := ""
	if f := runtime.FuncForPC(v.Pointer()); f != nil {
		name = f.Name()
	}
	if name == "" || strings.HasPrefix(name, "main.") {
		return "func"
	}
	if outer, _, ok := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".func"); ok {
		return "func of " + outer
	}
	return name
}

// difference says how two structures differ first.
func difference(kept, built string) string {
	a, b := strings.Split(kept, "\n"), strings.Split(built, "\n")
	var where []string // the enclosing lines
	for i := range max(len(a), len(b)) {
		x, y := lineOf(a, i), lineOf(b, i)
		if x == y {
			depth := (len(x) - len(strings.TrimLeft(x, " "))) / 2
			where = append(where[:min(depth, len(where))], strings.TrimSpace(x))
			continue
		}
		depth := (len(x) - len(strings.TrimLeft(x, " "))) / 2
		at := ""
		if n := min(depth, len(where)); n > 0 {
			at = " (in " + where[n-1] + ")"
		}
		return fmt.Sprintf("it was built with %q, here %q%s", strings.TrimSpace(x), strings.TrimSpace(y), at)
	}
	return "its structure is another"
}

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// typeName is the Go type of what a function returned.
func typeName(v any) string { return fmt.Sprintf("%T", v) }
