//go:build linux && (amd64 || arm64)

package driver

import (
	"fmt"
	"math"
	"sync"

	"github.com/halftone-ml/halftone/cudart/libraries"
)

type blasAPI struct {
	create       symbol `c:"cublasCreate_v2"`
	destroy      symbol `c:"cublasDestroy_v2"`
	version      symbol `c:"cublasGetVersion_v2"`
	setStream    symbol `c:"cublasSetStream_v2"`
	setWorkspace symbol `c:"cublasSetWorkspace_v2"`
	setMath      symbol `c:"cublasSetMathMode"`
	gemm         symbol `c:"cublasGemmEx"`
	gemmBatched  symbol `c:"cublasGemmStridedBatchedEx"`
}

// A BLAS is a cuBLAS handle of the context it was made in. Its methods need that context bound, and are safe for concurrent use,
// but the order of products on its one stream is then whose comes first.
type BLAS struct {
	path    string
	f       blasAPI
	handle  uintptr
	d       *cuda
	mu      sync.Mutex
	version int
}

// NewBLAS loads cuBLAS, the file path or the first that libraries.Find finds for this driver, and makes a handle. The first in a process
// takes hundreds of milliseconds. Errors wrap ErrUnsupported where there is no cuBLAS.
func NewBLAS(d Driver, path string) (*BLAS, error) {
	c, err := own(d)
	if err != nil {
		return nil, err
	}
	defer c.uncaptured()()
	b := &BLAS{d: c}
	h, err := c.companion("libcublas", path, &b.path)
	if err != nil {
		return nil, err
	}
	if missing := resolve(h, &b.f); missing != nil {
		return nil, lacks(b.path, missing)
	}
	o := newFrame()
	defer o.put()
	if err := b.call(&b.f.create, "", o.o(0)); err != nil {
		return nil, err
	}
	b.handle = uintptr(o.out[0])
	err = b.call(&b.f.version, "", b.handle, o.o(1))
	b.version = int(int32(o.out[1]))
	if err == nil {
		err = b.SetReducedReduction(false) // a new handle allows it
	}
	if err != nil {
		_ = b.Close()
		return nil, err
	}
	return b, nil
}

// own returns the default driver behind d: libraries must share its context.
func own(d Driver) (*cuda, error) {
	if c, ok := d.(*cuda); ok {
		return c, nil
	}
	return nil, fmt.Errorf("%w: NVIDIA's libraries are driven together with the default driver only, not with %T", ErrUnsupported, d)
}

// companion loads one of NVIDIA's libraries, the file path or, for "", what is found. cuBLAS's other half is loaded first, from the
// same folder, so that the loader need not find it.
func (d *cuda) companion(name, path string, opened *string) (uintptr, error) {
	if path == "" {
		v, err := d.Version()
		if err != nil {
			return 0, err
		}
		lib := libraries.Find(name).For(v)
		if lib.Path == "" {
			return 0, lib.Missing()
		}
		path = lib.Path
		if name == "libcublas" {
			if lt := libraries.Find("libcublasLt").For(v); lt.Path != "" && libraries.Major(lt.Path) == libraries.Major(path) {
				if _, err := load(lt.Path); err != nil {
					return 0, err
				}
			}
		}
	}
	*opened = path
	return load(path)
}

// Path returns the library's file.
func (b *BLAS) Path() string { return b.path }

// Version returns 10000·major + 100·minor + patch: 130000 and more for CUDA 13, 120300 for 12.3.
func (b *BLAS) Version() int { return b.version }

// Close destroys the handle.
func (b *BLAS) Close() error { return b.call(&b.f.destroy, "", b.handle) }

// SetStream makes later products run on s, with n bytes at workspace, a multiple of 256, to work in: 32 MB on Hopper, 4 MB before. They must stay
// until the products are done. Without a workspace cuBLAS allocates its own, and products can't be captured.
func (b *BLAS) SetStream(s Stream, workspace DevicePtr, n uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	// In this order: setting the stream drops the workspace.
	if err := b.call(&b.f.setStream, "", b.handle, uintptr(s)); err != nil || workspace == 0 {
		return err
	}
	return b.call(&b.f.setWorkspace, "", b.handle, uintptr(workspace), uintptr(n))
}

// SetReducedReduction allows cuBLAS to add partial sums of 16-bit products in 16 bits where it splits K. It is off in a new BLAS.
func (b *BLAS) SetReducedReduction(on bool) error {
	const disallow = 16
	b.mu.Lock()
	defer b.mu.Unlock()
	if on {
		return b.call(&b.f.setMath, "", b.handle, 0)
	}
	return b.call(&b.f.setMath, "", b.handle, disallow)
}

