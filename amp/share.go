package amp

import "os"

// Memory of devices that several processes map, and that outlives each of them: where a notebook's session keeps its tensors.

// A Sharer is a Device that can allocate such memory.
type Sharer interface {
	// CanShare says whether this device can; a driver or a virtual machine may leave it out.
	CanShare() bool
	// Share allocates at least bytes bytes. An error is ErrMemory where the device has none left.
	Share(bytes int64) (Shared, error)
	// OpenShared maps what another process has shared: files are what Shared.Files gave there, and bytes is Shared.Len. The files may be
	// closed then.
	OpenShared(files []*os.File, bytes int64) (Shared, error)
}

// A Shared is memory of a device that processes share. It lives as long as any process has it mapped or keeps its files open, and what
// was computed in it stays whatever becomes of the process.
type Shared interface {
	// Len returns the bytes.
	Len() int64
	// Files returns new descriptors for OpenShared in another process, which the caller closes.
	Files() ([]*os.File, error)
	// Part returns bytes bytes from byte at on as memory for Tensor.Rehome. Its owner is told of changes and of its end.
	Part(at, bytes int64, owner PartOwner) Buffer
	// Copy makes copies within the memory, between ranges that do not overlap, and returns when they are made. It follows what the device
	// had done when it was called, and not what is queued.
	Copy(moves []Move) error
	// Write and Read copy from and to the host in the same way.
	Write(at int64, src []byte) error
	Read(dst []byte, at int64) error
	// Close unmaps the memory here. Nothing may be in use in it.
	Close() error
}

// A Move is one copy within shared memory, in bytes.
type Move struct{ To, From, Bytes int64 }

// A PartOwner learns what becomes of a part of shared memory.
type PartOwner interface {
	BeforeChange() // see WatchedBuffer
	Free()         // the tensor in it has other memory now, or is gone
}
