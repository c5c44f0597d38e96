//go:build gorgonia_cu

package gorgoniacu

// #include <cuda.h>
import "C"

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// failure makes a driver.Error of what gorgonia.org/cu returned.
func failure(call, op string, err error) error {
	if err == nil {
		return nil
	}
	code, ok := codeOf(err)
	if !ok {
		return fmt.Errorf("gorgoniacu: %s: %w", call, err)
	}
	return refused(call, op, code)
}

// refused makes a driver.Error of a CUresult.
func refused(call, op string, code int) error {
	if code == 0 {
		return nil
	}
	var name, text string
	var s *C.char
	if C.cuGetErrorName(C.CUresult(code), &s) == 0 && s != nil {
		name = C.GoString(s)
	}
	if C.cuGetErrorString(C.CUresult(code), &s) == 0 && s != nil {
		text = C.GoString(s)
	}
	return driver.NewError(call, op, code, name, text, &launches)
}

// launches are those of this process, for errors.
var launches driver.History

// codeOf returns the CUresult in an error of gorgonia.org/cu, whose type has no name outside that package.
func codeOf(err error) (int, bool) {
	for ; err != nil; err = errors.Unwrap(err) {
		if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
			return int(v.Int()), true
		}
	}
	return 0, false
}

// unsupported is the error of a method that gorgonia.org/cu has no function for.
func unsupported(call string) error {
	return &driver.Error{
		Code: 801, Name: "CUDA_ERROR_NOT_SUPPORTED", Call: call, Kind: driver.ErrUnsupported,
		Text: "gorgonia.org/cu v0.9.6 has no such function; leave out the build tag gorgonia_cu to use the default driver, which has",
	}
}
