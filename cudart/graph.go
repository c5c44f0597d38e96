package cudart

import (
	"cmp"
	"errors"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Captured steps: what the stream is given becomes a CUDA graph, whose tensors lie in memory of its own.

// capture is the recording under way.
type capture struct {
	on     atomic.Bool
	keeper atomic.Int64 // the thread of the goroutine that has the device for itself, 0 for none
	calls  atomic.Int64 // that use the device now
}

// A graph is a recorded step.
type graph struct {
	d      *device
	exec   driver.GraphExec
	memory *driver.Allocator
	nodes  int
	guards bool // it has kernels that look at indices
	claims []claim
}

// refuse is the error of what can't be part of a graph, nil while nothing is recorded.
func (d *device) refuse(what, instead string) error {
	if !d.capture.on.Load() {
		return nil
	}
	return captureError{what, instead}
}

// A captureError is amp.ErrCapture with a sentence of its own, and what to do instead.
type captureError struct{ what, instead string }

func (e captureError) Error() string  { return e.what }
func (e captureError) Unwrap() error  { return amp.ErrCapture }
func (e captureError) Advice() string { return e.instead }

// BeginCapture records what this goroutine queues; it stays on its thread until EndCapture.
func (d *device) BeginCapture() error {
	if err := d.settleDebts(nil); err != nil {
		return err
	}
	d.begin(nil, multiplier{}, 0)
	d.doubtAll()
	d.pool.memory()
	err := d.do(func() error {
		_ = d.words() // without memory for them casts tell nothing, and unscale_ reads
		return d.guards()
	})
	if err != nil {
		return err
	}
	if err := d.drv.Bind(d.ctx); err != nil {
		return err
	}
	if err := d.drv.BeginCapture(d.stream); err != nil {
		d.drv.Unbind()
		return err
	}
	d.pool.private = d.pool.shared.Private(d.name + ", captured step")
	d.capture.on.Store(true)
	recordedOn.Store(d)
	return nil
}

// EndCapture makes a graph of what was recorded.
func (d *device) EndCapture() (amp.Replayer, error) {
	defer d.drv.Unbind()
	recordedOn.Store(nil)
	if err := d.drv.Bind(d.ctx); err == nil { // another device's is bound where the step has freed tensors there
		defer d.drv.Unbind()
	}
	claims, flushed := d.closeDebts()
	g := &graph{d: d, memory: d.pool.private, guards: d.refused.baked.Swap(false), claims: claims}
	d.doubtAll() // nothing has been computed yet
	d.pool.private = nil
	d.capture.on.Store(false)
	recorded, err := d.drv.EndCapture(d.stream)
	if errors.Is(err, driver.ErrCapture) {
		err = captureError{err.Error(), "take what the message names out of the step, and do it before Capture or after Replay"}
	}
	if err == nil && flushed != nil {
		_ = d.drv.DestroyGraph(recorded)
		err = flushed
	}
	if err != nil {
		d.dropAll(claims)
		d.pool.retire(g.memory)
		return nil, err
	}
	g.nodes, _ = d.drv.GraphNodes(recorded)
	g.exec, err = d.drv.Instantiate(recorded)
	_ = d.drv.DestroyGraph(recorded)
	if err != nil {
		d.dropAll(claims)
		d.pool.retire(g.memory)
		return nil, err
	}
	return g, nil
}

// Replay queues the graph.
func (g *graph) Replay() error {
	d := g.d
	if err := d.admit(); err != nil {
		return err
	}
	defer d.finish()
	if err := d.settleDebts(func(b *block) bool { return b.pool != g.memory }); err != nil { // it may read them
		return err
	}
	d.begin(nil, multiplier{}, 0) // it may move the scale
	d.doubtAll()                  // its casts and its unscale_ have words that others may have by now
	d.count.launches.Add(1)
	if g.guards {
		d.refused.asked.Store(true)
	}
	err := d.do(func() error { return d.drv.LaunchGraph(g.exec, d.stream) })
	if err == nil {
		d.claimAll(g.claims)
	}
	return err
}

// Free destroys the graph once its last replay is done. Its memory goes when the last tensor in it is freed.
func (g *graph) Free() error {
	d := g.d
	if err := d.admit(); err != nil {
		return err
	}
	defer d.finish()
	flushed := d.flush() // what is gathered may read tensors in that memory
	err := d.do(func() error {
		err := d.drv.SyncStream(d.stream)
		return cmp.Or(err, d.drv.DestroyGraphExec(g.exec))
	})
	d.dropAll(g.claims)
	d.pool.retire(g.memory)
	if err == nil {
		err = flushed
	}
	return err
}

// retire returns a graph's memory to the driver, later if tensors are left in it.
func (p *pool) retire(a *driver.Allocator) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retired = append(p.retired, a)
	kept := p.retired[:0]
	for _, a := range p.retired {
		if a.Close() != nil {
			kept = append(kept, a)
		}
	}
	p.retired = kept
}
