package session

import (
	"errors"
	"fmt"
	"reflect"
)

// encoding/gob follows pointers for ever where they lead in a circle, until the stack is full and the program dies. So values whose type
// makes that possible are walked before they are written.

// mostNested is how deep values are written: gob needs some hundred bytes of stack for each level, of which there is 1 GB.
const mostNested = 100_000

var errNested = errors.New("keep it as a slice whose elements name each other by index")

// mayCircle says whether values of a type can hold themselves: types that do, and interfaces, which hold anything.
func mayCircle(t reflect.Type, path map[reflect.Type]bool) bool {
	if t == nil || encodesItself(t) || !holds(t) {
		return false
	}
	if t.Kind() == reflect.Interface || path[t] {
		return true
	}
	path[t] = true
	defer delete(path, t)
	if t.Kind() != reflect.Struct {
		return mayCircle(t.Elem(), path) // a map's keys hold no pointers that gob follows, but for interfaces, which it refuses
	}
	for _, f := range sent(t) {
		if mayCircle(f.Type, path) {
			return true
		}
	}
	return false
}

// A circler looks for circles.
type circler struct {
	open  map[visit]bool // what the walk is in
	depth int
}

// A visit is one pointer, slice or map. A slice of another length at the same place is another one.
type visit struct {
	at  uintptr
	len int
	t   reflect.Type
}

// circle returns an error if gob would not come to an end with a value, or lose what an interface in it holds.
func circle(v any) error {
	c := &circler{open: map[visit]bool{}}
	return c.walk("", reflect.ValueOf(v))
}

func (c *circler) walk(path string, v reflect.Value) error {
	if !v.IsValid() || encodesItself(v.Type()) {
		return nil
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if fault := unkept(v.Elem().Type()); fault != "" {
			return fmt.Errorf("%s holds a %v, whose field %s", or(path, "it"), v.Elem().Type(), fault)
		}
		return c.enter(path, v, func() error { return c.walk(path, v.Elem()) })
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if v.IsNil() || v.Kind() != reflect.Pointer && !holds(v.Type().Elem()) {
			return nil
		}
		return c.enter(path, v, func() error { return c.inside(path, v) })
	case reflect.Array, reflect.Struct:
		return c.inside(path, v)
	}
	return nil
}

// enter goes one level deeper.
func (c *circler) enter(path string, v reflect.Value, walk func() error) error {
	if c.depth++; c.depth > mostNested {
		return fmt.Errorf("it is nested more than %d deep: %w", mostNested, errNested)
	}
	defer func() { c.depth-- }()
	if v.Kind() != reflect.Interface {
		at := visit{at: v.Pointer(), t: v.Type()}
		if v.Kind() == reflect.Slice {
			at.len = v.Len()
		}
		if c.open[at] {
			return fmt.Errorf("it leads back to itself at %s: %w", or(path, "its beginning"), errNested)
		}
		c.open[at] = true
		defer delete(c.open, at)
	}
	return walk()
}

// inside walks what a value is made of. Only the first levels are named: a long path tells nobody anything.
func (c *circler) inside(path string, v reflect.Value) error {
	name := func(part string) string {
		if len(path) > 100 {
			return path
		}
		return path + part
	}
	switch v.Kind() {
	case reflect.Pointer:
		return c.walk(path, v.Elem())
	case reflect.Struct:
		for _, f := range sent(v.Type()) {
			at := name("." + f.Name)
			if path == "" {
				at = f.Name
			}
			if err := c.walk(at, v.FieldByIndex(f.Index)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := c.walk(name(fmt.Sprintf("[%v]", text(it.Key()))), it.Value()); err != nil {
				return err
			}
		}
	default:
		if !holds(v.Type().Elem()) {
			return nil
		}
		for i := range v.Len() {
			if err := c.walk(name(fmt.Sprintf("[%d]", i)), v.Index(i)); err != nil {
				return err
			}
		}
	}
	return nil
}
