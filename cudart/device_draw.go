package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// drawnArgs is struct Drawn (kernels/drawn.cu).
type drawnArgs struct {
	out, origin, seed, block uint64
	n, low, span             int64
	a, b, most               float64
}

// drawnBlocks is DRAWN_BLOCKS: the blocks of the stream that a thread draws, of two numbers each.
const drawnBlocks = 4

// drawnKernels are the kernels of the kinds of numbers.
var drawnKernels = [...]string{amp.UniformNumbers: "uniform_", amp.NormalNumbers: "normal_", amp.WholeNumbers: "whole_"}

// Draw queues a kernel that fills n elements of a dtype with random numbers.
func (d *device) Draw(dst amp.Buffer, at int, dt amp.DType, n int, r amp.Numbers) error {
	if n == 0 {
		return nil
	}
	if err := d.admit(); err != nil {
		return err
	}
	defer d.finish()
	p := drawnArgs{out: uint64(blockOf(dst).ptr) + uint64(at), seed: r.Draw.Seed, block: r.Draw.Block, n: int64(n), low: r.Low, span: r.Span, a: r.A, b: r.B, most: r.Most(dt)}
	uses := []amp.Buffer{dst}
	if o := r.Draw.Origin; o != nil {
		p.origin = uint64(address(o))
		uses = append(uses, o.Layout().Buffer)
	}
	if err := d.ready(uses...); err != nil {
		return err
	}
	return d.do(func() error {
		f, err := d.function(drawnKernels[r.Kind] + dtypeNames[dt])
		if err != nil {
			return err
		}
		a := driver.GetArgs(r.What).Struct(unsafe.Pointer(&p), unsafe.Sizeof(p))
		return d.launch(f, [3]uint32{blocks(n, mapThreads*2*drawnBlocks), 1, 1}, [3]uint32{mapThreads, 1, 1}, 0, a)
	})
}
