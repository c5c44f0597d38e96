package amp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Buffer is a block of memory on one device. Tensors hold buffers through this interface alone, so that they can live in
// shared or device memory.
type Buffer interface {
	// Bytes returns the block as host memory, nil if the host can't reach it: everything then goes through the device's copies. It
	// starts at a multiple of 64 bytes, and what Run has returned from is done in it.
	Bytes() []byte
	// Len returns the usable bytes.
	Len() int
	// Free returns the block to its device.
	Free()
}

// A Device allocates buffers, copies them and runs the rows of the op table. It may work behind the host's back: Run, CopyIn, Copy and
// a Buffer's Free need only queue what they do, in the order of the calls; CopyOut and Sync wait. Calls come from any goroutine.
//
// What else a device can do it says by further interfaces: Filler, Labeler, Timer, Counter, Reserver, Emulator, Capturer.
type Device interface {
	// Name returns "cpu", "cuda:0" …; two devices are the same iff their names are.
	Name() string
	// Alloc returns a buffer of at least bytes bytes; its content is arbitrary.
	Alloc(bytes int) (Buffer, error)
	// Run executes one op: c.Out exists and has its shape and dtype, and in-place ops have c.In[0] for c.Out. Where the elements lie
	// Tensor.Layout says; RunOnHost is there for ops that the device has no kernel for.
	Run(c *Call) error
	// CopyIn copies host memory to a buffer, from its byte at on. src is the caller's again when it returns.
	CopyIn(dst Buffer, at int, src []byte) error
	// CopyOut fills dst with a buffer's bytes from at on, after all that was queued before.
	CopyOut(dst []byte, src Buffer, at int) error
	// Copy copies n bytes between two buffers of the device that do not overlap.
	Copy(dst Buffer, to int, src Buffer, from, n int) error
	// Sync waits until everything queued on the device is done and returns its first error.
	Sync() error
}

// A Filler is a Device that repeats a pattern of 1, 2, 4 or 8 bytes n times from byte at of a buffer on, without the host's memory.
type Filler interface {
	Fill(dst Buffer, at int, pattern []byte, n int) error
}

// A Drawer is a Device that draws random numbers itself, the same bits as the host.
type Drawer interface {
	// Draw fills n elements of a dtype from byte at of a buffer on.
	Draw(dst Buffer, at int, dt DType, n int, r Numbers) error
}

// A Labeler is a Device that keeps what its memory is for, so that the error of one that has none left says what holds it.
type Labeler interface {
	// AllocFor is Alloc; what names the op whose result it is, or the call that makes a tensor.
	AllocFor(bytes int, what string) (Buffer, error)
}

// An Emulator is a Device that may stand in for another; On("auto") passes over one that does.
type Emulator interface{ Emulated() bool }

// A Timer is a Device that measures its own work, for traces: Run returns before it is done.
type Timer interface {
	// Start begins to measure what is queued from here on.
	Start() Timing
}

// A Timing is one measurement.
type Timing interface {
	Stop()                   // ends it, without waiting
	Done() bool              // whether Duration would not wait
	Duration() time.Duration // between Start and Stop, 0 if the device failed; what is asked again is remembered
	Drop()                   // gives it up, without waiting; Duration is not asked any more
}

// A Counter is a Device that counts a tensor's numbers by their power of two itself, for traces at level Health and CountExponents.
type Counter interface {
	// Count queues the counting of t, as it is when all that was queued before is done, and waits for nothing; nil if the host has to
	// count tensors like t.
	Count(t *Tensor) Counting
}

// A Counting is one count.
type Counting interface {
	// Exponents returns what was counted, after waiting for it; nil if the device failed. What it returns is not changed.
	Exponents() *Exponents
}

// A Reserver is a Device that counts the blocks it took from its system, and their bytes, for MemStats.
type Reserver interface {
	Reserved() (blocks, bytes int64)
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
			if e, ok := d.(Emulator); err == nil && ok && e.Emulated() {
				err = errors.New("emulated, for tests alone")
			}
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
		digits, _, _ := strings.Cut(num, " ") // a device's Name may say more behind the number
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil {
			return nil, "", fmt.Errorf("amp: device %q: the part after the colon must be a number, as in %q", name, kind+":0")
		}
		index = int(n)
	}
	d, err := open(kind, index)
	return d, "", err
}

// knownDevice says whether a device is open by that name, or its kind is registered.
func knownDevice(name string) bool {
	devicesMu.Lock()
	defer devicesMu.Unlock()
	for _, d := range opened {
		if d.Name() == name {
			return true
		}
	}
	kind, _, _ := strings.Cut(name, ":")
	_, ok := openers[kind]
	return ok
}

// openDevices returns the devices opened so far by name.
func openDevices() map[string]Device {
	devicesMu.Lock()
	defer devicesMu.Unlock()
	return maps.Clone(opened)
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

// noSuchDevice is ErrDevice where there is nothing to mismatch.
type noSuchDevice struct{}

func (noSuchDevice) Error() string { return "no such device" }
func (noSuchDevice) Unwrap() error { return ErrDevice }

func mustOpen(op, name string) (Device, string) {
	dev, note, err := OpenDevice(name)
	if err != nil {
		what, fix := strings.TrimPrefix(err.Error(), "amp: "), adviceOf(err)
		if outOfMemory(err) {
			deviceFault(op, err)
		}
		if fix == "" {
			fix = "use amp.On(\"auto\") or amp.On(\"cpu\")"
		}
		fail(op, noSuchDevice{}, fix, "%s", strings.TrimSuffix(what, "; "+fix)) // one fix, once
	}
	return dev, note
}

// standard is the default device that the program chose; nil where it chose none.
var standard atomic.Pointer[Device]

func defaultDevice() Device {
	if d := standard.Load(); d != nil {
		return *d
	}
	dev, _ := chosen()
	return dev
}

// SetDefaultDevice chooses the device of scopes made without On, and of the tensors that belong to no scope: From, Scalar, FromFloat64s
// and what is read from files (torch.set_default_device). It returns the name of the one before, and panics with ErrDevice when
// the device can't be opened.
func SetDefaultDevice(name string) (before string) {
	before = defaultDevice().Name()
	dev, _ := mustOpen("SetDefaultDevice", name)
	standard.Store(&dev)
	return before
}

func sameDevice(a, b Device) bool { return a == b || a.Name() == b.Name() }
