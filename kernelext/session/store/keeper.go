package store

import "os"

// DevicesEnv is the environment variable that names the socket of the kernel which keeps memory of devices (package vault).
const DevicesEnv = "HALFTONE_SESSION_DEVICES"

// A Keeper holds memory of devices open for as long as the session lives: it is the kernel, which needs no device for that.
type Keeper interface {
	// Put hands memory over under a name. The files stay the caller's.
	Put(handle uint64, files []*os.File) error
	// Get returns new descriptors of what was put, which the caller closes.
	Get(handle uint64) ([]*os.File, error)
	// Keep gives up all but these. Only who has the session may call it.
	Keep(handles []uint64) error
}
