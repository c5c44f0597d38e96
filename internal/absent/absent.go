// Package absent tells arguments that are not there from those that are: an interface may hold a nil pointer, which is not equal to nil
// and whose methods panic.
package absent

import "reflect"

// Is says whether v is nil, or a nil pointer, function, map, slice or channel in an interface.
func Is(v any) bool {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan, reflect.Interface:
		return r.IsNil()
	}
	return false
}
