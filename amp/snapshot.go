package amp

import "time"

// What a session keeps of a step that a device has not finished: copies that the device makes once it has.

// A Snapshotter is a Sharer that makes copies in the order of its work.
type Snapshotter interface {
	Sharer
	// Snapshot queues copies within shared memory of the device, and of small tensors of it to the host, behind all that was queued before
	// and ahead of what is queued later. It waits for nothing.
	Snapshot(copies []SharedMoves, read []*Tensor) (Snapshot, error)
}

// SharedMoves are copies within one Shared, between ranges that do not overlap.
type SharedMoves struct {
	Of    Shared
	Moves []Move
}

// A Snapshot is what Snapshot has queued.
type Snapshot interface {
	// Done says without waiting whether the copies are made. The error is the first of what was queued up to them; whatever was copied
	// is then worth nothing.
	Done() (bool, error)
	// Wait waits until they are made, or can't be.
	Wait() error
	// Elements returns those of the tensors that were read, in their order, row-major. It is there once Done or Wait has said that the
	// copies are made, and until Drop.
	Elements() [][]byte
	// Took returns the device's time for the copies, then.
	Took() time.Duration
	// Drop gives the snapshot up, once the copies are made or can't be.
	Drop()
}
