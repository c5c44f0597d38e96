package session

import "github.com/halftone-ml/halftone/amp"

// DeviceMemory is what a device has to offer so that a session can keep its tensors where they are, in place of copies on the host.
// Nothing in Halftone implements it yet. It is the contract between three parts: the process that owns the memory (the kernel's, which must open the
// device), the store, which writes the handle of each allocation where it writes the place of host memory now (store.Extent) and the
// device's name (store.Tensor.Device), and the cells' processes.
//
// For CUDA, Create is cuMemCreate with a POSIX file descriptor as its exportable handle, and Open is cuMemImportFromShareableHandle,
// cuMemAddressReserve, cuMemMap and cuMemSetAccess; the descriptors cross a socket in the kernel's private folder. The memory then lives
// as long as the kernel, whatever becomes of cells. A tensor has two places as on the host, and Copy, queued on the stream on which
// the next step computes, is what BeforeChange waits for before the first change after an anchor.
type DeviceMemory interface {
	// Create allocates memory in the process that owns it and returns what Open needs in another.
	Create(device string, bytes int64) (handle []byte, err error)
	// Open maps the memory of a handle; the buffer's Free unmaps it there.
	Open(device string, handle []byte) (amp.Buffer, error)
	// Copy copies one such buffer to another of the same length, and returns when the copy is made.
	Copy(to, from amp.Buffer) error
	// Destroy frees what Create allocated, once no process maps it.
	Destroy(device string, handle []byte) error
}

// The host's memory is watched, as memory of devices will be.
var _ amp.WatchedBuffer = (*smallBuffer)(nil)