// Compute types of cublasComputeType_t.
const (
	compute32     = 68
	compute32TF32 = 77
	compute64     = 70
)

func (g *Gemm) compute() uintptr {
	switch {
	case g.TypeAB == Float64:
		return compute64
	case g.TypeAB == Float32 && g.TF32:
		return compute32TF32
	}
	return compute32
}

// scale writes alpha or beta as the compute type wants it.
func (g *Gemm) scale(v float64) uint64 {
	if g.TypeAB == Float64 {
		return math.Float64bits(v)
	}
	return uint64(math.Float32bits(float32(v)))
}

func (g *Gemm) check() error {
	if g.M <= 0 || g.N <= 0 || g.K <= 0 || g.Batch < 0 {
		return fmt.Errorf("driver: %s: a product of %d×%d by %d×%d, %d times, can't be computed; all must be positive", g.Op, g.M, g.K, g.K, g.N, g.Batch)
	}
	if g.M > math.MaxInt32 || g.N > math.MaxInt32 || g.K > math.MaxInt32 {
		return fmt.Errorf("driver: %s: cuBLAS takes no dimension over %d, and this is %d×%d×%d", g.Op, math.MaxInt32, g.M, g.N, g.K)
	}
	return nil
}

// Gemm queues a product.
func (b *BLAS) Gemm(g *Gemm) error {
	if err := g.check(); err != nil {
		return err
	}
	o := newFrame()
	defer o.put()
	o.out[0], o.out[1] = g.scale(g.Alpha), g.scale(g.Beta)
	const defaultAlgo = ^uintptr(0)
	// cuBLAS is column-major: what is stored is the transpose there, and Cᵀ = op(B)ᵀ·op(A)ᵀ.
	ta, tb := uintptr(flag(g.TransB)), uintptr(flag(g.TransA))
	ab, c := uintptr(g.TypeAB), uintptr(g.TypeC)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.d.launches.Add(g.Op, 0)
	if g.Batch > 1 {
		return b.call(&b.f.gemmBatched, g.Op, b.handle, ta, tb, uintptr(g.N), uintptr(g.M), uintptr(g.K), o.o(0),
			uintptr(g.B), ab, uintptr(g.LDB), uintptr(g.StrideB), uintptr(g.A), ab, uintptr(g.LDA), uintptr(g.StrideA), o.o(1),
			uintptr(g.C), c, uintptr(g.LDC), uintptr(g.StrideC), uintptr(g.Batch), g.compute(), defaultAlgo)
	}
	return b.call(&b.f.gemm, g.Op, b.handle, ta, tb, uintptr(g.N), uintptr(g.M), uintptr(g.K), o.o(0),
		uintptr(g.B), ab, uintptr(g.LDB), uintptr(g.A), ab, uintptr(g.LDA), o.o(1), uintptr(g.C), c, uintptr(g.LDC), g.compute(), defaultAlgo)
}

func (b *BLAS) call(s *symbol, op string, args ...uintptr) error {
	if r := s.invoke(args...); r != 0 {
		return blasError(b.d, s.name, r, op)
	}
	return nil
}

var blasStatus = map[int32]struct {
	name, text string
	kind       error
}{
	1:  {"CUBLAS_STATUS_NOT_INITIALIZED", "the handle was not made, or the driver is older than the library needs", nil},
	3:  {"CUBLAS_STATUS_ALLOC_FAILED", "cuBLAS could not allocate", ErrMemory},
	7:  {"CUBLAS_STATUS_INVALID_VALUE", "a dimension, a distance between rows or a type is not possible", nil},
	8:  {"CUBLAS_STATUS_ARCH_MISMATCH", "the device can't do it", ErrUnsupported},
	11: {"CUBLAS_STATUS_MAPPING_ERROR", "memory could not be reached", nil},
	13: {"CUBLAS_STATUS_EXECUTION_FAILED", "a kernel could not be launched; an earlier one may have failed", nil},
	14: {"CUBLAS_STATUS_INTERNAL_ERROR", "cuBLAS failed inside; an earlier kernel may have", nil},
	15: {"CUBLAS_STATUS_NOT_SUPPORTED", "cuBLAS has no such product; addresses and rows must be multiples of 4 bytes at least", ErrUnsupported},
	16: {"CUBLAS_STATUS_LICENSE_ERROR", "no license", nil},
}

func blasError(d *cuda, call string, code int32, op string) *Error {
	e := &Error{Code: int(code), Name: fmt.Sprintf("cublasStatus %d", code), Call: call, Op: op}
	if s, ok := blasStatus[code]; ok {
		e.Name, e.Text, e.Kind = s.name, s.text, s.kind
	}
	if code == 13 || code == 14 {
		e.Last = d.launches.List()
	}
	return e
}
