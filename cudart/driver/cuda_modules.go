//go:build linux && (amd64 || arm64)

package driver

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"unsafe"
)

// Options of CUjit_option.
const (
	jitMaxRegisters = 0
	jitInfoLog      = 3
	jitInfoBytes    = 4
	jitErrorLog     = 5
	jitErrorBytes   = 6
	jitVerbose      = 12
	jitLineInfo     = 13
)

func (d *cuda) LoadModule(image []byte, j JIT) (Module, string, error) {
	if len(image) == 0 {
		return 0, "", errors.New("driver: LoadModule was given an empty image")
	}
	image = append(bytes.Clone(image), 0) // PTX ends in a zero; a cubin knows its length
	const logBytes = 16 << 10
	info, errs := make([]byte, logBytes), make([]byte, logBytes)
	type option struct {
		key   int32
		value uintptr
	}
	options := []option{
		{jitInfoLog, address(info)}, {jitInfoBytes, logBytes}, {jitErrorLog, address(errs)}, {jitErrorBytes, logBytes},
	}
	for key, v := range map[int32]int{jitMaxRegisters: j.MaxRegisters, jitVerbose: flag(j.Verbose), jitLineInfo: flag(j.LineInfo)} {
		if v != 0 {
			options = append(options, option{key, uintptr(v)})
		}
	}
	keys, values := make([]int32, len(options)), make([]uintptr, len(options))
	for i, o := range options {
		keys[i], values[i] = o.key, o.value
	}
	o := newFrame()
	defer o.put()
	defer d.uncaptured()() // a kernel that the step's first run had no use for
	r := d.f.moduleLoad.invoke(o.o(0), address(image), uintptr(len(options)), heap(unsafe.Pointer(&keys[0])), heap(unsafe.Pointer(&values[0])))
	runtime.KeepAlive(image)
	runtime.KeepAlive(keys)
	runtime.KeepAlive(values)
	log := strings.TrimSpace(text(info) + "\n" + text(errs))
	if r != 0 {
		err := d.failure(d.f.moduleLoad.name, r, "")
		if log != "" {
			err.Text += ":\n" + log
		}
		return 0, log, err
	}
	return Module(o.out[0]), log, nil
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// text returns a zero-terminated buffer's string.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

func (d *cuda) UnloadModule(m Module) error {
	defer d.uncaptured()()
	return d.call(&d.f.moduleUnload, "", uintptr(m))
}

func (d *cuda) Function(m Module, name string) (Function, error) {
	c := cstring(name)
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.moduleFunction, name, o.o(0), uintptr(m), address(c))
	runtime.KeepAlive(c)
	if err != nil {
		return 0, err
	}
	f := Function(o.out[0])
	d.launches.Name(f, name)
	return f, nil
}

func (d *cuda) Global(m Module, name string) (DevicePtr, uint64, error) {
	c := cstring(name)
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.moduleGlobal, name, o.o(0), o.o(1), uintptr(m), address(c))
	runtime.KeepAlive(c)
	return DevicePtr(o.out[0]), o.out[1], err
}

func (d *cuda) FunctionAttribute(f Function, a FunctionAttribute) (int, error) {
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.funcGet, "", o.o(0), uintptr(a), uintptr(f))
	return int(int32(o.out[0])), err
}

func (d *cuda) SetFunctionAttribute(f Function, a FunctionAttribute, v int) error {
	return d.call(&d.f.funcSet, "", uintptr(f), uintptr(a), uintptr(v))
}

// ParamSizes asks for one parameter after the other: the driver tells the number of them by refusing the next.
func (d *cuda) ParamSizes(f Function) (sizes []int, err error) {
	if d.f.funcParam.addr == 0 {
		return nil, d.absence(&d.f.funcParam, "")
	}
	o := newFrame()
	defer o.put()
	defer d.uncaptured()()
	for {
		switch r := d.f.funcParam.invoke(uintptr(f), uintptr(len(sizes)), o.o(0), o.o(1)); r {
		case 0:
			sizes = append(sizes, int(o.out[1]))
		case codeInvalidValue:
			return sizes, nil
		default:
			return nil, d.failure(d.f.funcParam.name, r, "")
		}
	}
}

func (d *cuda) ActiveBlocks(f Function, blockSize, sharedBytes int) (int, error) {
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.occupancy, "", o.o(0), uintptr(f), uintptr(blockSize), uintptr(sharedBytes))
	return int(int32(o.out[0])), err
}

func (d *cuda) Launch(f Function, grid, block [3]uint32, sharedBytes uint32, s Stream, a *Args) error {
	var params uintptr
	op := ""
	if a != nil {
		params, op = heap(unsafe.Pointer(&a.ptrs)), a.Op
	}
	d.launches.Add(op, f)
	r := d.f.launch.invoke(uintptr(f), uintptr(grid[0]), uintptr(grid[1]), uintptr(grid[2]),
		uintptr(block[0]), uintptr(block[1]), uintptr(block[2]), uintptr(sharedBytes), uintptr(s), params, 0)
	runtime.KeepAlive(a)
	if r != 0 {
		return d.failure(d.f.launch.name, r, op)
	}
	return nil
}
