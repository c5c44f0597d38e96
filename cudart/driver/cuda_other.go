//go:build !linux || !(amd64 || arm64)

package driver

import (
	"fmt"
	"runtime"
)

// elsewhere is the error of every attempt to use CUDA here.
func elsewhere() error {
	return fmt.Errorf("%w: CUDA is driven on Linux, on amd64 and arm64, and this is %s/%s; on Windows use WSL2", ErrNoCUDA, runtime.GOOS, runtime.GOARCH)
}

// Open returns an error wrapping ErrNoCUDA: there is no driver for this system.
func Open(string) (Driver, error) { return nil, elsewhere() }

// Absent returns nothing.
func Absent(Driver) []string { return nil }

// A BLAS does not exist on this system; what its methods are for is documented on Linux.
type BLAS struct{}

// NewBLAS returns an error wrapping ErrNoCUDA.
func NewBLAS(Driver, string) (*BLAS, error) { return nil, elsewhere() }

func (*BLAS) Path() string                              { return "" }
func (*BLAS) Version() int                              { return 0 }
func (*BLAS) Close() error                              { return elsewhere() }
func (*BLAS) SetStream(Stream, DevicePtr, uint64) error { return elsewhere() }
func (*BLAS) SetReducedReduction(bool) error            { return elsewhere() }
func (*BLAS) Gemm(*Gemm) error                          { return elsewhere() }

// A BLASLt does not exist on this system.
type BLASLt struct{}

// NewBLASLt returns an error wrapping ErrNoCUDA.
func NewBLASLt(Driver, string, DevicePtr, uint64) (*BLASLt, error) { return nil, elsewhere() }

func (*BLASLt) Path() string                { return "" }
func (*BLASLt) Version() int                { return 0 }
func (*BLASLt) Close() error                { return elsewhere() }
func (*BLASLt) Matmul(*Fused, Stream) error { return elsewhere() }

// An NVRTC does not exist on this system.
type NVRTC struct{}

// OpenNVRTC returns an error wrapping ErrNoCUDA.
func OpenNVRTC(string) (*NVRTC, error) { return nil, elsewhere() }

func (*NVRTC) Path() string                         { return "" }
func (*NVRTC) Version() string                      { return "" }
func (*NVRTC) Archs() []int                         { return nil }
func (*NVRTC) Compile(Source, *Cache) (Code, error) { return Code{}, elsewhere() }
