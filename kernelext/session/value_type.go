package session

import (
	"encoding"
	"encoding/gob"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// encoding/gob matches the fields of structs by their names, and leaves out what it does not find: a field that was renamed would be
// empty without a word. So a value's type is kept beside it as text, one line per field, and one of another text is refused. Of named
// types the text has the fields and not the names: to call a type otherwise loses nothing.

// fingerprint writes the structure of a type: "path: kind", sorted, where the path of the value itself is empty.
func fingerprint(t reflect.Type) string {
	f := &printer{open: map[reflect.Type]string{}}
	f.walk("", t)
	slices.Sort(f.lines)
	return strings.Join(f.lines, "\n")
}

// mostLines bounds the text of types that name each other many times over.
const mostLines = 4096

type printer struct {
	lines []string
	open  map[reflect.Type]string // the types around, and where: one that holds itself ends there
}

func (f *printer) walk(path string, t reflect.Type) {
	at, kind := path, ""
	for {
		where, again := f.open[t]
		switch {
		case again:
			f.line(at, kind+"as "+or(where, "the value itself"))
			return
		case encodesItself(t):
			f.line(at, kind+t.String())
			return
		case !holds(t) || t.Kind() == reflect.Interface:
			f.line(at, kind+t.Kind().String())
			return
		}
		if t.Name() != "" {
			f.open[t] = path
			defer delete(f.open, t)
		}
		switch t.Kind() {
		case reflect.Struct:
			f.line(at, kind+"struct")
			for _, field := range sent(t) {
				if len(f.lines) < mostLines {
					f.walk(strings.TrimPrefix(path+"."+field.Name, "."), field.Type)
				}
			}
			return
		case reflect.Slice:
			kind, path = kind+"[]", path+"[]"
		case reflect.Array:
			kind, path = fmt.Sprintf("%s[%d]", kind, t.Len()), path+"[]"
		case reflect.Pointer:
			kind += "*"
		case reflect.Map:
			f.walk(path+"[key]", t.Key())
			kind, path = kind+"map[]", path+"[]"
		}
		t = t.Elem()
	}
}

func (f *printer) line(path, kind string) { f.lines = append(f.lines, path+": "+kind) }

// holds says whether a type is made of others.
func holds(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Map, reflect.Struct, reflect.Interface:
		return true
	}
	return false
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

// encodesItself says whether gob leaves it to a type how it is written.
func encodesItself(t reflect.Type) bool {
	for _, own := range []reflect.Type{reflect.TypeFor[gob.GobEncoder](), reflect.TypeFor[encoding.BinaryMarshaler]()} {
		if t.Kind() != reflect.Interface && (t.Implements(own) || reflect.PointerTo(t).Implements(own)) {
			return true
		}
	}
	return false
}

// sent are the fields that gob writes, sorted, so that their order does not count.
func sent(t reflect.Type) (fields []reflect.StructField) {
	for i := range t.NumField() {
		if f := t.Field(i); ignored(f) == "" {
			fields = append(fields, f)
		}
	}
	slices.SortFunc(fields, func(a, b reflect.StructField) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

// ignored says why gob leaves out a field, "" for one that it writes.
func ignored(f reflect.StructField) string {
	base := f.Type
	for base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	switch {
	case base.Kind() == reflect.Func:
		return "is a function"
	case base.Kind() == reflect.Chan:
		return "is a channel"
	case !f.IsExported():
		return "is not exported"
	}
	return ""
}

// unkept names the first field that a value would lose from one cell to the next, and why. A field that holds nothing, such as a lock, is
// none; nor is a function of the value itself, which is taken from the initial value each time: it is code, and not what was computed.
func unkept(t reflect.Type) string {
	return unkeptIn("", t, true, map[reflect.Type]bool{})
}

func unkeptIn(path string, t reflect.Type, direct bool, seen map[reflect.Type]bool) string {
	if !holds(t) || seen[t] || encodesItself(t) || t.Kind() == reflect.Interface {
		return ""
	}
	if !direct {
		seen[t] = true
	}
	if t.Kind() == reflect.Map {
		if fault := unkeptIn(path+"[key]", t.Key(), false, seen); fault != "" {
			return fault
		}
	}
	if t.Kind() != reflect.Struct {
		if t.Kind() != reflect.Pointer {
			path += "[]"
		}
		return unkeptIn(path, t.Elem(), false, seen)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		at := strings.TrimPrefix(path+"."+f.Name, ".")
		switch why := ignored(f); {
		case why == "":
			if fault := unkeptIn(at, f.Type, direct, seen); fault != "" {
				return fault
			}
		case f.Name == "_", f.Type.Size() == 0, lock(f.Type), direct && code(f.Type):
		default:
			return at + " " + why
		}
	}
	return ""
}

func lock(t reflect.Type) bool {
	return t == reflect.TypeFor[sync.Mutex]() || t == reflect.TypeFor[sync.RWMutex]() || t == reflect.TypeFor[sync.WaitGroup]()
}

func code(t reflect.Type) bool { return t.Kind() == reflect.Func || t.Kind() == reflect.Chan }

// takeCode gives a value that was read the functions and channels of the initial one.
func takeCode(to, from reflect.Value) {
	if to.Kind() != reflect.Struct || encodesItself(to.Type()) {
		return
	}
	for i := range to.NumField() {
		f := to.Type().Field(i)
		switch {
		case code(f.Type):
			settable(to.Field(i)).Set(settable(from.Field(i)))
		case ignored(f) == "":
			takeCode(to.Field(i), from.Field(i))
		}
	}
}

// settable is an addressable field as one that may be read and set, unexported ones too.
func settable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}

// parted says how two fingerprints differ.
func parted(kept, here string) string {
	old, now := lines(kept), lines(here)
	var faults []string
	for _, line := range strings.Split(kept, "\n") {
		path, kind, _ := strings.Cut(line, ": ")
		what := "the value"
		if path != "" {
			what = "field " + path
		}
		if k, ok := now[path]; !ok {
			faults = append(faults, fmt.Sprintf("%s (%s) is kept, and not here", what, kind))
		} else if k != kind {
			faults = append(faults, fmt.Sprintf("%s is %s in the session, %s here", what, kind, k))
		}
	}
	for _, line := range strings.Split(here, "\n") {
		if path, kind, _ := strings.Cut(line, ": "); old[path] == "" {
			faults = append(faults, fmt.Sprintf("field %s (%s) is new", path, kind))
		}
	}
	if more := len(faults) - 4; more > 0 {
		faults = append(faults[:4], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(faults, "; ")
}

func lines(print string) map[string]string {
	m := map[string]string{}
	for line := range strings.SplitSeq(print, "\n") {
		path, kind, _ := strings.Cut(line, ": ")
		m[path] = kind
	}
	return m
}
