package cudart

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/libraries"
)

// ModeEnv and ModeEmulator are those of package libraries.
const (
	ModeEnv      = libraries.ModeEnv
	ModeEmulator = libraries.ModeEmulator
)

// emulated returns the library of the emulated driver, and fencing what tells it of tensors' memory; package emulator sets them.
var (
	emulated func() (path string, err error)
	fencing  func(d driver.Driver) (Fence, error)
)

// A Fence tells the emulated device, in the order of a stream, that the first bytes of total at p are handed out, or that they are
// taken back: what is touched beside them, or later, is then a mistake that it finds.
type Fence = func(s driver.Stream, p driver.DevicePtr, bytes, total uint64, done bool)

// UseEmulator tells how to find the library that HALFTONE_CUDA=emulator loads in place of the driver's, and its fence; package emulator
// calls it.
func UseEmulator(library func() (path string, err error), fence func(d driver.Driver) (Fence, error)) {
	emulated, fencing = library, fence
}

func init() { amp.RegisterDevice("cuda", open) }

// A device is one GPU as amp sees it. All work is queued on one stream, in the order of the calls; memory that a tensor gives back is
// taken by the next one that asks, which is as safe for the same reason.
type device struct {
	name  string
	drv   driver.Driver
	dev   driver.Device
	ctx   driver.Context
	props driver.Properties
	emu   bool

	stream    driver.Stream
	pool      pool
	stage     staging
	code      code
	batch     batch
	products  products
	convs     convolvers
	capture   capture
	health    healthRing
	clocks    clocks
	snapshots snapshots
	sharing   sharing
	debts     debts
	verdicts  verdicts
	count     counters
	refused   refusals
}

// counters are what the device did since the start.
type counters struct {
	ops, launches, syncs, uploads, downloads, copies, fills atomic.Int64
}

// open opens the device of an index.
func open(index int) (amp.Device, error) {
	drv, emu, err := openDriver()
	if err != nil {
		return nil, err
	}
	return newDevice(drv, emu, index)
}

var opened = struct {
	sync.Mutex
	devices []*device
}{}

// newDevice makes context and stream; it loads no kernels yet.
func newDevice(drv driver.Driver, emu bool, index int) (amp.Device, error) {
	n, err := drv.DeviceCount()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCUDA, err)
	}
	if n == 0 {
		return nil, fmt.Errorf("%w: the driver sees no GPU: look at nvidia-smi, CUDA_VISIBLE_DEVICES, and whether a container was given one (--gpus all)", ErrNoCUDA)
	}
	if index >= n {
		return nil, fmt.Errorf("%w: there is no cuda:%d: the last of the driver's %d is cuda:%d; look at CUDA_VISIBLE_DEVICES", ErrNoCUDA, index, n, n-1)
	}
	d := &device{name: fmt.Sprintf("cuda:%d", index), drv: drv, emu: emu}
	if emu {
		d.name += " (emulated)"
	}
	d.pool.dev, d.stage.dev, d.code.dev, d.health.dev = d, d, d, d
	if d.dev, err = drv.Device(index); err != nil {
		return nil, err
	}
	if d.props, err = drv.Properties(d.dev); err != nil {
		return nil, err
	}
	if d.ctx, err = drv.RetainContext(d.dev); err != nil {
		return nil, noRoom(d.name, err)
	}
	if emu && fencing != nil && another == nil {
		if d.pool.fence, err = fencing(drv); err != nil {
			return nil, err
		}
	}
	err = d.do(func() (err error) {
		d.stream, err = drv.NewStream()
		return err
	})
	if err != nil {
		_ = drv.ReleaseContext(d.dev)
		return nil, noRoom(d.name, err)
	}
	opened.Lock()
	opened.devices = append(opened.devices, d)
	opened.Unlock()
	return d, nil
}

// A roomError is a device that has no memory left for a program to begin with.
type roomError struct {
	device string
	error
}

