package amp

import (
	"sync"
	"sync/atomic"
)

// A storage is a buffer shared by a tensor and its views. Its version counts in-place changes.
type storage struct {
	dev     Device
	buf     Buffer
	mem     []byte
	dt      DType
	bytes   int64
	refs    atomic.Int32
	version atomic.Uint32
	watch   WatchedBuffer // buf, if it is one
	graph   *Graph        // the captured step that it was made in, if any
	pinned  bool          // a Graph refers to it: never used again
}

// spareStorages are storages without tensors, for the next tensors: each op makes one.
var spareStorages = sync.Pool{New: func() any { return new(storage) }}

// newStorage returns a storage with one reference.
func newStorage(dev Device, buf Buffer, mem []byte, dt DType, bytes int64) *storage {
	st := spareStorages.Get().(*storage)
	st.dev, st.buf, st.mem, st.dt, st.bytes, st.graph = dev, buf, mem, dt, bytes, recordingOn(dev)
	if st.version.Load() != 0 { // an atomic store costs more than the rest of this
		st.version.Store(0)
	}
	if st.refs.Load() != 1 {
		st.refs.Store(1)
	}
	return st
}

// unref gives one reference back, and with the last one the memory. The only holder has nobody to agree with: the count stays at 1, as the
// next tensor needs it.
func (st *storage) unref() {
	if st.refs.Load() != 1 && st.refs.Add(-1) != 0 {
		return
	}
	ledgerOf(st.dev).remove(st.dt, st.bytes)
	st.buf.Free()
	if st.pinned {
		st.refs.Store(0) // which its graph looks for
		return
	}
	st.dev, st.buf, st.mem, st.watch = nil, nil, nil, nil
	spareStorages.Put(st)
}

// giveUp returns the memory of a tensor that is being made if its values could not be written, whole not being set.
func (t *Tensor) giveUp(whole *bool) {
	if !*whole {
		t.release()
	}
}
