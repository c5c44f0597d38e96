package cudart

import (
	"sync"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
	ptx "github.com/halftone-ml/halftone/cudart/kernels"
)

// A kernel queues the launches of one call on the device's stream; the context is bound. False says that it has none for these dtypes
// or layouts: the call then runs on the host. It must not wait for the device.
type kernel func(d *device, c *amp.Call) (bool, error)

// kernels are those of the embedded modules, by the name of the row. The files launch_….go fill it in their init functions.
var kernels = map[string]kernel{}

// code holds the kernels of a device by symbol. Each is a module of its own, compiled by the driver when it is first needed: that of a
// whole unit takes seconds.
type code struct {
	dev    *device
	mu     sync.RWMutex
	loaded map[string]driver.Function
}

// function returns a kernel by its symbol, such as "add_f16"; 0 if no module has it. The context is bound.
func (d *device) function(symbol string) (driver.Function, error) {
	k := &d.code
	k.mu.RLock()
	f, ok := k.loaded[symbol]
	k.mu.RUnlock()
	if ok {
		return f, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if f, ok := k.loaded[symbol]; ok {
		return f, nil
	}
	if k.loaded == nil {
		k.loaded = map[string]driver.Function{}
	}
	text, err := ptx.Kernel(symbol, d.props.Capability())
	if err != nil {
		return 0, err
	}
	if text == nil { // there is none, or for later devices alone
		k.loaded[symbol] = 0
		return 0, nil
	}
	m, _, err := d.drv.LoadModule(text, driver.JIT{})
	if err != nil {
		return 0, err
	}
	if f, err = d.drv.Function(m, symbol); err != nil {
		_ = d.drv.UnloadModule(m) // the next call loads it again
		return 0, err
	}
	k.loaded[symbol] = f
	return f, nil
}

// launch queues one kernel and gives the parameters back.
func (d *device) launch(f driver.Function, grid, block [3]uint32, shared uint32, a *driver.Args) error {
	if err := d.flush(); err != nil {
		a.Put()
		return err
	}
	return d.queue(f, grid, block, shared, a)
}

// queue is launch of what may come before what was gathered.
func (d *device) queue(f driver.Function, grid, block [3]uint32, shared uint32, a *driver.Args) error {
	d.count.launches.Add(1)
	err := d.drv.Launch(f, grid, block, shared, d.stream, a)
	a.Put()
	return err
}

// address returns where element 0 of a tensor lies: its offset counted in. A nil tensor is at 0.
func address(t *amp.Tensor) driver.DevicePtr {
	if t == nil {
		return 0
	}
	l := t.Layout()
	return blockOf(l.Buffer).ptr + driver.DevicePtr(l.Offset*t.DType().Size())
}