func (e roomError) Error() string {
	return e.device + " has no memory left to open it: other programs hold it: " + e.error.Error()
}
func (e roomError) Unwrap() error { return e.error }
func (e roomError) Advice() string {
	return "end what nvidia-smi lists, in notebooks other kernels, or use another device"
}

// noRoom is the error of opening a device.
func noRoom(name string, err error) error {
	if errors.Is(err, driver.ErrMemory) {
		return roomError{name, err}
	}
	return err
}

// another opens the driver that takes the default one's place.
var another func() (driver.Driver, error)

// UseDriver makes CUDA devices run on another implementation of driver.Driver than the default one; package gorgoniacu calls it in init.
// With HALFTONE_CUDA=emulator it is taken to be linked with the emulator's library.
func UseDriver(open func() (driver.Driver, error)) { another = open }

func openDriver() (drv driver.Driver, emu bool, err error) {
	switch mode := os.Getenv(ModeEnv); {
	case another != nil && (mode == "" || mode == libraries.ModeEmulator):
		drv, err = another()
		emu = mode == libraries.ModeEmulator
	case mode == "":
		drv, err = driver.Open("")
	case mode == libraries.ModeEmulator && emulated != nil:
		var path string
		if path, err = emulated(); err == nil {
			drv, err = driver.Open(path)
		}
		emu = true
	case mode == libraries.ModeEmulator:
		err = modeError{ModeEnv + "=" + mode + " is set, and the program does not import the emulator", `import _ "github.com/halftone-ml/halftone/cudart/emulator"`}
	default:
		err = modeError{fmt.Sprintf("%s is %q", ModeEnv, mode), fmt.Sprintf("leave it empty, or use %q", libraries.ModeEmulator)}
	}
	return drv, emu, err
}

// A modeError is ErrNoCUDA of a mode that can't be had, and what to do about it.
type modeError struct{ what, instead string }

func (e modeError) Error() string  { return ErrNoCUDA.Error() + ": " + e.what + "; " + e.instead }
func (e modeError) Unwrap() error  { return ErrNoCUDA }
func (e modeError) Advice() string { return e.instead }

// do calls f with the device's context bound to the thread.
func (d *device) do(f func() error) error { return driver.Do(d.drv, d.ctx, f) }

// Name returns "cuda:0", and "cuda:0 (emulated)" on the emulator.
func (d *device) Name() string { return d.name }

// Emulated says that On("auto") is not to choose the device.
func (d *device) Emulated() bool { return d.emu }

// Run queues an op's kernels; an op without one runs on the host.
func (d *device) Run(c *amp.Call) error {
	if err := d.admit(); err != nil {
		return err
	}
	defer d.finish()
	d.count.ops.Add(1)
	if done, err := d.queueRow(c); done || err != nil {
		return err
	}
	return d.fallBack(c)
}

// queueRow queues the kernels of a row, and says whether there were any.
func (d *device) queueRow(c *amp.Call) (done bool, err error) {
	settle := d.settleDebts
	if multiplies(c) {
		d.debts.settling.Lock()
		defer d.debts.settling.Unlock()
		settle = d.settleAll
	}
	if d.overdue(c) {
		if err := settle(nil); err != nil {
			return false, err
		}
	}
	if c.Op.Name != "unscale_" {
		d.doubts(c)
	}
	if !gathers[c.Op.Name] || d.batch.late.Load() != nil {
		if err := d.flush(); err != nil {
			return false, err
		}
	}
	k := kernels[c.Op.Name]
	if k == nil || hostOnly.Load() {
		return false, nil
	}
	if err := d.drv.Bind(d.ctx); err != nil {
		return false, err
	}
	defer d.drv.Unbind()
	return k(d, c)
}

// Sync waits for the stream and returns the first error of what was queued on it; an index out of range is one, too.
func (d *device) Sync() error {
	if err := d.admit(); err != nil {
		return err
	}
	defer d.finish()
	if err := d.refuse("the device can't be waited for while a step is captured", "wait after Replay"); err != nil {
		return err
	}
	d.count.syncs.Add(1)
	if err := d.flush(); err != nil {
		return err
	}
	return d.do(d.settle)
}
