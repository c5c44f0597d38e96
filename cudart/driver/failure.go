//go:build linux && (amd64 || arm64)

package driver

import "slices"

// Codes of CUresult that are told apart.
const (
	codeInvalidValue   = 1
	codeMemory         = 2
	codeStub           = 34
	codeUnavailable    = 46
	codeNoDevice       = 100
	codeInvalidDevice  = 101
	codeInvalidContext = 201
	codeNotFound       = 500
	codeIllegalState   = 401
	codeNotReady       = 600
	codeUnsupported    = 801
	codeMismatch       = 803
	codeCompat         = 804
	codeCapture        = 900
	codeWrongThread    = 908
)

var (
	imageCodes = []int32{200, 209, 218, 221, 222, 223} // invalid image, no binary, invalid or unsupported PTX, no JIT compiler
	lostCodes  = []int32{214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999}
)

func kindOf(code int32) error {
	switch {
	case code == codeMemory:
		return ErrMemory
	case code == codeNotFound:
		return ErrNotFound
	case code == codeUnsupported:
		return ErrUnsupported
	case slices.Contains(imageCodes, code):
		return ErrImage
	case slices.Contains(lostCodes, code):
		return ErrLost
	case code >= 900 && code <= 908:
		return ErrCapture
	case code == codeStub || code == codeUnavailable || code == codeNoDevice || code == codeInvalidDevice || code == codeMismatch || code == codeCompat:
		return ErrNoCUDA
	}
	return nil
}

// call calls a function of libcuda and makes an error of its result. See invoke for what the arguments may be.
func (d *cuda) call(s *symbol, op string, args ...uintptr) error {
	if s.addr == 0 {
		return d.absence(s, op)
	}
	if r := s.invoke(args...); r != 0 {
		return d.failure(s.name, r, op)
	}
	return nil
}

// absence is the error of a function that the library lacks.
func (d *cuda) absence(s *symbol, op string) error {
	return &Error{Code: codeUnsupported, Name: "CUDA_ERROR_NOT_SUPPORTED", Text: d.path + " has no " + s.name, Call: s.name, Op: op, Kind: ErrUnsupported}
}

func (d *cuda) failure(call string, code int32, op string) *Error {
	o := newFrame()
	defer o.put()
	var name, text string
	if d.f.errorName.invoke(uintptr(code), o.o(0)) == 0 {
		name = goString(uintptr(o.out[0]))
	}
	if d.f.errorString.invoke(uintptr(code), o.o(1)) == 0 {
		text = goString(uintptr(o.out[1]))
	}
	return NewError(call, op, int(code), name, text, &d.launches)
}

// NewError makes an Error of a CUresult with its name and text, for implementations of Driver. The last launches are those of
// h, where they may have to do with it.
func NewError(call, op string, code int, name, text string, h *History) *Error {
	e := &Error{Code: code, Name: name, Text: text, Call: call, Op: op, Kind: kindOf(int32(code))}
	if e.Name == "" {
		e.Name = "unknown CUDA error"
	}
	if code == codeInvalidContext {
		e.Text += "; the call needs a context bound to its thread (Driver.Bind)"
	}
	if e.Kind == ErrLost || call == launchName {
		e.Last = h.List()
	}
	return e
}

// launchName is the call whose errors name the launches before it.
const launchName = "cuLaunchKernel"
