package cudart

import (
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A Program is CUDA C++ compiled at run time. Its kernels run on tensors of any CUDA device; for each it is compiled once, and kept on
// disk for the next time.
type Program struct {
	src     string
	options []string

	mu      sync.Mutex
	modules map[*device]driver.Module
	log     string
}

// Compile compiles CUDA C++ with NVRTC for the first CUDA device. Kernels are declared extern "C", so that they are found by name:
//
//	p, err := cudart.Compile(`extern "C" __global__ void scale(float *x, float by, int n) {
//		int i = blockIdx.x * blockDim.x + threadIdx.x;
//		if (i < n) x[i] *= by;
//	}`)
//	k, err := p.Kernel("scale")
//	err = k.Launch(cudart.For(x.Len()), x, 2, x.Len())
//
// Options are NVRTC's, such as "-DTILE=32" or "--use_fast_math". There are no CUDA headers to include but what NVRTC has built in, unless an
// option names a toolkit's folder ("-I/usr/local/cuda/include"). #include "halftone.h" gives what halves need, which are unsigned short to a
// kernel: float16_to_float, float_to_float16, bfloat16_to_float and float_to_bfloat16. A template is __device__, called by a kernel for each
// type. What goes with which parameter is said of Kernel.Launch.
//
// An error in the source is, or wraps, a *driver.CompileError with the lines; where there is no device it wraps ErrNoCUDA, and where there is
// no NVRTC driver.ErrUnsupported, and says what to install.
func Compile(src string, options ...string) (*Program, error) {
	dev, _, err := amp.OpenDevice("cuda:0")
	if err != nil {
		return nil, err
	}
	d, ok := dev.(*device)
	if !ok {
		return nil, fmt.Errorf("%w: device %s is not of package cudart", ErrNoCUDA, dev.Name())
	}
	p := &Program{src: src, options: slices.Clone(options), modules: map[*device]driver.Module{}}
	if _, err := p.module(d); err != nil {
		return nil, err
	}
	return p, nil
}

// module compiles the program for a device and loads it there.
func (p *Program) module(d *device) (driver.Module, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.modules[d]; ok {
		return m, nil
	}
	nvrtc, err := d.nvrtc()
	if err != nil {
		return 0, err
	}
	source := driver.Source{Name: "kernel.cu", Text: p.src, Options: p.options, Arch: d.props.Capability()}
	if strings.Contains(p.src, halvesName) {
		source.Headers = map[string]string{halvesName: halves}
	}
	code, err := nvrtc.Compile(source, driver.UserCache())
	if err != nil {
		return 0, withAdvice(err)
	}
	var m driver.Module
	err = d.do(func() (err error) {
		m, _, err = d.drv.LoadModule(code.Image, driver.JIT{})
		return err
	})
	if err != nil {
		return 0, err
	}
	p.modules[d], p.log = m, code.Log
	return m, nil
}

// halves is what a program may include.
//
//go:embed halftone.h
var halves string

const halvesName = "halftone.h"

// withAdvice says what to do where a program misses CUDA's headers, which NVRTC has none of.
func withAdvice(err error) error {
	var c *driver.CompileError
	if !errors.As(err, &c) {
		return err
	}
	for _, d := range c.Diagnostics {
		absent := strings.Contains(d.Text, "open source file")
		for _, name := range []string{"half", "__half", "__half2", "half2", "__nv_bfloat16", "nv_bfloat16", "__float2half", "__half2float"} {
			absent = absent || strings.Contains(d.Text, "\""+name+"\"") || strings.Contains(d.Text, "'"+name+"'")
		}
		if absent {
			return fmt.Errorf("%w\nthere are no CUDA headers: for halves declare unsigned short and #include \"halftone.h\", which converts them; for the rest give Compile a toolkit's folder, such as \"-I/usr/local/cuda/include\"", err)
		}
	}
	return err
}

// nvrtc is the compiler for a device's kernels: the emulator brings its own, beside its driver.
func (d *device) nvrtc() (*driver.NVRTC, error) {
	if d.emu {
		return driver.OpenNVRTC(filepath.Join(filepath.Dir(d.drv.Path()), "libnvrtc.so.13"))
	}
	return driver.OpenNVRTC("")
}

// Log returns what the compiler said, its warnings above all.
func (p *Program) Log() string { return p.log }

// Kernel returns a kernel of the program; the error wraps driver.ErrNotFound if there is none of that name.
func (p *Program) Kernel(name string) (*Kernel, error) {
	if p == nil {
		return nil, errors.New("cudart: the program is nil; look at the error of Compile, which gave none")
	}
	k := &Kernel{program: p, name: name, loaded: map[*device]ownKernel{}}
	k.params, k.known = signature(p.src, name)
	p.mu.Lock()
	devices := make([]*device, 0, len(p.modules))
	for d := range p.modules {
		devices = append(devices, d)
	}
	p.mu.Unlock()
	for _, d := range devices {
		if _, err := k.function(d); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// A Kernel is a __global__ function of a Program.
type Kernel struct {
	program *Program
	name    string
	params  []parameter
	known   bool // params are the declaration's

	mu     sync.Mutex
	loaded map[*device]ownKernel
}

func (k *Kernel) function(d *device) (ownKernel, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f, ok := k.loaded[d]; ok {
		return f, nil
	}
	m, err := k.program.module(d)
	if err != nil {
		return ownKernel{}, err
	}
	var f ownKernel
	err = d.do(func() (err error) {
		if f, err = d.ownKernel(m, k.name); err != nil {
			return err
		}
		sizes, err := d.paramSizes(f.fn)
		f.params, f.known = k.parameters(sizes)
		return err
	})
	if errors.Is(err, driver.ErrNotFound) {
		err = k.notFound(err)
	}
	if err == nil {
		k.loaded[d] = f
	}
	return f, err
}

// notFound says which kernels the program has, or why it may have none of that name.
func (k *Kernel) notFound(err error) error {
	name, _, _ := strings.Cut(k.name, "<")
	if isTemplate(k.program.src, name) {
		return fmt.Errorf("%w; it is a template: write a kernel of its own for each type, extern \"C\" __global__ void %s_float(float *x) { … }, that calls a template declared __device__", err, name)
	}
	if !strings.Contains(k.program.src, `extern "C"`) {
		return fmt.Errorf("%w; declare it as extern \"C\" __global__ void %s(…), since C++ changes names", err, k.name)
	}
	if names := kernelNames(k.program.src); len(names) > 0 {
		return fmt.Errorf("%w; the source has %s", err, strings.Join(names, ", "))
	}
	return err
}

// String names the program's kernels.
func (p *Program) String() string { return "Program(" + strings.Join(kernelNames(p.src), ", ") + ")" }

// String is the kernel's declaration.
func (k *Kernel) String() string { return "Kernel " + k.name + "(" + k.declaration() + ")" }
