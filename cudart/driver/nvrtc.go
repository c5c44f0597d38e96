//go:build linux && (amd64 || arm64)

package driver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/halftone-ml/halftone/cudart/libraries"
)

type nvrtcAPI struct {
	version   symbol `c:"nvrtcVersion"`
	archCount symbol `c:"nvrtcGetNumSupportedArchs"`
	archs     symbol `c:"nvrtcGetSupportedArchs"`
	create    symbol `c:"nvrtcCreateProgram"`
	destroy   symbol `c:"nvrtcDestroyProgram"`
	compile   symbol `c:"nvrtcCompileProgram"`
	logSize   symbol `c:"nvrtcGetProgramLogSize"`
	log       symbol `c:"nvrtcGetProgramLog"`
	ptxSize   symbol `c:"nvrtcGetPTXSize"`
	ptx       symbol `c:"nvrtcGetPTX"`
	cubinSize symbol `c:"nvrtcGetCUBINSize"`
	cubin     symbol `c:"nvrtcGetCUBIN"`
}

// NVRTC is NVIDIA's compiler as a library. It needs no device and no context, and is safe for concurrent use.
type NVRTC struct {
	path         string
	f            nvrtcAPI
	major, minor int
	archs        []int // ascending: 75, 80, 90 …
}

var (
	nvrtcMu     sync.Mutex
	nvrtcLoaded = map[string]*NVRTC{}
)

// OpenNVRTC loads the compiler, the file path or the first that libraries.Find finds. Errors wrap ErrUnsupported where there is none and
// name the Python wheel that has it.
func OpenNVRTC(path string) (*NVRTC, error) {
	if path == "" {
		lib := libraries.Find("libnvrtc") // no For: its cubins need no driver as new as itself
		if lib.Path == "" {
			return nil, lib.Missing()
		}
		path = lib.Path
	}
	nvrtcMu.Lock()
	defer nvrtcMu.Unlock()
	if n := nvrtcLoaded[path]; n != nil {
		return n, nil
	}
	h, err := load(path)
	if err != nil {
		return nil, err
	}
	n := &NVRTC{path: path}
	if missing := resolve(h, &n.f); missing != nil {
		return nil, lacks(path, missing)
	}
	o := newFrame()
	defer o.put()
	if err := n.call(&n.f.version, o.o(0), o.o(1)); err != nil {
		return nil, err
	}
	n.major, n.minor = int(int32(o.out[0])), int(int32(o.out[1]))
	if err := n.call(&n.f.archCount, o.o(2)); err != nil {
		return nil, err
	}
	list := make([]int32, max(1, int32(o.out[2])))
	if err := n.call(&n.f.archs, heap(unsafe.Pointer(&list[0]))); err != nil {
		return nil, err
	}
	for _, a := range list {
		n.archs = append(n.archs, int(a))
	}
	slices.Sort(n.archs)
	nvrtcLoaded[path] = n
	return n, nil
}

// Path returns the library's file.
func (n *NVRTC) Path() string { return n.path }

// Version returns the toolkit's version, as "13.0".
func (n *NVRTC) Version() string { return fmt.Sprintf("%d.%d", n.major, n.minor) }

// Archs returns the compute capabilities that it compiles for, 10·major + minor, ascending.
func (n *NVRTC) Archs() []int { return slices.Clone(n.archs) }

// Compile compiles a source, or takes the result from the cache. A CompileError holds the compiler's diagnostics.
func (n *NVRTC) Compile(s Source, c *Cache) (Code, error) {
	target, isPTX, err := n.target(s.Arch)
	if err != nil {
		return Code{}, err
	}
	key := s.key("nvrtc "+n.Version(), target)
	if code, ok := c.load(key); ok {
		return code, nil
	}
	image, log, err := n.compile(s, target, isPTX)
	if err != nil {
		return Code{Log: log}, err
	}
	code := Code{Image: image, Log: log, Diagnostics: parseLog(log)}
	code.CacheError = c.store(key, code)
	return code, nil
}

