package cudart

import "github.com/halftone-ml/halftone/amp"

// Counts are what a device did since the start.
type Counts struct{ Ops, Launches, Syncs, Uploads, Downloads, Fills, Copies int64 }

// CountsOf returns them for an open device, such as "cuda:0".
func CountsOf(name string) (c Counts) {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		return c
	}
	n := &d.(*device).count
	return Counts{n.ops.Load(), n.launches.Load(), n.syncs.Load(), n.uploads.Load(), n.downloads.Load(), n.fills.Load(), n.copies.Load()}
}
