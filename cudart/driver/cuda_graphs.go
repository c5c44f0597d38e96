//go:build linux && (amd64 || arm64)

package driver

func (d *cuda) BeginCapture(s Stream) error {
	// Thread-local: what would break the capture is refused on this thread; other threads may go on allocating.
	const threadLocal = 1
	if err := d.call(&d.f.captureBegin, "", uintptr(s), threadLocal); err != nil {
		return err
	}
	d.captures.Add(1)
	return nil
}

func (d *cuda) EndCapture(s Stream) (Graph, error) {
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.captureEnd, "", uintptr(s), o.o(0))
	// The capture is over after an error too, unless this is not the thread that began it or there was none.
	if e, ok := err.(*Error); !ok || e.Code != codeWrongThread && e.Code != codeIllegalState {
		d.captures.Add(-1)
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
