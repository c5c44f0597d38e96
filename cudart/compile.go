package cudart

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

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
// Options are NVRTC's, such as "-DTILE=32" or "--use_fast_math". There are no CUDA headers to include but what NVRTC has built in. An error
// in the source is a *driver.CompileError with the lines; where there is no device it wraps ErrNoCUDA, and where there is no NVRTC
// driver.ErrUnsupported, and says what to install.
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
	code, err := nvrtc.Compile(driver.Source{Name: "kernel.cu", Text: p.src, Options: p.options, Arch: d.props.Capability()}, driver.UserCache())
	if err != nil {
		return 0, err
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
		f, err = d.ownKernel(m, k.name)
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

// A Dim is a number of blocks or threads in up to three dimensions; 0 stands for 1.
type Dim struct{ X, Y, Z int }

// A Config says how many threads run a kernel.
type Config struct {
	Grid   Dim // blocks
	Block  Dim // threads per block, at most 1024 in all
	Shared int // bytes of dynamic shared memory per block (extern __shared__)
}

// For returns a Config of at least n threads in one dimension, in blocks of 256.
func For(n int) Config { return Config{Grid: Dim{X: (n + 255) / 256}, Block: Dim{X: 256}} }

// Launch queues the kernel on the stream of its tensors' device, in order with the ops there, and returns: what goes wrong while it runs is
// an error of the next read. Arguments are contiguous tensors, for pointers to their first element, and numbers, which are converted to
// the parameter's type. The kernel is taken to change the tensors that it has no pointer to const for. More threads, blocks or shared memory
// than the device has for the kernel are an error, and so are tensors that are nil or freed.
func (k *Kernel) Launch(c Config, args ...any) error {
	d, err := k.device(args)
	if err != nil {
		return err
	}
	if err := d.admit(); err != nil {
		return err
	}
	defer d.finish()
	for _, v := range args {
		if t, ok := v.(*amp.Tensor); ok && t != nil {
			if err := d.reach(t.Layout().Buffer); err != nil {
				return err
			}
		}
	}
	f, err := k.function(d)
	if err != nil {
		return err
	}
	if err := f.takes(c, &d.props); err != nil {
		return fmt.Errorf("cudart: kernel %s: %w", k.name, err)
	}
	a := driver.GetArgs(k.name)
	if err := k.fill(a, args); err != nil {
		a.Put()
		return err
	}
	return d.do(func() error {
		const plain = 48 << 10 // bytes, the kernel's own among them, that need no permission
		if c.Shared+f.shared > plain {
			if err := d.drv.SetFunctionAttribute(f.fn, driver.FuncDynamicShared, c.Shared); err != nil {
				a.Put()
				return err
			}
		}
		return d.launch(f.fn, c.Grid.sizes(), c.Block.sizes(), uint32(c.Shared), a)
	})
}

// device is that of the tensors among the arguments.
func (k *Kernel) device(args []any) (*device, error) {
	var d *device
	for i, v := range args {
		t, ok := v.(*amp.Tensor)
		if !ok {
			continue
		}
		var at amp.Layout
		if err := amp.Maybe(func() { at = t.Layout() }); err != nil { // it is nil, or was freed
			return nil, fmt.Errorf("cudart: kernel %s: argument %d: %w", k.name, i+1, err)
		}
		b := blockOf(at.Buffer)
		if b == nil {
			return nil, fmt.Errorf("cudart: kernel %s: argument %d is on %s; bring it to the device with t.To(scope)", k.name, i+1, t.Device())
		}
		if d != nil && d != b.dev {
			return nil, fmt.Errorf("cudart: kernel %s: argument %d is on %s, others on %s; bring them to one device with t.To(scope)", k.name, i+1, b.dev.name, d.name)
		}
		d = b.dev
	}
	if d == nil {
		return nil, fmt.Errorf("cudart: kernel %s: no argument is a tensor; pass those that the kernel reads and writes", k.name)
	}
	return d, nil
}

// fill adds the arguments as parameters.
func (k *Kernel) fill(a *driver.Args, args []any) error {
	if k.known && len(args) != len(k.params) {
		return fmt.Errorf("cudart: kernel %s takes %d arguments (%s), not %d", k.name, len(k.params), k.declaration(), len(args))
	}
	for i, v := range args {
		var p parameter
		if k.known {
			p = k.params[i]
		}
		if err := p.add(a, v); err != nil {
			what := ""
			if p.text != "" {
				what = " (" + p.text + ")"
			}
			return fmt.Errorf("cudart: kernel %s: argument %d%s: %w", k.name, i+1, what, err)
		}
	}
	for i, v := range args {
		if t, ok := v.(*amp.Tensor); ok && !(k.known && k.params[i].readOnly) {
			t.IncrementVersion()
		}
	}
	return nil
}

func (k *Kernel) declaration() string {
	var all []string
	for _, p := range k.params {
		all = append(all, p.text)
	}
	return strings.Join(all, ", ")
}

// add adds one argument.
func (p parameter) add(a *driver.Args, v any) error {
	t, ok := v.(*amp.Tensor)
	switch {
	case !ok && p.text == "":
		return addAs(a, v)
	case !ok:
		return p.number(a, v)
	}
	if err := p.tensor(t); err != nil {
		return err
	}
	if v := (launcher{}); !v.view(&v.out, t) || !v.out.contiguous() {
		return errors.New("the tensor is a view with gaps; pass amp.Contiguous of it")
	}
	a.Ptr(address(t))
	return nil
}

// Time launches the kernel rounds times, after one more to warm up, and returns the time of one by the device's clock. It waits for the device.
func (k *Kernel) Time(rounds int, c Config, args ...any) (time.Duration, error) {
	if rounds < 1 {
		return 0, fmt.Errorf("cudart: kernel %s: %d rounds; ask for one or more", k.name, rounds)
	}
	d, err := k.device(args)
	if err != nil {
		return 0, err
	}
	if err := d.admit(); err != nil {
		return 0, err
	}
	defer d.finish()
	if err := d.refuse("a kernel can't be timed while a step is captured: nothing runs", "time it before Capture"); err != nil {
		return 0, err
	}
	var events [2]driver.Event
	defer func() {
		for _, e := range events {
			if e != 0 {
				_ = d.do(func() error { return d.drv.DestroyEvent(e) })
			}
		}
	}()
	for i := range events {
		err = errors.Join(err, d.do(func() (err error) { events[i], err = d.drv.NewEvent(true); return err }))
	}
	mark := func(i int) error { return d.do(func() error { return d.drv.RecordEvent(events[i], d.stream) }) }
	if err := errors.Join(err, k.Launch(c, args...)); err != nil {
		return 0, err
	}
	err = mark(0)
	for range rounds {
		err = errors.Join(err, k.Launch(c, args...))
	}
	if err = errors.Join(err, mark(1)); err != nil {
		return 0, err
	}
	var all time.Duration
	err = d.do(func() (err error) {
		if err = d.drv.SyncEvent(events[1]); err == nil {
			all, err = d.drv.Elapsed(events[0], events[1])
		}
		return err
	})
	return all / time.Duration(rounds), err
}
