package cudart

import (
	"errors"
	"fmt"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// What a launch of a kernel of one's own can ask for. The driver refuses the rest as an "invalid argument", without the number that is.

// An ownKernel is a loaded one.
type ownKernel struct {
	fn      driver.Function
	threads int // that a block can have: registers and __launch_bounds__ limit them
	shared  int // bytes of its static shared memory
	params  []parameter
	known   bool // params are what it takes
}

// ownKernel finds a kernel in a module; the context is bound.
func (d *device) ownKernel(m driver.Module, name string) (k ownKernel, err error) {
	if k.fn, err = d.drv.Function(m, name); err != nil {
		return k, err
	}
	if k.threads, err = d.drv.FunctionAttribute(k.fn, driver.FuncMaxThreads); err != nil {
		return k, err
	}
	k.shared, err = d.drv.FunctionAttribute(k.fn, driver.FuncSharedBytes)
	return k, err
}

// paramSizes returns the bytes of the kernel's parameters as the driver knows them, nil if it does not; the context is bound.
func (d *device) paramSizes(fn driver.Function) ([]int, error) {
	p, ok := d.drv.(driver.ParamSizer)
	if !ok {
		return nil, nil
	}
	sizes, err := p.ParamSizes(fn)
	if errors.Is(err, driver.ErrUnsupported) {
		return nil, nil
	}
	if err == nil && sizes == nil {
		sizes = []int{}
	}
	return sizes, err
}

// Limits of every CUDA device, by dimension.
var (
	mostBlocks  = Dim{1<<31 - 1, 65535, 65535}
	mostThreads = Dim{1024, 1024, 64}
)

func (d Dim) sizes() [3]uint32 {
	return [3]uint32{uint32(max(d.X, 1)), uint32(max(d.Y, 1)), uint32(max(d.Z, 1))}
}

// within says whether each dimension lies between 0 and that of most.
func (d Dim) within(what string, most Dim, fix string) error {
	limits := [3]int{most.X, most.Y, most.Z}
	for i, n := range [3]int{d.X, d.Y, d.Z} {
		name := what + "." + "XYZ"[i:i+1]
		switch {
		case n < 0:
			return fmt.Errorf("%s is %d; give a number from 1 on, or 0 for 1", name, n)
		case n > limits[i]:
			return fmt.Errorf("%s is %d, and %d is the most; %s", name, n, limits[i], fix)
		}
	}
	return nil
}

// takes says what of a launch the kernel can't have on a device.
func (k ownKernel) takes(c Config, p *driver.Properties) error {
	if err := c.Grid.within("Grid", mostBlocks, "put the rest in Grid.X, which takes 2147483647"); err != nil {
		return err
	}
	if err := c.Block.within("Block", mostThreads, "take smaller blocks and more of them, as cudart.For does"); err != nil {
		return err
	}
	b := c.Block.sizes()
	if n := int(b[0] * b[1] * b[2]); n > k.threads {
		return fmt.Errorf("a block of %d×%d×%d has %d threads, and %d are the most; take smaller blocks and more of them, as cudart.For does", b[0], b[1], b[2], n, k.threads)
	}
	if most := max(48<<10, p.SharedPerBlockOptin) - k.shared; c.Shared > most { // old drivers know of no permission
		return fmt.Errorf("%d bytes are Shared, and a block has %d beside the kernel's own %d; keep less there at a time", c.Shared, most, k.shared)
	}
	if c.Shared < 0 {
		return fmt.Errorf("%d bytes are Shared; give a number from 0 on", c.Shared)
	}
	return nil
}
