//go:build linux && (amd64 || arm64)

package driver

import "unsafe"

// withoutDevice opens a cuDNN whose heuristics answer for a device that isn't there, described in JSON with the fields of cuDNN's
// device property descriptor (from 9.8 on): plans can be made, not executed. Tests check with it what is asked of cuDNN, against
// NVIDIA's own library on machines without a GPU.
func withoutDevice(path, json string) (*DNN, error) {
	h, err := load(path)
	if err != nil {
		return nil, err
	}
	n := &DNN{path: path}
	if err := n.open(h); err != nil {
		return nil, err
	}
	d := &describer{n: n}
	text := cstring(json)
	n.device = d.descriptor(dnnDeviceProps)
	d.set(n.device, attrDeviceJSON, typeChar, len(text), unsafe.Pointer(unsafe.SliceData(text)))
	d.finalize(n.device)
	return n, d.err
}
