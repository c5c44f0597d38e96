//go:build linux && (amd64 || arm64)

package driver

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// cuDNN's backend: everything is a descriptor with attributes, which is finalized before others refer to it. The numbers are those of
// cudnn_graph.h; they are the same in cuDNN 8 and 9.

type dnnAPI struct {
	create      symbol `c:"cudnnCreate"`
	destroy     symbol `c:"cudnnDestroy"`
	version     symbol `c:"cudnnGetVersion"`
	errorString symbol `c:"cudnnGetErrorString"`
	setStream   symbol `c:"cudnnSetStream"`
	newDesc     symbol `c:"cudnnBackendCreateDescriptor"`
	dropDesc    symbol `c:"cudnnBackendDestroyDescriptor"`
	set         symbol `c:"cudnnBackendSetAttribute"`
	get         symbol `c:"cudnnBackendGetAttribute"`
	finalize    symbol `c:"cudnnBackendFinalize"`
	execute     symbol `c:"cudnnBackendExecute"`
}

// dnnMore are functions that older versions lack.
type dnnMore struct {
	lastError symbol `c:"cudnnGetLastErrorString"`
	toolkit   symbol `c:"cudnnGetCudartVersion"`
}

// Kinds of descriptors: cudnnBackendDescriptorType_t.
const (
	dnnPointwise     = 0
	dnnConvolution   = 1
	dnnEngine        = 2
	dnnEngineConfig  = 3
	dnnHeuristics    = 4
	dnnPlan          = 5
	dnnForwardOp     = 10
	dnnFilterOp      = 11
	dnnDataOp        = 12
	dnnPointwiseOp   = 13
	dnnGraph         = 15
	dnnVariantPack   = 16
	dnnTensor        = 17
	dnnDeviceProps   = 38
	dnnModeA         = 3 // of heuristics: cudnnBackendHeurMode_t
	dnnModeFallback  = 2
	dnnCorrelation   = 1 // cudnnConvolutionMode_t
	dnnPointwiseAdd  = 0 // cudnnPointwiseMode_t
	dnnMaximumNotes  = 16
	dnnMaximumConfig = 256
)

// Attributes: cudnnBackendAttributeName_t.
const (
	attrPointwiseMode   = 0
	attrPointwiseMath   = 1
	attrConvCompute     = 100
	attrConvMode        = 101
	attrConvDilations   = 102
	attrConvStrides     = 103
	attrConvAfter       = 104
	attrConvBefore      = 105
	attrConvRank        = 106
	attrHeurMode        = 200
	attrHeurGraph       = 201
	attrHeurResults     = 202
	attrHeurDevice      = 204
	attrConfigEngine    = 300
	attrPlanHandle      = 400
	attrPlanConfig      = 401
	attrPlanWorkspace   = 402
	attrPlanDevice      = 407
	attrOpForward       = 700 // the first of alpha, beta, convolution, W, X and Y, in this order for each kind
	attrOpData          = 706
	attrOpFilter        = 712
	attrPointwiseOpDesc = 750
	attrPointwiseOpX    = 751
	attrPointwiseOpB    = 752
	attrPointwiseOpY    = 753
	attrGraphHandle     = 800
	attrGraphOps        = 801
	attrTensorAlign     = 900
	attrTensorType      = 901
	attrTensorDims      = 902
	attrTensorStrides   = 903
	attrTensorID        = 906
	attrTensorVirtual   = 907
	attrPackIDs         = 1000
	attrPackPointers    = 1001
	attrPackWorkspace   = 1003
	attrEngineIndex     = 1301
	attrEngineNotes     = 1303
	attrDeviceJSON      = 2702
)

// Types of attributes: cudnnBackendAttributeType_t.
const (
	typeHandle        = 0
	typeDataType      = 1
	typeBoolean       = 2
	typeInt64         = 3
	typeFloat         = 4
	typeVoidPtr       = 6
	typeConvMode      = 7
	typeHeurMode      = 8
	typeNote          = 11
	typePointwiseMode = 14
	typeDescriptor    = 15
	typeChar          = 24
)

// dnnTypes are cudnnDataType_t.
var dnnTypes = map[DataType]int32{Float32: 0, Float64: 1, Float16: 2, BFloat16: 9}

// A describer makes descriptors until the first error, which stays.
type describer struct {
	n    *DNN
	op   string
	err  error
	made []uintptr
}

