package driver

import "time"

// Handles of the driver API. The zero Stream is the legacy default stream, which waits for all others and can't be captured.
type (
	Device    int32
	Context   uintptr
	Stream    uintptr
	Event     uintptr
	Module    uintptr
	Function  uintptr
	MemPool   uintptr
	Graph     uintptr
	GraphExec uintptr
)

// A DevicePtr is an address in a device's memory. Go must not dereference it.
type DevicePtr uint64

// A Driver is one implementation of CUDA's driver API. Its methods are safe for concurrent use.
type Driver interface {
	// Path returns the file of the library behind it.
	Path() string
	// Version returns the newest CUDA version that the driver supports: 1000·major + 10·minor, 13000 for 13.0.
	Version() (int, error)

	DeviceCount() (int, error)
	// Device returns the device of an ordinal in 0 … DeviceCount-1.
	Device(index int) (Device, error)
	Properties(d Device) (Properties, error)
	Attribute(d Device, a Attribute) (int, error)

	// RetainContext returns the device's primary context, which all libraries of a process share, and creates it on first use:
	// hundreds of milliseconds on a real device.
	RetainContext(d Device) (Context, error)
	// ReleaseContext undoes one RetainContext; the last one destroys the context and all that lives in it.
	ReleaseContext(d Device) error
	// Bind locks the goroutine to its thread and makes c current there. On an error the goroutine is not locked.
	Bind(c Context) error
	// Unbind undoes one Bind. The context stays current on the thread until another is bound.
	Unbind()

	Memory
	Streams
	Modules
	Graphs
	Sharing
}

// Memory allocates and moves bytes. Every method needs a bound context.
type Memory interface {
	// MemInfo returns the free and total bytes of the bound device, those of other processes counted in.
	MemInfo() (free, total uint64, err error)

	// Alloc returns n bytes, n > 0, at a multiple of 256 bytes. It may wait for the device. An error is ErrMemory if there are none.
	Alloc(n uint64) (DevicePtr, error)
	// Free waits for the device and returns what Alloc returned.
	Free(p DevicePtr) error

	// AllocAsync and FreeAsync allocate in the order of a stream, from the device's current pool. Under capture they become nodes of the graph.
	AllocAsync(n uint64, s Stream) (DevicePtr, error)
	FreeAsync(p DevicePtr, s Stream) error
	// AllocFromPool is AllocAsync from a pool of the caller's.
	AllocFromPool(n uint64, p MemPool, s Stream) (DevicePtr, error)
	// DefaultPool returns the pool of AllocAsync; NewPool makes another one on the same device.
	DefaultPool(d Device) (MemPool, error)
	NewPool(d Device) (MemPool, error)
	DestroyPool(p MemPool) error
	// SetPoolThreshold sets how many bytes the pool keeps when it could return them at a synchronization; the driver's default is none.
	SetPoolThreshold(p MemPool, bytes uint64) error
	// TrimPool returns memory to the device until keep bytes are left or all that are left are in use.
	TrimPool(p MemPool, keep uint64) error
	PoolStats(p MemPool) (PoolStats, error)

	// HostAlloc returns n bytes of page-locked host memory, n > 0, which devices reach without the host's help. It isn't Go's
	// memory: it is freed by HostFree, given the whole slice, and by nothing else.
	HostAlloc(n int) ([]byte, error)
	HostFree(b []byte) error

	// CopyHtoD and CopyDtoH copy all of the host's slice, and return when that is done. They follow what is queued on the default stream only,
	// and are refused while this thread captures.
	CopyHtoD(dst DevicePtr, src []byte) error
	CopyDtoH(dst []byte, src DevicePtr) error
	// The Async copies are queued on a stream. The host's slice must be HostAlloc's and must not be touched until the copy is done;
	// any other memory is copied before they return (then nothing is asynchronous), and is refused under capture.
	CopyHtoDAsync(dst DevicePtr, src []byte, s Stream) error
	CopyDtoHAsync(dst []byte, src DevicePtr, s Stream) error
	// CopyDtoD copies between ranges that do not overlap, in the order of a stream.
	CopyDtoD(dst, src DevicePtr, n uint64, s Stream) error
	// Memset8, Memset16 and Memset32 write n values, in the order of a stream. dst is a multiple of the value's size.
	Memset8(dst DevicePtr, v uint8, n uint64, s Stream) error
	Memset16(dst DevicePtr, v uint16, n uint64, s Stream) error
	Memset32(dst DevicePtr, v uint32, n uint64, s Stream) error
}

// PoolStats are a memory pool's bytes.
type PoolStats struct {
	Reserved, ReservedHigh uint64 // held from the device, and the most that ever was
	Used, UsedHigh         uint64 // of them in use
}

// Streams are queues of work; events are marks in them. Every method needs a bound context.
type Streams interface {
	// NewStream makes a stream that does not wait for the default one.
	NewStream() (Stream, error)
	DestroyStream(s Stream) error
	// SyncStream waits until all that was queued is done, and returns the first error of it.
	SyncStream(s Stream) error
	// StreamDone tells whether all that was queued is done, without waiting.
	StreamDone(s Stream) (bool, error)
	// StreamWait queues on s a wait for the last record of e.
	StreamWait(s Stream, e Event) error
	// Sync waits for all streams of the bound context.
	Sync() error

	// NewEvent makes an event; only those with timing may be given to Elapsed, and they cost more.
	NewEvent(timing bool) (Event, error)
	DestroyEvent(e Event) error
	RecordEvent(e Event, s Stream) error
	SyncEvent(e Event) error
	EventDone(e Event) (bool, error)
	// Elapsed returns the time from one recorded event to another; the resolution is about half a microsecond.
	Elapsed(from, to Event) (time.Duration, error)
}

