// Package optional hands optional settings to what they set. A program that chooses an option at run time may end with nil, which must
// be told by name: calling it says no more than "nil pointer dereference".
package optional

import "reflect"

// Refuse panics with the misuse of op: what is wrong, after one way to mend it.
type Refuse func(op, fix, format string, args ...any)

// Apply calls every option on c, and refuse if one is nil.
func Apply[C any, O ~func(C)](op string, opts []O, c C, refuse Refuse) {
	for i, o := range opts {
		if o == nil {
			refuseNil(op, i, len(opts), refuse)
		}
		o(c)
	}
}

// Given is for options that are an interface, to be called before they are applied: it refuses one that is nil or holds a nil function.
func Given[O any](op string, opts []O, refuse Refuse) {
	for i, o := range opts {
		if v := reflect.ValueOf(o); !v.IsValid() || v.Kind() == reflect.Func && v.IsNil() {
			refuseNil(op, i, len(opts), refuse)
		}
	}
}

func refuseNil(op string, i, n int, refuse Refuse) {
	if n == 1 {
		refuse(op, "leave it out", "the option is nil")
	}
	refuse(op, "leave it out", "option %d of %d is nil", i+1, n)
}