// descriptor returns a new descriptor, 0 after an error.
func (d *describer) descriptor(kind uintptr) uintptr {
	if d.err != nil {
		return 0
	}
	o := newFrame()
	defer o.put()
	d.err = d.n.call(&d.n.f.newDesc, d.op, kind, o.o(0))
	if d.err != nil {
		return 0
	}
	d.made = append(d.made, uintptr(o.out[0]))
	return uintptr(o.out[0])
}

// set gives a descriptor n elements of an attribute, which lie at p in the heap.
func (d *describer) set(desc, attribute, kind uintptr, n int, p unsafe.Pointer) {
	if d.err == nil {
		d.err = d.n.call(&d.n.f.set, d.op, desc, attribute, kind, uintptr(n), heap(p))
		runtime.KeepAlive(p)
	}
}

// setInts, setInt32, setBool, setFloat and setDescriptors give an attribute of those types.
func (d *describer) setInts(desc, attribute uintptr, v ...int64) {
	d.set(desc, attribute, typeInt64, len(v), unsafe.Pointer(unsafe.SliceData(v)))
}

func (d *describer) setInt32(desc, attribute, kind uintptr, v int32) {
	p := new(int32)
	*p = v
	d.set(desc, attribute, kind, 1, unsafe.Pointer(p))
}

func (d *describer) setBool(desc, attribute uintptr, v bool) {
	p := new(bool)
	*p = v
	d.set(desc, attribute, typeBoolean, 1, unsafe.Pointer(p))
}

func (d *describer) setFloat(desc, attribute uintptr, v float32) {
	p := new(float32)
	*p = v
	d.set(desc, attribute, typeFloat, 1, unsafe.Pointer(p))
}

func (d *describer) setDescriptors(desc, attribute uintptr, v ...uintptr) {
	d.set(desc, attribute, typeDescriptor, len(v), unsafe.Pointer(unsafe.SliceData(v)))
}

func (d *describer) setHandle(desc, attribute uintptr) {
	if d.n.handle == 0 {
		return
	}
	p := new(uintptr)
	*p = d.n.handle
	d.set(desc, attribute, typeHandle, 1, unsafe.Pointer(p))
}

func (d *describer) finalize(desc uintptr) {
	if d.err == nil {
		d.err = d.n.call(&d.n.f.finalize, d.op, desc)
	}
}

// get reads at most n elements of an attribute to p, in the heap, and returns how many there are.
func (d *describer) get(desc, attribute, kind uintptr, n int, p unsafe.Pointer) int {
	if d.err != nil {
		return 0
	}
	o := newFrame()
	defer o.put()
	d.err = d.n.call(&d.n.f.get, d.op, desc, attribute, kind, uintptr(n), o.o(0), heap(p))
	runtime.KeepAlive(p)
	return int(int64(o.out[0]))
}

// drop destroys the descriptors that were made.
func (d *describer) drop() {
	d.n.destroy(d.made)
	d.made = nil
}

// call calls a function of cuDNN; its statuses have other numbers in other versions, so they are told apart by their names.
func (n *DNN) call(s *symbol, op string, args ...uintptr) error {
	r := s.invoke(args...)
	if r == 0 {
		return nil
	}
	e := &Error{Code: int(r), Name: n.text(&n.f.errorString, uintptr(r)), Call: s.name, Op: op}
	if n.more.lastError.addr != 0 {
		b := make([]byte, 1024)
		n.more.lastError.invoke(address(b), uintptr(len(b)))
		runtime.KeepAlive(b)
		e.Text, _, _ = strings.Cut(string(b), "\x00")
	}
	switch {
	case strings.Contains(e.Name, "NOT_SUPPORTED"), strings.Contains(e.Name, "ARCH_MISMATCH"), strings.Contains(e.Name, "PREREQUISITE"), strings.Contains(e.Name, "LIBRARY_LOADING"),
		strings.Contains(e.Name, "VERSION_MISMATCH"), strings.Contains(e.Name, "NOT_INITIALIZED"):
		e.Kind = ErrUnsupported
	case strings.Contains(e.Name, "ALLOC"):
		e.Kind = ErrMemory
	case strings.Contains(e.Name, "EXECUTION_FAILED"), strings.Contains(e.Name, "INTERNAL_ERROR"):
		e.Last = n.d.last()
	}
	return e
}

// last returns the last launches, nil where there is no driver.
func (d *cuda) last() []string {
	if d == nil {
		return nil
	}
	return d.launches.List()
}

// text calls a function that returns a string.
func (n *DNN) text(s *symbol, code uintptr) string {
	if t := goString(s.invokeWide(code)); t != "" {
		return t
	}
	return fmt.Sprintf("cudnnStatus %d", int32(code))
}
