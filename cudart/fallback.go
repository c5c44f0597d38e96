package cudart

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
)

// fallbacks counts by op what ran on the host.
var fallbacks = struct {
	sync.Mutex
	by map[string]int
}{by: map[string]int{}}

// hostOnly makes every op run on the host: a test's way to tell kernels from the device around them.
var hostOnly atomic.Bool

// Fallbacks returns how often each op ran on the host since the start, because there is no kernel for it or for its dtypes: the
// device is waited for, the inputs are copied out and the result is copied in.
func Fallbacks() map[string]int {
	fallbacks.Lock()
	defer fallbacks.Unlock()
	return maps.Clone(fallbacks.by)
}

func (d *device) fallBack(c *amp.Call) error {
	if err := d.refuse(c.Op.Name+" has no kernel for these tensors and would run on the host", "leave it out of the captured step"); err != nil {
		return err
	}
	fallbacks.Lock()
	fallbacks.by[c.Op.Name]++
	fallbacks.Unlock()
	return amp.RunOnHost(c, hostLink{d})
}

// A hostLink copies without being counted as reads of the program's.
type hostLink struct{ d *device }

func (l hostLink) CopyIn(dst amp.Buffer, at int, src []byte) error { return l.d.upload(dst, at, src) }
func (l hostLink) CopyOut(dst []byte, src amp.Buffer, at int) error {
	return l.d.download(dst, src, at)
}
