//go:build linux && (amd64 || arm64)

package driver

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/halftone-ml/halftone/cudart/libraries"
)

// api are libcuda's functions: the oldest version of each that has what is needed, which every later driver keeps.
type api struct {
	init             symbol `c:"cuInit"`
	version          symbol `c:"cuDriverGetVersion"`
	errorName        symbol `c:"cuGetErrorName"`
	errorString      symbol `c:"cuGetErrorString"`
	deviceCount      symbol `c:"cuDeviceGetCount"`
	device           symbol `c:"cuDeviceGet"`
	deviceName       symbol `c:"cuDeviceGetName"`
	deviceUUID       symbol `c:"cuDeviceGetUuid"`
	deviceMem        symbol `c:"cuDeviceTotalMem_v2"`
	attribute        symbol `c:"cuDeviceGetAttribute"`
	ctxRetain        symbol `c:"cuDevicePrimaryCtxRetain"`
	ctxRelease       symbol `c:"cuDevicePrimaryCtxRelease_v2"`
	ctxSet           symbol `c:"cuCtxSetCurrent"`
	ctxSync          symbol `c:"cuCtxSynchronize"`
	memInfo          symbol `c:"cuMemGetInfo_v2"`
	memAlloc         symbol `c:"cuMemAlloc_v2"`
	memFree          symbol `c:"cuMemFree_v2"`
	memAllocAsync    symbol `c:"cuMemAllocAsync"`
	memFreeAsync     symbol `c:"cuMemFreeAsync"`
	poolAlloc        symbol `c:"cuMemAllocFromPoolAsync"`
	poolDefault      symbol `c:"cuDeviceGetDefaultMemPool"`
	poolCreate       symbol `c:"cuMemPoolCreate"`
	poolDestroy      symbol `c:"cuMemPoolDestroy"`
	poolSet          symbol `c:"cuMemPoolSetAttribute"`
	poolGet          symbol `c:"cuMemPoolGetAttribute"`
	poolTrim         symbol `c:"cuMemPoolTrimTo"`
	hostAlloc        symbol `c:"cuMemHostAlloc"`
	hostFree         symbol `c:"cuMemFreeHost"`
	copyHtoD         symbol `c:"cuMemcpyHtoD_v2"`
	copyDtoH         symbol `c:"cuMemcpyDtoH_v2"`
	copyHtoDAsync    symbol `c:"cuMemcpyHtoDAsync_v2"`
	copyDtoHAsync    symbol `c:"cuMemcpyDtoHAsync_v2"`
	copyDtoDAsync    symbol `c:"cuMemcpyDtoDAsync_v2"`
	set8             symbol `c:"cuMemsetD8Async"`
	set16            symbol `c:"cuMemsetD16Async"`
	set32            symbol `c:"cuMemsetD32Async"`
	streamCreate     symbol `c:"cuStreamCreate"`
	streamDestroy    symbol `c:"cuStreamDestroy_v2"`
	streamSync       symbol `c:"cuStreamSynchronize"`
	streamQuery      symbol `c:"cuStreamQuery"`
	streamWait       symbol `c:"cuStreamWaitEvent"`
	eventCreate      symbol `c:"cuEventCreate"`
	eventDestroy     symbol `c:"cuEventDestroy_v2"`
	eventRecord      symbol `c:"cuEventRecord"`
	eventSync        symbol `c:"cuEventSynchronize"`
	eventQuery       symbol `c:"cuEventQuery"`
	eventElapsed     symbol `c:"cuEventElapsedTime"`
	moduleLoad       symbol `c:"cuModuleLoadDataEx"`
	moduleUnload     symbol `c:"cuModuleUnload"`
	moduleFunction   symbol `c:"cuModuleGetFunction"`
	moduleGlobal     symbol `c:"cuModuleGetGlobal_v2"`
	funcGet          symbol `c:"cuFuncGetAttribute"`
	funcSet          symbol `c:"cuFuncSetAttribute"`
	funcParam        symbol `c:"cuFuncGetParamInfo"`
	occupancy        symbol `c:"cuOccupancyMaxActiveBlocksPerMultiprocessor"`
	launch           symbol `c:"cuLaunchKernel"`
	captureBegin     symbol `c:"cuStreamBeginCapture_v2"`
	captureEnd       symbol `c:"cuStreamEndCapture"`
	captureStatus    symbol `c:"cuStreamIsCapturing"`
	captureMode      symbol `c:"cuThreadExchangeStreamCaptureMode"`
	graphNodes       symbol `c:"cuGraphGetNodes"`
	graphInstantiate symbol `c:"cuGraphInstantiateWithFlags"`
	graphLaunch      symbol `c:"cuGraphLaunch"`
	graphDestroy     symbol `c:"cuGraphDestroy"`
	graphExecDestroy symbol `c:"cuGraphExecDestroy"`
	granularity      symbol `c:"cuMemGetAllocationGranularity"`
	vmmCreate        symbol `c:"cuMemCreate"`
	vmmRelease       symbol `c:"cuMemRelease"`
	vmmReserve       symbol `c:"cuMemAddressReserve"`
	vmmFree          symbol `c:"cuMemAddressFree"`
	vmmMap           symbol `c:"cuMemMap"`
	vmmUnmap         symbol `c:"cuMemUnmap"`
	vmmAccess        symbol `c:"cuMemSetAccess"`
	vmmExport        symbol `c:"cuMemExportToShareableHandle"`
	vmmImport        symbol `c:"cuMemImportFromShareableHandle"`
	ipcGet           symbol `c:"cuIpcGetMemHandle"`
	ipcOpen          symbol `c:"cuIpcOpenMemHandle_v2"`
	ipcClose         symbol `c:"cuIpcCloseMemHandle"`
}

