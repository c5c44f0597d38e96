package cudart

import (
	"fmt"
	"sync"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A kernel queues the launches of one call on the device's stream; the context is bound. False says that it has none for these dtypes
// or layouts: the call then runs on the host. It must not wait for the device.
type kernel func(d *device, c *amp.Call) (bool, error)

// kernels are those of the embedded modules, by the name of the row. The files launch_….go fill it in their init functions.
var kernels = map[string]kernel{}

// image returns the embedded module for a device's capability (70, 90 …); a file launch_….go sets it.
var image func(capability int) ([]byte, error)

// code is the module of a device, loaded at its first launch, and its functions by symbol.
type code struct {
	dev    *device
	once   sync.Once
	module driver.Module
	err    error
	mu     sync.RWMutex
	loaded map[string]driver.Function
}

// function returns a kernel of the module by its symbol, such as "add_f16".
func (d *device) function(symbol string) (driver.Function, error) {
	k := &d.code
	k.mu.RLock()
	f, ok := k.loaded[symbol]
	k.mu.RUnlock()
	if ok {
		return f, nil
	}
	k.once.Do(k.load)
	if k.err != nil {
		return 0, k.err
	}
	f, err := d.drv.Function(k.module, symbol)
	if err != nil {
		return 0, err
	}
	k.mu.Lock()
	k.loaded[symbol] = f
	k.mu.Unlock()
	return f, nil
}

func (k *code) load() {
	k.loaded = map[string]driver.Function{}
	if image == nil {
		k.err = fmt.Errorf("this build has no kernels")
		return
	}
	var ptx []byte
	if ptx, k.err = image(k.dev.props.Capability()); k.err == nil {
		k.module, _, k.err = k.dev.drv.LoadModule(ptx, driver.JIT{})
	}
}

// launch queues one kernel and gives the parameters back.
func (d *device) launch(f driver.Function, grid, block [3]uint32, shared uint32, a *driver.Args) error {
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
	return l.Buffer.(*block).ptr + driver.DevicePtr(l.Offset*t.DType().Size())
}
