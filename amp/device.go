package amp

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Buffer is a block of memory on one device. Tensors hold buffers through this interface alone, so that they can live in
// shared or device memory.
type Buffer interface {
	// Bytes returns the block as host memory, nil if the host can't reach it. It starts at a multiple of 64 bytes.
	Bytes() []byte
	// Len returns the usable bytes.
	Len() int
	// Free returns the block to its device.
	Free()
}

// A Device allocates buffers and runs the rows of the op table.
type Device interface {
	// Name returns "cpu", "cuda:0" …; two devices are the same iff their names are.
	Name() string
	// Alloc returns a buffer of at least bytes bytes; its content is arbitrary.
	Alloc(bytes int) (Buffer, error)
	// Run executes one op: c.Out exists and has its shape and dtype.
	Run(c *Call) error
	// Sync waits until everything queued on the device is done and returns its first error.
	Sync() error
}

var (
	devicesMu sync.Mutex
	openers   = map[string]func(index int) (Device, error){}
	opened    = map[string]Device{}
	// Kinds that On("auto") tries, best first, before the CPU.
	preferred = []string{"cuda"}
)

// RegisterDevice makes a kind of device known to OpenDevice and On, as image formats are; a device package calls it in init.
func RegisterDevice(kind string, open func(index int) (Device, error)) {
	devicesMu.Lock()
	defer devicesMu.Unlock()
	openers[kind] = open
}

// OpenDevice returns the device of a name such as "cpu" or "cuda:1", the same one each time. "auto" is the best one
// registered that opens; the string says which and why where the CPU was the fallback.
func OpenDevice(name string) (Device, string, error) {
	devicesMu.Lock()
	defer devicesMu.Unlock()
	if name == "auto" {
		var tried []string
		for _, kind := range preferred {
			if _, ok := openers[kind]; !ok {
				tried = append(tried, kind+": not linked in")
				continue
			}
			d, err := open(kind, 0)
			if err == nil {
				return d, "auto: " + d.Name(), nil
			}
			tried = append(tried, fmt.Sprintf("%s: %v", kind, err))
		}
		return theCPU, "auto: cpu (" + strings.Join(tried, "; ") + ")", nil
	}
	kind, num, hasIndex := strings.Cut(name, ":")
	index := 0
	if hasIndex {
		if _, err := fmt.Sscanf(num, "%d", &index); err != nil || index < 0 {
			return nil, "", fmt.Errorf("amp: device %q: the part after the colon must be a number, as in %q", name, kind+":0")
		}
	}
	d, err := open(kind, index)
	return d, "", err
}

func open(kind string, index int) (Device, error) {
	if kind == "cpu" {
		if index != 0 {
			return nil, fmt.Errorf("amp: there is one cpu device, not cpu:%d; use \"cpu\"", index)
		}
		return theCPU, nil
	}
	f := openers[kind]
	if f == nil {
		known := []string{"auto", "cpu"}
		for k := range openers {
			known = append(known, k)
		}
		slices.Sort(known)
		return nil, fmt.Errorf("amp: no device kind %q; known: %s (a GPU needs import _ %q)",
			kind, strings.Join(known, ", "), "github.com/halftone-ml/halftone/cudart")
	}
	key := fmt.Sprintf("%s:%d", kind, index)
	if d := opened[key]; d != nil {
		return d, nil
	}
	d, err := f(index)
	if err == nil {
		opened[key] = d
	}
	return d, err
}
