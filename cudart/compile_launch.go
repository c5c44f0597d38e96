package cudart

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of kernels of one's own.

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
// an error of the next read. Arguments are
//
//   - contiguous tensors, for pointers to their first element. Halves of both kinds are unsigned short to a kernel, int64 is long long, and
//     bool is bool or unsigned char;
//   - Go numbers, which are converted to the parameter's type and refused if it does not hold them. For a type of the source's own, such as
//     a typedef, int is as long as the parameter, and others must have its size;
//   - structs and arrays of numbers of fixed size (int32, float32 …), for structs by value of the same layout, where the driver tells the
//     parameter's size (CUDA 12.4).
//
// The kernel is taken to change the tensors that it has no pointer to const for. More threads, blocks or shared memory than the device has for the
// kernel are an error, and so are tensors that are nil or freed.
//
// A launch is no op: no gradient flows through it. To make it one, give amp.Register a Forward and a Backward that launch kernels. In a step
// that Scope.Capture records it is recorded with the numbers that it has then.
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
	if err := k.fill(a, f, args); err != nil {
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
	if k == nil {
		return nil, errors.New("cudart: the kernel is nil; look at the error of Program.Kernel, which gave none")
	}
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
		return nil, k.placeless(args)
	}
	return d, nil
}

// placeless is the error of a launch without tensors: that of what is in the place of one, if the source says so.
func (k *Kernel) placeless(args []any) error {
	if err := k.counted(k.params, k.known, args); err != nil {
		return err
	}
	for i, p := range k.params {
		if p.pointer {
			return k.wrong(i, p, p.number(nil, args[i]))
		}
	}
	return fmt.Errorf("cudart: kernel %s: no argument is a tensor, which would say the device; pass those that the kernel reads and writes", k.name)
}

// counted says whether there are as many arguments as parameters, and no more than a launch can have.
func (k *Kernel) counted(params []parameter, known bool, args []any) error {
	bytes := 0
	for _, v := range args {
		n := 8
		if r := reflect.ValueOf(v); r.Kind() == reflect.Struct || r.Kind() == reflect.Array {
			n = (int(r.Type().Size()) + 7) / 8 * 8
		}
		bytes += n
	}
	switch {
	case known && len(args) != len(params):
		text := ""
		if s := declared(params); s != "" {
			text = " (" + s + ")"
		}
		return fmt.Errorf("cudart: kernel %s takes %d arguments%s, not %d", k.name, len(params), text, len(args))
	case len(args) > driver.MaxParams || bytes > driver.MaxParamBytes:
		return fmt.Errorf("cudart: kernel %s: %d arguments of %d bytes; %d and %d are the most, so put numbers in a tensor", k.name, len(args), bytes, driver.MaxParams, driver.MaxParamBytes)
	}
	return nil
}

// wrong places an error of an argument.
func (k *Kernel) wrong(i int, p parameter, err error) error {
	what := ""
	if p.text != "" {
		what = " (" + p.text + ")"
	}
	return fmt.Errorf("cudart: kernel %s: argument %d%s: %w", k.name, i+1, what, err)
}

// fill adds the arguments as parameters of the kernel that a device has.
func (k *Kernel) fill(a *driver.Args, f ownKernel, args []any) error {
	if err := k.counted(f.params, f.known, args); err != nil {
		return err
	}
	for i, v := range args {
		var p parameter
		if f.known {
			p = f.params[i]
		}
		if err := p.add(a, v); err != nil {
			return k.wrong(i, p, err)
		}
	}
	for i, v := range args {
		t, ok := v.(*amp.Tensor)
		if !ok {
			continue
		}
		if g := amp.CapturingOn(t); g != nil {
			g.Uses(t)
		}
		if !(f.known && f.params[i].readOnly) {
			t.IncrementVersion()
		}
	}
	return nil
}

func (k *Kernel) declaration() string { return declared(k.params) }

// declared is what the source says of parameters.
func declared(params []parameter) string {
	var all []string
	for _, p := range params {
		if p.text != "" {
			all = append(all, p.text)
		}
	}
	return strings.Join(all, ", ")
}

// add adds one argument.
func (p parameter) add(a *driver.Args, v any) error {
	t, ok := v.(*amp.Tensor)
	if !ok {
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
