//go:build linux && (amd64 || arm64)

package driver

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// load opens a library for good: nothing here is ever closed, since drivers do not survive it. Its symbols are made global, so
// that libraries which depend on each other find what is loaded already.
func load(path string) (uintptr, error) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrNoCUDA, loadError{err})
	}
	return h, nil
}

// errLoad is matched by the error of a file that is no library that the loader takes.
var errLoad = errors.New("the loader does not take it")

type loadError struct{ error }

func (loadError) Is(target error) bool { return target == errLoad }

// resolve fills the symbol fields of the struct at table with the library's functions of their tags' names. It returns those
// that the library lacks.
func resolve(h uintptr, table any) (missing []string) {
	v := reflect.ValueOf(table).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("c")
		s := (*symbol)(unsafe.Pointer(v.Field(i).UnsafeAddr()))
		s.name = name
		addr, err := purego.Dlsym(h, name)
		if err != nil {
			missing = append(missing, name)
			continue
		}
		s.addr = addr
	}
	return missing
}

// lacks is the error of a library that has none of a required function.
func lacks(path string, missing []string) error {
	return fmt.Errorf("%w: %s lacks %s; it is too old or not what its name says", ErrNoCUDA, path, strings.Join(missing, ", "))
}
