//go:build linux && (amd64 || arm64)

package driver

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"unsafe"

	"github.com/halftone-ml/halftone/cudart/libraries"
)

// A DNN is a cuDNN handle of the context it was made in, and the plans that its heuristics chose. Its methods need that context bound,
// and are safe for concurrent use, but the order of convolutions on its one stream is then whose comes first.
//
// What is known about the calls: descriptors, attributes, types and counts as they are used here, the heuristics' answers and finalized
// plans were checked with NVIDIA's libcudnn 9.28.0 and 9.10.2 (CUDA 12) on a machine without a GPU, for an H100 (TestRealCuDNN; from 9.8
// on the heuristics take the description of a device in place of a handle). There:
//
//   - cudnnCreate gives CUDNN_STATUS_NOT_INITIALIZED, and where there is no libcuda.so.1, finalizing a tensor gives
//     CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED;
//   - 9.10.2 ends the process when its heuristics do not find cuBLASLt, which is why that is loaded first;
//   - half tensors with channels before places get engines on tensor cores that turn them in their workspace, a bias is fused if the sum
//     between the operations is described as float32, and float32 without TF32 gets engines that do not use tensor cores.
//
// Not run anywhere yet: plans that were made with a handle, and cudnnBackendExecute.
type DNN struct {
	path    string
	f       dnnAPI
	more    dnnMore
	d       *cuda
	handle  uintptr
	device  uintptr // descriptor of a device that isn't there, in place of the handle
	version int

	mu    sync.Mutex
	plans map[Convolution]*planned
	pack  packing
}

// planned is a plan, or why there is none.
type planned struct {
	plan *ConvolutionPlan
	err  error
}

// packing is what an execution passes by address.
type packing struct {
	desc      uintptr
	ids       [4]int64
	pointers  [4]uint64
	workspace uint64
}

// NewDNN loads cuDNN, the file path or the first that libraries.Find finds for this driver, and makes a handle. The first in a process
// takes hundreds of milliseconds. Errors wrap ErrUnsupported where there is no cuDNN, and where it does not take this driver or
// device: without a device cudnnCreate gives CUDNN_STATUS_NOT_INITIALIZED (9.28.0).
func NewDNN(d Driver, path string) (*DNN, error) {
	c, err := own(d)
	if err != nil {
		return nil, err
	}
	defer c.uncaptured()()
	n := &DNN{d: c}
	h, err := c.companion("libcudnn", path, &n.path)
	if err != nil {
		return nil, err
	}
	if err := n.open(h); err != nil {
		return nil, err
	}
	o := newFrame()
	defer o.put()
	if err := n.call(&n.f.create, "", o.o(0)); err != nil {
		return nil, err
	}
	n.handle = uintptr(o.out[0])
	return n, nil
}

func (n *DNN) open(library uintptr) error {
	if missing := resolve(library, &n.f); missing != nil {
		return lacks(n.path, missing)
	}
	resolve(library, &n.more)
	n.version = int(n.f.version.invokeWide())
	n.plans = map[Convolution]*planned{}
	if n.more.toolkit.addr == 0 { // the emulator's
		return nil
	}
	return n.beside(int(n.more.toolkit.invokeWide()) / 1000)
}

// beside loads the libraries of the same CUDA that cuDNN opens by name when an engine wants them, from where they were found: cuDNN
// 9.10.2 ends the process if it does not find cuBLASLt. Without NVRTC it only does without the engines that are compiled at run time.
func (n *DNN) beside(cuda int) error {
	for _, name := range []string{"libcublasLt", "libnvrtc"} {
		file := fmt.Sprintf("%s.so.%d", name, cuda)
		folder := map[string]string{"libcublasLt": "cublas", "libnvrtc": "cuda_nvrtc"}[name]
		lib := libraries.Find(name)
		places := []string{filepath.Join(filepath.Dir(n.path), file), filepath.Join(filepath.Dir(n.path), "..", "..", folder, "lib", file)}
		loaded := false
		for _, path := range append(append(places, lib.Path), lib.Also...) {
			if path == "" || libraries.Major(path) != cuda {
				continue
			}
			if _, err := load(path); err == nil {
				loaded = true
				break
			}
		}
		if !loaded && name == "libcublasLt" {
			return fmt.Errorf("%w: %s needs %s, which is not there; pip install nvidia-cublas-cu%d, or name its folder in %s", ErrUnsupported, n.path, file, cuda, libraries.PathEnv)
		}
	}
	return nil
}