// Functions of drivers newer than what this package needs at least; without one its method is ErrUnsupported.
var optional = []string{
	"cuDeviceGetUuid", "cuMemAllocAsync", "cuMemFreeAsync", "cuMemAllocFromPoolAsync", "cuDeviceGetDefaultMemPool",
	"cuMemPoolCreate", "cuMemPoolDestroy", "cuMemPoolSetAttribute", "cuMemPoolGetAttribute", "cuMemPoolTrimTo",
	"cuModuleGetGlobal_v2", "cuFuncGetAttribute", "cuFuncSetAttribute", "cuFuncGetParamInfo", "cuOccupancyMaxActiveBlocksPerMultiprocessor",
	"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuStreamIsCapturing", "cuThreadExchangeStreamCaptureMode", "cuGraphGetNodes",
	"cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuGraphDestroy", "cuGraphExecDestroy",
	"cuMemGetAllocationGranularity", "cuMemCreate", "cuMemRelease", "cuMemAddressReserve", "cuMemAddressFree", "cuMemMap", "cuMemUnmap",
	"cuMemSetAccess", "cuMemExportToShareableHandle", "cuMemImportFromShareableHandle",
	"cuIpcGetMemHandle", "cuIpcOpenMemHandle_v2", "cuIpcCloseMemHandle",
}

// cuda is the default Driver.
type cuda struct {
	path     string
	f        api
	absent   []string
	launches History
	hosts    ranges
	captures captures
}

var (
	loadedMu sync.Mutex
	loaded   = map[string]*cuda{}
)

// Open loads the driver's library, the file path or, for "", the first that libraries.Find finds, and initializes it. A path is
// opened once: later calls return the same Driver. Errors wrap ErrNoCUDA and say what was tried and what to do.
func Open(path string) (Driver, error) {
	if path != "" {
		return open(path)
	}
	lib := libraries.Find("libcuda")
	if lib.Path == "" {
		return nil, lib.Missing()
	}
	d, err := open(lib.Path)
	for _, path := range lib.Also {
		if !errors.Is(err, errLoad) { // once a library is loaded, it is the libcuda of NVIDIA's other libraries too
			break
		}
		if other, e := open(path); e == nil || !errors.Is(e, errLoad) {
			d, err = other, e
		}
	}
	return d, err
}

func open(path string) (Driver, error) {
	loadedMu.Lock()
	defer loadedMu.Unlock()
	if d := loaded[path]; d != nil {
		return d, nil
	}
	h, err := load(path)
	if err != nil {
		return nil, err
	}
	d := &cuda{path: path}
	d.absent = resolve(h, &d.f)
	if gone := slices.DeleteFunc(slices.Clone(d.absent), func(s string) bool { return slices.Contains(optional, s) }); len(gone) > 0 {
		return nil, lacks(path, gone)
	}
	if r := d.f.init.invoke(0); r != 0 {
		err := d.failure(d.f.init.name, r, "")
		return nil, fmt.Errorf("%w: %s: %w%s", ErrNoCUDA, path, err, initAdvice(r))
	}
	loaded[path] = d
	return d, nil
}

