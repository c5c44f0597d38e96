//go:build !linux || !(amd64 || arm64)

package driver

// NVRTC is NVIDIA's compiler as a library; OpenNVRTC never returns one here.
type NVRTC struct{}

// OpenNVRTC returns an error wrapping ErrNoCUDA: there is no driver for this system.
func OpenNVRTC(string) (*NVRTC, error) { return nil, elsewhere() }

// Compile returns the error of OpenNVRTC.
func (n *NVRTC) Compile(Source, *Cache) (Code, error) { return Code{}, elsewhere() }