// target chooses what to compile for: machine code of the device's own architecture or, where it is newer than this compiler,
// PTX of the newest one before it, which the driver translates.
func (n *NVRTC) target(arch int) (option string, isPTX bool, err error) {
	older := -1
	for _, a := range n.archs {
		if a <= arch {
			older = a
		}
	}
	switch {
	case older == arch:
		return fmt.Sprintf("--gpu-architecture=sm_%d", arch), false, nil
	case older < 0:
		return "", false, fmt.Errorf("%w: NVRTC %s compiles for compute capability %d.%d and newer, and this is %d.%d; install an older one, and name its folder in %s",
			ErrUnsupported, n.Version(), n.archs[0]/10, n.archs[0]%10, arch/10, arch%10, libraries.PathEnv)
	}
	return fmt.Sprintf("--gpu-architecture=compute_%d", older), true, nil
}

func (n *NVRTC) compile(s Source, target string, isPTX bool) (image []byte, log string, err error) {
	// What C is given must neither move nor be freed before the end.
	var keep [][]byte
	list := func(strs []string) []byte {
		b := make([]byte, 8*len(strs)+8)
		for i, v := range strs {
			c := cstring(v)
			keep = append(keep, c)
			binary.NativeEndian.PutUint64(b[8*i:], uint64(address(c)))
		}
		keep = append(keep, b)
		return b
	}
	defer func() { runtime.KeepAlive(keep) }()
	names, texts := s.headers()
	if strings.ContainsRune(s.Text, 0) {
		return nil, "", errors.New("driver: the source holds a zero byte")
	}
	src := list([]string{s.Text, s.file()})
	text, file := binary.NativeEndian.Uint64(src), binary.NativeEndian.Uint64(src[8:])
	o := newFrame()
	defer o.put()
	if err := n.call(&n.f.create, o.o(0), uintptr(text), uintptr(file), uintptr(len(names)), address(list(texts)), address(list(names))); err != nil {
		return nil, "", err
	}
	prog := uintptr(o.out[0])
	defer func() { n.f.destroy.invoke(o.o(0)) }()
	options := append([]string{target}, s.Options...)
	const compilationFailed = 6
	r := n.f.compile.invoke(prog, uintptr(len(options)), address(list(options)))
	out, err := n.bytes(&n.f.logSize, &n.f.log, prog)
	if err != nil {
		return nil, "", err
	}
	log = strings.TrimRight(strings.TrimRight(string(out), "\x00"), "\n")
	switch {
	case r == compilationFailed:
		return nil, log, &CompileError{Name: s.file(), Log: log, Diagnostics: parseLog(log)}
	case r != 0:
		err := n.failure(n.f.compile.name, r)
		err.Text += " (options: " + strings.Join(options, " ") + ")"
		if log != "" {
			err.Text += ":\n" + log
		}
		return nil, log, err
	case isPTX:
		image, err = n.bytes(&n.f.ptxSize, &n.f.ptx, prog)
	default:
		image, err = n.bytes(&n.f.cubinSize, &n.f.cubin, prog)
	}
	return image, log, err
}

// bytes fetches one of a program's results.
func (n *NVRTC) bytes(size, get *symbol, prog uintptr) ([]byte, error) {
	o := newFrame()
	defer o.put()
	if err := n.call(size, prog, o.o(0)); err != nil {
		return nil, err
	}
	b := make([]byte, o.out[0])
	if len(b) == 0 {
		return b, nil
	}
	err := n.call(get, prog, address(b))
	runtime.KeepAlive(b)
	return b, err
}

func (n *NVRTC) call(s *symbol, args ...uintptr) error {
	if r := s.invoke(args...); r != 0 {
		return n.failure(s.name, r)
	}
	return nil
}

func (n *NVRTC) failure(call string, code int32) *Error {
	text := ""
	names := map[int32]string{1: "NVRTC_ERROR_OUT_OF_MEMORY", 2: "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", 3: "NVRTC_ERROR_INVALID_INPUT",
		4: "NVRTC_ERROR_INVALID_PROGRAM", 5: "NVRTC_ERROR_INVALID_OPTION", 6: "NVRTC_ERROR_COMPILATION", 7: "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
		11: "NVRTC_ERROR_INTERNAL_ERROR"}
	switch code {
	case 5:
		text = "an option is not one of this version's"
	case 7:
		text = "libnvrtc-builtins was not found beside " + n.path
	}
	name := names[code]
	if name == "" {
		name = fmt.Sprintf("nvrtcResult %d", code)
	}
	return &Error{Code: int(code), Name: name, Text: text, Call: call}
}