// Path returns the library's file.
func (n *DNN) Path() string { return n.path }

// Version returns 10000·major + 100·minor + patch from 9 on, 92800 for 9.28.0, and 1000·major + 100·minor + patch before.
func (n *DNN) Version() int { return n.version }

// SetStream makes later convolutions run on s.
func (n *DNN) SetStream(s Stream) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.call(&n.f.setStream, "", n.handle, uintptr(s))
}

// Plan returns how a convolution is computed: the first engine that cuDNN's heuristics name (mode A, then what they fall back to) which
// keeps what c promises and builds. It is made once; the same error comes each time too. An error wraps ErrUnsupported where no
// engine does; op is the op of the table, for errors.
func (n *DNN) Plan(op string, c Convolution) (*ConvolutionPlan, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.plans[c]
	if p == nil {
		p = &planned{}
		done := n.d.uncaptured()
		p.plan, p.err = n.build(op, &c)
		done()
		n.plans[c] = p
	}
	return p.plan, p.err
}

// Plans calls f for every convolution that Plan was asked for, in no order.
func (n *DNN) Plans(f func(c Convolution, p *ConvolutionPlan, err error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c, p := range n.plans {
		f(c, p.plan, p.err)
	}
}

// Convolve queues a convolution; the tensors are those of its Plan, bias 0 where there is none. The workspace has the bytes that the
// plan wants. Under capture it becomes nodes of the graph.
func (n *DNN) Convolve(op string, p *ConvolutionPlan, x, w, y, bias, workspace DevicePtr) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := &n.pack
	if err := n.call(&n.f.newDesc, op, dnnVariantPack, heap(unsafe.Pointer(&k.desc))); err != nil {
		return err
	}
	defer func() { n.f.dropDesc.invoke(k.desc) }()
	count := uintptr(3)
	k.pointers = [4]uint64{uint64(x), uint64(w), uint64(y), uint64(bias)}
	k.ids, k.workspace = [4]int64{tensorX, tensorW, tensorY, tensorBias}, uint64(workspace)
	if bias != 0 {
		count = 4
	}
	for _, a := range [...]struct {
		attribute, kind, count uintptr
		at                     unsafe.Pointer
	}{{attrPackIDs, typeInt64, count, unsafe.Pointer(&k.ids)}, {attrPackPointers, typeVoidPtr, count, unsafe.Pointer(&k.pointers)},
		{attrPackWorkspace, typeVoidPtr, 1, unsafe.Pointer(&k.workspace)}} {
		if err := n.call(&n.f.set, op, k.desc, a.attribute, a.kind, a.count, heap(a.at)); err != nil {
			return err
		}
	}
	if err := n.call(&n.f.finalize, op, k.desc); err != nil {
		return err
	}
	n.d.launches.Add(op, 0)
	return n.call(&n.f.execute, op, n.handle, p.plan, k.desc)
}

func (n *DNN) destroy(descriptors []uintptr) {
	for i := len(descriptors) - 1; i >= 0; i-- {
		n.f.dropDesc.invoke(descriptors[i])
	}
}

// Close destroys the plans and the handle.
func (n *DNN) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c, p := range n.plans {
		if p.plan != nil {
			n.destroy(append(p.plan.keeps, p.plan.plan))
		}
		delete(n.plans, c)
	}
	if n.handle == 0 {
		return nil
	}
	return n.call(&n.f.destroy, "", n.handle)
}

// unsupported is the error of a convolution that no engine computes.
func (n *DNN) unsupported(c *Convolution, why string) error {
	return fmt.Errorf("%w: cuDNN %d does not compute %v: %s", ErrUnsupported, n.version, c, why)
}

// isUnsupported says whether another engine may do what this one can't.
func isUnsupported(err error) bool {
	var e *Error
	return errors.Is(err, ErrUnsupported) || errors.As(err, &e)
}
