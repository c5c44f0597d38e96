//go:build gorgonia_cu

package gorgoniacu

// #include <cuda.h>
//
// // launch passes parameters of any size: word[at[i]] is where parameter i begins. gorgonia.org/cu's own Launch copies eight
// // bytes of each, and kernels here take structs by value.
// static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s,
//                        char *word, const unsigned *at, unsigned n) {
//     void *params[64];
//     for (unsigned i = 0; i < n; i++) params[i] = word + at[i];
//     return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, s, params, 0);
// }
import "C"

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/halftone-ml/halftone/cudart/driver"
)

func (cuDriver) LoadModule(image []byte, o driver.JIT) (driver.Module, string, error) {
	if len(image) == 0 {
		return 0, "", errors.New("gorgoniacu: LoadModule was given an empty image")
	}
	info, errs := make([]byte, 16<<10), make([]byte, 16<<10)
	options := []cu.JITOption{&cu.JITInfoLogBuffer{Buffer: info}, &cu.JITErrorLogBuffer{Buffer: errs}}
	if o.MaxRegisters > 0 {
		options = append(options, &cu.JITMaxRegisters{Value: uint(o.MaxRegisters)})
	}
	if o.Verbose {
		options = append(options, &cu.JITLogVerbose{Enabled: true})
	}
	if o.LineInfo {
		options = append(options, &cu.JITGenerateLineInfo{Enabled: true})
	}
	m, err := cu.LoadDataEx(string(image), options...)
	log := strings.TrimSpace(text(info) + "\n" + text(errs))
	if err != nil {
		err = failure("cuModuleLoadDataEx", "", err)
		var e *driver.Error
		if errors.As(err, &e) && log != "" {
			e.Text += ":\n" + log
		}
		return 0, log, err
	}
	return driver.Module(handle(m)), log, nil
}

// text returns a zero-terminated buffer's string.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

func (cuDriver) UnloadModule(m driver.Module) error {
	return failure("cuModuleUnload", "", from[cu.Module](m).Unload())
}

func (cuDriver) Function(m driver.Module, name string) (driver.Function, error) {
	f, err := from[cu.Module](m).Function(name)
	if err != nil {
		return 0, failure("cuModuleGetFunction", name, err)
	}
	launches.Name(driver.Function(handle(f)), name)
	return driver.Function(handle(f)), nil
}

func (cuDriver) Global(m driver.Module, name string) (driver.DevicePtr, uint64, error) {
	p, n, err := from[cu.Module](m).Global(name)
	return driver.DevicePtr(p), uint64(n), failure("cuModuleGetGlobal", name, err)
}

func (cuDriver) FunctionAttribute(f driver.Function, a driver.FunctionAttribute) (int, error) {
	v, err := from[cu.Function](f).Attribute(cu.FunctionAttribute(a))
	return v, failure("cuFuncGetAttribute", "", err)
}

// SetFunctionAttribute calls libcuda itself: gorgonia.org/cu reads these attributes but does not set them.
func (cuDriver) SetFunctionAttribute(f driver.Function, a driver.FunctionAttribute, v int) error {
	return refused("cuFuncSetAttribute", "", int(C.cuFuncSetAttribute(cFunction(f), C.CUfunction_attribute(a), C.int(v))))
}

func (cuDriver) ActiveBlocks(f driver.Function, blockSize, sharedBytes int) (int, error) {
	n, err := from[cu.Function](f).MaxActiveBlocksPerMultiProcessor(blockSize, int64(sharedBytes))
	return n, failure("cuOccupancyMaxActiveBlocksPerMultiprocessor", "", err)
}

// offsets says where the parameters of a launch begin; it is recycled, so that launches allocate nothing.
type offsets [driver.MaxParams]C.uint

var offsetPool = sync.Pool{New: func() any { return new(offsets) }}

func (cuDriver) Launch(f driver.Function, grid, block [3]uint32, sharedBytes uint32, s driver.Stream, a *driver.Args) error {
	at := offsetPool.Get().(*offsets)
	defer offsetPool.Put(at)
	var words *C.char
	n, op := 0, ""
	if a != nil {
		n, op = a.Len(), a.Op
	}
	if n > 0 {
		words = (*C.char)(a.Param(0))
	}
	for i := range n {
		at[i] = C.uint(uintptr(a.Param(i)) - uintptr(a.Param(0)))
	}
	launches.Add(op, f)
	r := C.launch(cFunction(f), C.uint(grid[0]), C.uint(grid[1]), C.uint(grid[2]), C.uint(block[0]), C.uint(block[1]), C.uint(block[2]),
		C.uint(sharedBytes), cStream(s), words, &at[0], C.uint(n))
	return refused("cuLaunchKernel", op, int(r))
}

func cFunction(f driver.Function) C.CUfunction { return *(*C.CUfunction)(unsafe.Pointer(&f)) }
func cStream(s driver.Stream) C.CUstream       { return *(*C.CUstream)(unsafe.Pointer(&s)) }
