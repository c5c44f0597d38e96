package amp

import "reflect"

// Values that scopes carry: how a caller tells layers far below it what no option of theirs says, without a variable of the package.

type scopeValue struct {
	key, value any
	around     *scopeValue
}

// WithValue returns a scope that carries value under key to all that it is handed to; see Value. The key should be of a type of your own, which
// no other package has, as with context.WithValue. It panics with ErrArgument for a nil key, and one that can't be compared.
func (s *Scope) WithValue(key, value any) *Scope {
	c := s.derive()
	if key == nil || !reflect.TypeOf(key).Comparable() {
		fail("WithValue", ErrArgument, "use a value of a type of your own, such as a struct without fields", "the key is %T", key)
	}
	c.values = &scopeValue{key, value, s.values}
	return c
}

// Value returns what the innermost WithValue put under key, nil where none did.
func (s *Scope) Value(key any) any {
	for v := s.known("Value").values; v != nil; v = v.around {
		if v.key == key {
			return v.value
		}
	}
	return nil
}
