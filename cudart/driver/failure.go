//go:build linux && (amd64 || arm64)

package driver

import (
	"slices"
	"sync"
)

// Codes of CUresult that are told apart.
const (
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
	codeWrongThread    = 908
)

var (
	imageCodes = []int32{200, 209, 218, 221, 222, 223} // invalid image, no binary, invalid or unsupported PTX, no JIT compiler
	lostCodes  = []int32{214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719}
)

func KindOf(code int32) error {
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
	e := &Error{Code: int(code), Call: call, Op: op, Kind: KindOf(code)}
	if d.f.errorName.invoke(uintptr(code), o.o(0)) == 0 {
		e.Name = goString(uintptr(o.out[0]))
	}
	if d.f.errorString.invoke(uintptr(code), o.o(1)) == 0 {
		e.Text = goString(uintptr(o.out[1]))
	}
	if e.Name == "" {
		e.Name = "unknown CUDA error"
	}
	if code == codeInvalidContext {
		e.Text += "; the call needs a context bound to its thread (Driver.Bind)"
	}
	if e.Kind == ErrLost || call == d.f.launch.name {
		e.Last = d.launches.list()
	}
	return e
}

// history remembers the last launches. Names are looked up only when an error wants them.
type history struct {
	mu   sync.Mutex
	n    int
	ring [16]struct {
		op string
		f  Function
	}
	names map[Function]string
}

// add notes a launch; f 0 is a library's, named by op alone.
func (h *history) add(op string, f Function) {
	h.mu.Lock()
	e := &h.ring[h.n%len(h.ring)]
	e.op, e.f = op, f
	h.n++
	h.mu.Unlock()
}

func (h *history) name(f Function, name string) {
	h.mu.Lock()
	if h.names == nil {
		h.names = map[Function]string{}
	}
	h.names[f] = name
	h.mu.Unlock()
}

// list returns the launches, oldest first, as "op: kernel".
func (h *history) list() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for i := max(0, h.n-len(h.ring)); i < h.n; i++ {
		e := h.ring[i%len(h.ring)]
		kernel := h.names[e.f]
		switch {
		case e.op == "" || e.op == kernel:
			out = append(out, kernel)
		case kernel == "":
			out = append(out, e.op)
		default:
			out = append(out, e.op+": "+kernel)
		}
	}
	return out
}