// Modules are loaded code, and launches of it. Every method needs a bound context.
type Modules interface {
	// LoadModule loads PTX (text), a cubin or a fat binary. The log is the driver's just-in-time compiler's; an Error's Text ends in it.
	LoadModule(image []byte, o JIT) (m Module, log string, err error)
	UnloadModule(m Module) error
	// Function returns a kernel by its symbol. An error is ErrNotFound if there is none of that name.
	Function(m Module, name string) (Function, error)
	// Global returns the address and bytes of a module's __device__ or __constant__ variable.
	Global(m Module, name string) (DevicePtr, uint64, error)
	FunctionAttribute(f Function, a FunctionAttribute) (int, error)
	SetFunctionAttribute(f Function, a FunctionAttribute, v int) error
	// ActiveBlocks returns how many blocks of a size and of dynamic shared bytes one multiprocessor holds at once.
	ActiveBlocks(f Function, blockSize, sharedBytes int) (int, error)

	// Launch queues grid[0]·grid[1]·grid[2] blocks of block[0]·block[1]·block[2] threads, with sharedBytes of dynamic shared
	// memory. a may be reused when it returns; nil is no parameters.
	Launch(f Function, grid, block [3]uint32, sharedBytes uint32, s Stream, a *Args) error
}

// A ParamSizer is a Driver that knows what its kernels take.
type ParamSizer interface {
	// ParamSizes returns the bytes of each of a kernel's parameters, whatever its source says; ErrUnsupported before CUDA 12.4.
	ParamSizes(f Function) ([]int, error)
}

// Graphs are captured sequences of work. Every method needs a bound context.
type Graphs interface {
	// BeginCapture turns what this thread queues on s from here on into nodes of a graph, instead of running it. Stay bound up to
	// EndCapture, which must run on the same thread. Calls that could wait are errors while any capture runs on this thread, but for those
	// that ask, or wait for, events recorded before it.
	BeginCapture(s Stream) error
	EndCapture(s Stream) (Graph, error)
	// Capturing tells whether a stream is being captured.
	Capturing(s Stream) (bool, error)
	// GraphNodes returns the number of a graph's nodes.
	GraphNodes(g Graph) (int, error)
	Instantiate(g Graph) (GraphExec, error)
	LaunchGraph(x GraphExec, s Stream) error
	DestroyGraph(g Graph) error
	DestroyGraphExec(x GraphExec) error
}

// Sharing is memory that other processes map: by a file descriptor (Export, Import), which lives as long as any process holds
// it, or by an IPC handle, which lives as long as the owner. Every method needs a bound context.
type Sharing interface {
	// Export allocates at least n bytes that can be handed to other processes; Shared.Bytes says how many.
	Export(d Device, n uint64) (Shared, error)
	// ExportFD returns a new file descriptor of exported memory: to be passed to another process, and closed.
	ExportFD(sh Shared) (fd int, err error)
	// Import maps what another process exported, n bytes as its Shared.Bytes says; fd may be closed then.
	Import(d Device, fd int, n uint64) (Shared, error)
	// ReleaseShared unmaps it here; the memory goes back when no process maps it and no descriptor is open.
	ReleaseShared(sh Shared) error

	// IPCHandle returns a name, for other processes, of the allocation that Alloc returned p of.
	IPCHandle(p DevicePtr) (IPCHandle, error)
	// OpenIPC maps another process's allocation; CloseIPC unmaps it. A process can't open its own handles.
	OpenIPC(h IPCHandle) (DevicePtr, error)
	CloseIPC(p DevicePtr) error
}

// Shared is exported or imported memory.
type Shared struct {
	Ptr    DevicePtr
	Bytes  uint64 // a multiple of the device's granularity, 2 MB on today's
	Handle uint64
}

// An IPCHandle names an allocation to other processes of the same machine and user.
type IPCHandle [64]byte

// Properties describe a device.
type Properties struct {
	Name                string
	UUID                [16]byte
	Major, Minor        int    // compute capability: 9, 0 for sm_90
	Memory              uint64 // bytes
	Multiprocessors     int
	MaxThreadsPerBlock  int
	MaxThreadsPerMP     int
	SharedPerBlock      int // bytes without opting in
	SharedPerBlockOptin int // bytes that SetFunctionAttribute can opt into
	SharedPerMP         int // bytes
	L2                  int // bytes
	ClockKHz            int
	MemoryClockKHz      int
	MemoryBusBits       int
	MemoryPools         bool // AllocAsync and the pools work
	ExportFD            bool // Export works
	Integrated          bool // shares the host's memory
}

// Capability returns 10·major + minor, 90 for sm_90.
func (p Properties) Capability() int { return 10*p.Major + p.Minor }

// JIT are options of LoadModule. The zero value is the driver's defaults.
type JIT struct {
	MaxRegisters int // per thread; 0 is no limit
	Verbose      bool
	LineInfo     bool
}

// Do binds c, calls f and unbinds.
func Do(d Driver, c Context, f func() error) error {
	if err := d.Bind(c); err != nil {
		return err
	}
	defer d.Unbind()
	return f()
}