// Absent returns the optional functions of the driver API that d's library lacks.
func Absent(d Driver) []string {
	if c, ok := d.(*cuda); ok {
		return slices.Clone(c.absent)
	}
	return nil
}

// initAdvice says what to do about cuInit's usual failures.
func initAdvice(code int32) string {
	switch code {
	case codeStub:
		return "; this is the toolkit's stub for linking: name the folder of the driver's own libcuda.so.1 in " + libraries.PathEnv
	case codeNoDevice:
		return "; the driver sees no GPU: look at nvidia-smi, CUDA_VISIBLE_DEVICES, and whether a container was given one (--gpus all)"
	case codeMismatch, codeCompat:
		return "; the kernel's driver is of another version than this library: restart the machine, or do not name a compat folder"
	}
	return ""
}

func (d *cuda) Path() string { return d.path }

func (d *cuda) Version() (int, error) {
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.version, "", o.o(0))
	return int(int32(o.out[0])), err
}

func (d *cuda) DeviceCount() (int, error) {
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.deviceCount, "", o.o(0))
	return int(int32(o.out[0])), err
}

func (d *cuda) Device(index int) (Device, error) {
	o := newFrame()
	defer o.put()
	if err := d.call(&d.f.device, fmt.Sprintf("device %d", index), o.o(0), uintptr(index)); err != nil {
		return 0, err
	}
	return Device(int32(o.out[0])), nil
}

func (d *cuda) Attribute(dev Device, a Attribute) (int, error) {
	o := newFrame()
	defer o.put()
	if err := d.call(&d.f.attribute, "", o.o(0), uintptr(a), uintptr(dev)); err != nil {
		return 0, err
	}
	return int(int32(o.out[0])), nil
}

func (d *cuda) Properties(dev Device) (Properties, error) {
	var p Properties
	name := make([]byte, 256)
	if err := d.call(&d.f.deviceName, "", address(name), uintptr(len(name)), uintptr(dev)); err != nil {
		return p, err
	}
	p.Name = string(name[:max(0, slices.Index(name, 0))])
	runtime.KeepAlive(name)
	o := newFrame()
	defer o.put()
	if err := d.call(&d.f.deviceMem, "", o.o(0), uintptr(dev)); err != nil {
		return p, err
	}
	p.Memory = o.out[0]
	if d.f.deviceUUID.addr != 0 {
		id := make([]byte, 16)
		if err := d.call(&d.f.deviceUUID, "", address(id), uintptr(dev)); err != nil {
			return p, err
		}
		copy(p.UUID[:], id)
	}
	pools, export, integrated := 0, 0, 0
	for a, to := range map[Attribute]*int{
		CapabilityMajor: &p.Major, CapabilityMinor: &p.Minor, Multiprocessors: &p.Multiprocessors, MaxThreadsPerBlock: &p.MaxThreadsPerBlock,
		MaxThreadsPerMP: &p.MaxThreadsPerMP, SharedPerBlock: &p.SharedPerBlock, SharedPerBlockOptin: &p.SharedPerBlockOptin,
		SharedPerMP: &p.SharedPerMP, L2Bytes: &p.L2, ClockKHz: &p.ClockKHz, MemoryClockKHz: &p.MemoryClockKHz, MemoryBusBits: &p.MemoryBusBits,
		Integrated: &integrated,
	} {
		v, err := d.Attribute(dev, a)
		if err != nil {
			return p, err
		}
		*to = v
	}
	// Drivers that are older than these features do not know the attributes.
	for a, to := range map[Attribute]*int{MemoryPools: &pools, ExportsFileDescriptors: &export} {
		*to, _ = d.Attribute(dev, a)
	}
	p.MemoryPools, p.ExportFD, p.Integrated = pools != 0, export != 0 && d.f.vmmCreate.addr != 0, integrated != 0
	return p, nil
}

func (d *cuda) RetainContext(dev Device) (Context, error) {
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.ctxRetain, "", o.o(0), uintptr(dev))
	return Context(o.out[0]), err
}

func (d *cuda) ReleaseContext(dev Device) error {
	return d.call(&d.f.ctxRelease, "", uintptr(dev))
}

func (d *cuda) Bind(c Context) error {
	runtime.LockOSThread()
	if r := d.f.ctxSet.invoke(uintptr(c)); r != 0 {
		runtime.UnlockOSThread()
		return d.failure(d.f.ctxSet.name, r, "")
	}
	return nil
}

func (d *cuda) Unbind() { runtime.UnlockOSThread() }
