//go:build linux && (amd64 || arm64)

package driver

import (
	"sync"
	"sync/atomic"
	"syscall"
)

// captures are those under way, by the thread that began them.
type captures struct {
	n       atomic.Int32 // of all threads: mostly 0, which is all that a call has to look at
	mu      sync.Mutex
	threads map[int]int
}

func (c *captures) add(n int) {
	c.n.Add(int32(n))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.threads == nil {
		c.threads = map[int]int{}
	}
	c.threads[syscall.Gettid()] += n
}

// here tells whether this thread captures.
func (c *captures) here() bool {
	if c.n.Load() == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.threads[syscall.Gettid()] > 0
}

// notCaptured refuses a copy that waits: the driver would do it at once, before the captured work that it is to follow.
func (d *cuda) notCaptured(call string) error {
	if !d.captures.here() {
		return nil
	}
	return &Error{Code: codeCapture, Name: "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", Call: call, Kind: ErrCapture,
		Text: "what is captured has not run yet, so there is nothing to wait for; copy after the graph was launched"}
}

func (d *cuda) BeginCapture(s Stream) error {
	// Thread-local: what would break the capture is refused on this thread; other threads may go on allocating.
	const threadLocal = 1
	if err := d.call(&d.f.captureBegin, "", uintptr(s), threadLocal); err != nil {
		return err
	}
	d.captures.add(1)
	return nil
}

func (d *cuda) EndCapture(s Stream) (Graph, error) {
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.captureEnd, "", uintptr(s), o.o(0))
	// The capture is over after an error too, unless this is not the thread that began it or there was none.
	if e, ok := err.(*Error); !ok || e.Code != codeWrongThread && e.Code != codeIllegalState {
		d.captures.add(-1)
	}
	return Graph(o.out[0]), err
}

func (d *cuda) Capturing(s Stream) (bool, error) {
	if d.f.captureStatus.addr == 0 {
		return false, nil
	}
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.captureStatus, "", uintptr(s), o.o(0))
	return o.out[0] != 0, err
}

func (d *cuda) GraphNodes(g Graph) (int, error) {
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.graphNodes, "", uintptr(g), 0, o.o(0))
	return int(o.out[0]), err
}

func (d *cuda) Instantiate(g Graph) (GraphExec, error) {
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.graphInstantiate, "", o.o(0), uintptr(g), 0)
	return GraphExec(o.out[0]), err
}

func (d *cuda) LaunchGraph(x GraphExec, s Stream) error {
	d.launches.Add("captured graph", 0)
	return d.call(&d.f.graphLaunch, "", uintptr(x), uintptr(s))
}

func (d *cuda) DestroyGraph(g Graph) error { return d.call(&d.f.graphDestroy, "", uintptr(g)) }

func (d *cuda) DestroyGraphExec(x GraphExec) error {
	return d.call(&d.f.graphExecDestroy, "", uintptr(x))
}
