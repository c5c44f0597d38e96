//go:build gorgonia_cu

package gorgoniacu

import (
	"bufio"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A cuDriver has no state: gorgonia.org/cu keeps none either.
type cuDriver struct{}

func init() { cudart.UseDriver(Open) }

// Open returns the driver. The program has ended in gorgonia.org/cu's init if there is no device.
func Open() (driver.Driver, error) { return cuDriver{}, nil }

// handle and from turn gorgonia.org/cu's structs, each of one pointer, to numbers and back.
func handle[T cu.CUContext | cu.Event | cu.Module | cu.Function | cu.Stream](v T) uintptr {
	return *(*uintptr)(unsafe.Pointer(&v))
}

func from[T cu.CUContext | cu.Event | cu.Module | cu.Function | cu.Stream, H ~uintptr](h H) T {
	return *(*T)(unsafe.Pointer(&h))
}

// Path returns the file of libcuda that this process has mapped.
func (cuDriver) Path() string {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return "libcuda"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if i := strings.IndexByte(lines.Text(), '/'); i >= 0 && strings.Contains(lines.Text()[i:], "libcuda.so") {
			return lines.Text()[i:]
		}
	}
	return "libcuda"
}

func (cuDriver) Version() (int, error) {
	v := cu.Version()
	if v < 0 {
		return 0, refused("cuDriverGetVersion", "", 999)
	}
	return v, nil
}

func (cuDriver) DeviceCount() (int, error) {
	n, err := cu.NumDevices()
	return n, failure("cuDeviceGetCount", "", err)
}

func (cuDriver) Device(index int) (driver.Device, error) {
	d, err := cu.GetDevice(index)
	return driver.Device(d), failure("cuDeviceGet", "", err)
}

func (cuDriver) Attribute(d driver.Device, a driver.Attribute) (int, error) {
	v, err := cu.Device(d).Attribute(cu.DeviceAttribute(a))
	return v, failure("cuDeviceGetAttribute", "", err)
}

func (c cuDriver) Properties(d driver.Device) (driver.Properties, error) {
	dev := cu.Device(d)
	name, err := dev.Name()
	if err != nil {
		return driver.Properties{}, failure("cuDeviceGetName", "", err)
	}
	total, err := dev.TotalMem()
	if err != nil {
		return driver.Properties{}, failure("cuDeviceTotalMem", "", err)
	}
	p := driver.Properties{Name: name, Memory: uint64(total)}
	if id, err := dev.UUID(); err == nil {
		p.UUID = [16]byte(id)
	}
	for a, field := range map[driver.Attribute]*int{
		driver.CapabilityMajor: &p.Major, driver.CapabilityMinor: &p.Minor, driver.Multiprocessors: &p.Multiprocessors,
		driver.MaxThreadsPerBlock: &p.MaxThreadsPerBlock, driver.MaxThreadsPerMP: &p.MaxThreadsPerMP,
		driver.SharedPerBlock: &p.SharedPerBlock, driver.SharedPerBlockOptin: &p.SharedPerBlockOptin, driver.SharedPerMP: &p.SharedPerMP,
		driver.L2Bytes: &p.L2, driver.ClockKHz: &p.ClockKHz, driver.MemoryClockKHz: &p.MemoryClockKHz, driver.MemoryBusBits: &p.MemoryBusBits,
	} {
		if *field, err = c.Attribute(d, a); err != nil {
			return p, err
		}
	}
	integrated, err := c.Attribute(d, driver.Integrated)
	p.Integrated = integrated != 0
	return p, err // MemoryPools and ExportFD stay false: there are no functions for them
}

func (cuDriver) RetainContext(d driver.Device) (driver.Context, error) {
	c, err := cu.Device(d).RetainPrimaryCtx()
	return driver.Context(handle(c)), failure("cuDevicePrimaryCtxRetain", "", err)
}

func (cuDriver) ReleaseContext(d driver.Device) error {
	return failure("cuDevicePrimaryCtxRelease", "", cu.Device(d).ReleasePrimaryCtx())
}

func (cuDriver) Bind(c driver.Context) error {
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(from[cu.CUContext](c)); err != nil {
		runtime.UnlockOSThread()
		return failure("cuCtxSetCurrent", "", err)
	}
	return nil
}

func (cuDriver) Unbind() { runtime.UnlockOSThread() }
